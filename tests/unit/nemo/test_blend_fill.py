"""Placeholders: filled from pinned local files, or counted and told; nothing is dropped."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blend_rows import read, row, write

from safegym.errors import BlendError
from safegym.nemo.blend.origins import Pinned
from safegym.nemo.blend.placeholders import fill

DAPO, SKYWORK = "nano_v3_sft_profiled_dapo17k", "nano_v3_sft_profiled_skywork_no_omni"
AGENT = {"type": "responses_api_agents", "name": "math_with_judge"}


def record(question: str | None, answer: str) -> dict[str, Any]:
    return {
        "data_source": "x",
        "prompt": [{"role": "user", "content": question}],
        "reward_model": {"ground_truth": answer, "style": "rule"},
    }


def pinned(path: Path) -> Pinned:
    return Pinned(path, "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest())


def hole(number: Any, template: Any, alias: str | None = DAPO, **more: Any) -> dict[str, Any]:
    named = {} if alias is None else {"dataset": alias}
    placeholder = {"row": number, "question_template": template}
    return {"uuid": "u", **named, "_hf_placeholder": placeholder, "agent_ref": AGENT, **more}


@pytest.fixture
def dapo(tmp_path: Path) -> Path:
    """As the data set is published: Parquet."""
    path = tmp_path / "dapo.parquet"
    records = [record(f"q{i} {{question}}", str(i * i)) for i in range(4)]
    pq.write_table(pa.Table.from_pylist(records), path)
    return path


@pytest.fixture
def skywork(tmp_path: Path) -> list[Pinned]:
    """In two files, of which the second goes on counting."""
    paths = [
        write(tmp_path / "s0.jsonl", [record("a", '["1"]'), record(None, "x")]),
        write(tmp_path / "s1.jsonl", [record("c ü", '["3"]')]),
    ]
    return [pinned(path) for path in paths]


def test_both_kinds_of_template_are_filled_and_other_keys_are_kept(
    tmp_path: Path, dapo: Path, skywork: list[Pinned]
) -> None:
    around, inside = {"prefix": "Solve: ", "suffix": "\nBox it."}, "<{question}> and {question}"
    rows = [
        hole(3, around, pass_rate=0.25, responses_create_params={"input": [], "temperature": 1.0}),
        row(8),
        hole(2, inside, SKYWORK),
        hole(0, {"suffix": "!"}),
    ]
    source = write(tmp_path / "in.jsonl", rows)
    report = fill(source, tmp_path / "out.jsonl", {DAPO: [pinned(dapo)], SKYWORK: skywork})
    found = read(tmp_path / "out.jsonl")
    question = "Solve: q3 {question}\nBox it."
    assert found[0] == {
        "uuid": "u",
        "dataset": DAPO,
        "agent_ref": AGENT,
        "pass_rate": 0.25,
        "question": question,
        "expected_answer": "9",
        "responses_create_params": {
            "input": [{"role": "user", "content": question}],
            "temperature": 1.0,
        },
    }
    assert found[1] == row(8)
    assert (found[2]["question"], found[2]["expected_answer"]) == ("<c ü> and c ü", '["3"]')
    assert found[3]["question"] == "q0 {question}!"
    assert (report.rows, report.filled, report.unfilled) == (4, 3, 0)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (hole(4, {}), "a row out of range .sources of nano_v3_sft_profiled_dapo17k have 4"),
        (hole(-1, {}), "a row out of range"),
        (hole("3", {}), "a row that is no whole number"),
        (hole(0, {}, "nano_v3_dapo"), "unknown alias 'nano_v3_dapo'"),
        (hole(0, {}, None), "no dataset that names the alias"),
        (hole(1, "{question}", SKYWORK), "without a question"),
        (hole(0, "no place for it", SKYWORK), "a template that does not fit"),
        (hole(0, {"prefix": "x"}, SKYWORK), "a template that does not fit"),
        (hole(0, "{question}"), "a template that does not fit"),
        (hole(0, {"prefix": 3}), "a template that does not fit"),
        (hole(0, None), "a template that does not fit"),
        ({**hole(0, {}), "_hf_placeholder": 3}, "a placeholder that is no object"),
    ],
)
def test_what_cannot_be_filled_is_an_error_with_a_count_or_kept_as_it_is(
    tmp_path: Path, dapo: Path, skywork: list[Pinned], broken: dict[str, Any], said: str
) -> None:
    source = write(tmp_path / "in.jsonl", [broken, hole(1, {}), broken])
    files = {DAPO: [pinned(dapo)], SKYWORK: skywork}
    with pytest.raises(BlendError, match=f"2 placeholders cannot be filled: 2 with .*{said}"):
        fill(source, tmp_path / "no.jsonl", files)
    assert not (tmp_path / "no.jsonl").exists()
    report = fill(source, tmp_path / "out.jsonl", files, keep_unfilled=True)
    found = read(tmp_path / "out.jsonl")
    assert (found[0], found[2], found[1]["expected_answer"]) == (broken, broken, "1")
    assert (report.filled, list(report.failed.values())) == (1, [2])
    assert list(report.first.values()) == [[1, 3]]


def test_a_source_with_another_digest_fills_nothing(tmp_path: Path, dapo: Path) -> None:
    source, pin = write(tmp_path / "in.jsonl", [hole(0, {})]), pinned(dapo)
    dapo.write_bytes(dapo.read_bytes() + b"x")
    with pytest.raises(BlendError, match=r"dapo\.parquet for nano.* has digest sha256:.*pinned is"):
        fill(source, tmp_path / "out.jsonl", {DAPO: [pin]})
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_is_named_with_its_digest_or_refused() -> None:
    digest = "sha256:" + "0" * 64
    assert Pinned.parse(f"a@b.parquet@{digest}") == Pinned("a@b.parquet", digest)
    for text in ("a.parquet", "a.parquet@sha256:12", f"@{digest}", f"a@{digest.upper()}"):
        with pytest.raises(BlendError, match="write FILE@sha256:HEX"):
            Pinned.parse(text)


def test_an_answer_keeps_its_type(tmp_path: Path) -> None:
    answers: list[Any] = [3, "3", ["3"], {"a": 1}, None]
    records = [
        {"prompt": [{"content": "q"}], "reward_model": {"ground_truth": answer}}
        for answer in answers
    ]
    path = write(tmp_path / "s.jsonl", records)
    source = write(tmp_path / "in.jsonl", (hole(i, "{question}", "own") for i in range(5)))
    fill(source, tmp_path / "out.jsonl", {"own": [pinned(path)]})
    found = [each["expected_answer"] for each in read(tmp_path / "out.jsonl")]
    assert json.dumps(found) == json.dumps(answers)
