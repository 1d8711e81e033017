"""`safegym blend`: each command end to end, its JSON, and its exit status."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from blend_rows import ids, read, row, write

from safegym.cli.blend import app
from safegym.errors import BlendError


def run(*words: object) -> int:
    return int(app(args=[str(word) for word in words], standalone_mode=False) or 0)


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    capsys.readouterr()
    code = run(*words, "--json")
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    for name in "ab":
        rows = [row(i, name, dataset=name, pass_rate=i % 5 / 4) for i in range(100)]
        write(tmp_path / f"{name}.jsonl", rows)
    return [f"--part={name}={tmp_path / name}.jsonl" for name in "ab"]


def test_from_scenarios_to_a_checked_blend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = {name: tmp_path / f"{name}.jsonl" for name in ("cart", "pend", "mix")}
    code, found = told(
        capsys, "write", "classic/cartpole-v0", "--seeds", "0:6", "--dataset", "cart",
        "--license", "MIT", "--claim", "cartpole.pole", "--out", out["cart"],
    )  # fmt: skip
    lines = out["cart"].read_bytes()
    digest = "sha256:" + hashlib.sha256(lines).hexdigest()
    assert (code, found["rows"], found["digest"]) == (0, 6, digest)
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Balance it for $seconds s, seed $seed.")
    code, _ = told(
        capsys, "write", "classic/cartpole-v0", "--seeds", "6:12", "--dataset", "pend",
        "--license", "MIT", "--prompt", prompt, "--agent", "mine", "--out", out["pend"],
        "--formula", "always(abs(cart_position) < 1)",
    )  # fmt: skip
    assert read(out["pend"])[0]["responses_create_params"]["input"][0]["content"] == (
        "Balance it for 10 s, seed 6."
    )
    ratios = ("--ratio", "cart=2/3", "--ratio", "pend=1/3")
    files = ("--part", f"cart={out['cart']}", "--part", f"pend={out['pend']}")
    manifest = tmp_path / "mix.json"
    code, mixed = told(
        capsys, "mix", *ratios, *files, "--rows", 9, "--out", out["mix"], "--manifest", manifest
    )
    assert (code, [part["rows"] for part in mixed["parts"]]) == (0, [6, 3])
    assert json.loads(manifest.read_text()) == mixed
    agents = ("--agent", "safegym_classic", "--agent", "mine", "--license", "MIT")
    code, checked = told(capsys, "check", out["mix"], *agents)
    assert (code, checked["ok"], checked["problems"]) == (0, True, [])
    assert told(capsys, "check", out["mix"], "--agent", "mine")[0] == 1


def test_rates_order_sample_cut_and_split(
    tmp_path: Path, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    blend, rolls = tmp_path / "blend.jsonl", tmp_path / "rolls.jsonl"
    assert run("mix", *parts, "--ratio", "a=0.5", "--ratio", "b=0.5", "--out", blend) == 0
    write(
        rolls,
        (
            {"_ng_task_index": t, "_ng_rollout_index": n, "reward": float(n <= t % 4)}
            for t in range(199)
            for n in range(4)
        ),
    )
    rated = tmp_path / "rated.jsonl"
    with pytest.raises(BlendError, match=r"1 rows have no rollout that counts \(lines 200\)"):
        run("passrate", rolls, "--rows", blend, "--out", rated)
    code, found = told(capsys, "passrate", rolls, "--rows", blend, "--out", rated, "--keep-unrated")
    assert (code, found["unrated"], found["passed"] + found["failed"]) == (3, 1, 796)
    ordered, kept = tmp_path / "sorted.jsonl", tmp_path / "kept.jsonl"
    code, found = told(capsys, "sort", rated, "--out", ordered)
    rates = [each["pass_rate"] for each in read(ordered)]
    assert (code, rates) == (0, sorted(rates, reverse=True))
    code, found = told(capsys, "cut", ordered, "--low", 0.3, "--high", 0.8, "--out", kept)
    assert (code, found["rows"] + found["below"] + found["above"]) == (0, 200)
    sampled = tmp_path / "sampled.parquet"
    code, found = told(capsys, "sample", ordered, "--batches", 3, "--size", 20, "--out", sampled)
    assert (code, found["rows"], len(found["batches"])) == (0, 60, 3)
    train, held = tmp_path / "train.jsonl", tmp_path / "held.jsonl"
    code, found = told(
        capsys, "split", ordered, "--share", 0.1, "--train", train, "--validation", held
    )
    assert (code, found["validation"]["rows"], len(ids(held))) == (0, 20, 20)


def test_filling_says_what_is_left_with_status_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"prompt": [{"content": "q"}], "reward_model": {"ground_truth": "1"}}
    source = write(tmp_path / "source.jsonl", [record])
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    holes = [{**row(i, dataset="own"), "_hf_placeholder": {"row": i}} for i in range(2)]
    for each in holes:
        each["_hf_placeholder"]["question_template"] = "{question}?"
    blend = write(tmp_path / "in.jsonl", holes)
    pinned = f"own={source}@sha256:{digest}"
    out = tmp_path / "out.jsonl"
    with pytest.raises(BlendError, match=r"1 placeholders cannot be filled: 1 with a row out of"):
        run("fill", blend, "--source", pinned, "--out", out)
    code, found = told(capsys, "fill", blend, "--source", pinned, "--keep-unfilled", "--out", out)
    assert (code, found["filled"], found["unfilled"]) == (3, 1, 1)
    assert list(found["first_lines"].values()) == [[2]]
    assert read(out)[0]["question"] == "q?"


def test_rows_are_converted_by_form_and_by_name(tmp_path: Path, parts: list[str]) -> None:
    assert (
        run("convert", tmp_path / "a.jsonl", "--form", "task", "--out", tmp_path / "t.jsonl") == 0
    )
    assert read(tmp_path / "t.jsonl")[3]["task_id"] == {"taskset": "a", "task_id": "3"}
    assert run("convert", tmp_path / "t.jsonl", "--out", tmp_path / "t.parquet") == 0


def test_people_read_the_same_as_machines(
    tmp_path: Path, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    blend = tmp_path / "blend.jsonl"
    run("mix", *parts, "--ratio", "a=0.5", "--ratio", "b=0.5", "--out", blend)
    run("sort", blend, "--out", tmp_path / "s.jsonl")
    run(
        "sample",
        blend,
        "--batches",
        "4",
        "--size",
        "40",
        "--start",
        "1",
        "--end",
        "1",
        "--out",
        tmp_path / "g.jsonl",
    )
    run("split", blend, "--rows", "9", "--train", tmp_path / "t.jsonl", "--validation",
        tmp_path / "v.jsonl")  # fmt: skip
    run("cut", blend, "--low", "0.2", "--out", tmp_path / "c.jsonl")
    assert run("check", blend, "--recipe", "nano") == 1
    run("recipes")
    text = capsys.readouterr().out
    for said in (
        "blend of 200 rows, interleaved",
        "200 rows ordered by pass rate",
        "4 batches, 160 of 200 rows",
        "too few were left",
        "validation  9 rows",
        "160 rows kept; 40 below and 0 above cut off",
        "share off its recipe",
        "ratio, of 0.99",
        "17.51",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ratio", "a=0.5", "--ratio", "b=0.4"], "sum to 0.9, not 1.*--sum 0.9"),
        (["--ratio", "a"], "write --ratio NAME=VALUE"),
        (["--ratio", "a=1", "--ratio", "a=1"], "gives a twice"),
        (["--recipe", "nano", "--ratio", "a=1"], "one of the two"),
        ([], "one of the two"),
        (["--recipe", "nano", "--sum", "2"], "--sum is for --ratio"),
        (["--recipe", "nano"], "No file for part instruction_following"),
        (["--ratio", "a=1", "--ratio", "b=1", "--sum", "2", "--order", "up"], "write one of inter"),
        (["--ratio", "a=1", "--ratio", "b=1", "--sum", "2", "--form", "x"], "one of agent_ref"),
    ],
)
def test_a_mix_that_is_not_said_well_is_refused(
    tmp_path: Path, parts: list[str], words: list[str], said: str
) -> None:
    with pytest.raises(BlendError, match=said):
        run("mix", *parts, *words, "--out", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_control_characters_of_a_row_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blend = write(tmp_path / "x.jsonl", [row(0, "\x1b[31mred", dataset="\x07[bold]x[/bold]")])
    run("check", blend, "--agent", "known")
    text = capsys.readouterr().out
    assert "\x1b[31m" not in text
    assert "\x07" not in text
    assert "[bold]x[/bold]" in text
