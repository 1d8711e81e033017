"""`safegym falsify`: exit codes, files, replays."""

import json
from pathlib import Path

import pytest

from safegym.check.monitor import judge
from safegym.cli.application import run
from safegym.cli.falsify import narrowing
from safegym.errors import SafegymError
from safegym.scenario.registry import find
from safegym.trace.model import Trace

PUSHED = ("falsify", "classic/cartpole-v0", "--policy", "bad:cartpole.pole")
STEADY = ("falsify", "classic/cartpole-v0", "--policy", "good", "--no-faults")


def test_a_counterexample_ends_with_one_and_is_told_in_words(tmp_path, capsys) -> None:
    path = tmp_path / "finds.json"
    line = [*PUSHED, "--claim", "cartpole.pole", "--budget", "40", "--out", str(path)]
    assert run(line) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "cartpole.pole: 1 counterexample in" in said
    assert "why: Claim cartpole.pole is violated." in said
    assert "does not refute it" in said
    assert "corners" in said
    assert "random" in said
    assert f"safegym falsify --replay {path} --policy bad:cartpole.pole" in said


def test_no_counterexample_ends_with_three_and_shows_nothing(capsys) -> None:
    still = [f"--where={each.name}=0" for each in find("classic/cartpole-v0").disturbances]
    assert run([*STEADY, "--claim", "cartpole.track", "--budget", "12", *still]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "no counterexample found in 12 episodes; this shows nothing about the probability" in said
    )


def test_json_holds_one_result_a_claim(capsys) -> None:
    assert run([*PUSHED, "--budget", "20", "--json"]) == 1
    results = json.loads(capsys.readouterr().out)["results"]
    spec = find("classic/cartpole-v0")
    assert [each["claim_id"] for each in results] == [claim.id for claim in spec.claims]
    assert all(each["episodes"] <= 20 for each in results)
    assert [m["name"] for m in results[0]["methods"]][:2] == ["corners", "random"]


def test_finds_are_replayed_from_their_file_and_the_trace_is_kept(tmp_path: Path, capsys) -> None:
    path, kept = tmp_path / "finds.json", tmp_path / "trace.json"
    run([*PUSHED, "--claim", "cartpole.pole", "--budget", "20", "--out", str(path)])
    capsys.readouterr()
    again = ["falsify", "--replay", str(path), "--policy", "bad:cartpole.pole"]
    assert run([*again, "--out", str(kept)]) == 1
    assert "replayed bit for bit" in capsys.readouterr().out
    trace = Trace.from_text(kept.read_text(encoding="utf-8"))
    claim = find("classic/cartpole-v0").claims[0]
    assert judge(claim, trace).status == "violated"
    assert run(["falsify", "--replay", str(path), "--policy", "good"]) == 2
    assert "replay it with the policy it was found with" in capsys.readouterr().err.replace(
        "\n", " "
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["falsify"], "Name a scenario"),
        ([*PUSHED, "--budget", "0"], "at least 1 episode, found 0"),
        ([*PUSHED, "--claim", "cartpole.pol"], "did you mean cartpole.pole"),
        ([*PUSHED, "--where", "mass"], "is not understood"),
        ([*PUSHED, "--where", "no_such=1:2"], "does not declare"),
        (["falsify", "classic/cartpole-v0", "--policy", "nobody"], "There is no policy 'nobody'"),
        (["falsify", "--replay", "nowhere.json"], "nowhere.json: No such file"),
    ],
)
def test_bad_input_ends_with_two(line, said, capsys) -> None:
    assert run(line) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_file_of_a_search_without_finds_has_nothing_to_replay(tmp_path: Path, capsys) -> None:
    path = tmp_path / "none.json"
    path.write_text('{"results": []}', encoding="utf-8")
    assert run(["falsify", "--replay", str(path)]) == 2
    assert "holds no counterexample" in capsys.readouterr().err


def test_where_reads_a_range_a_number_and_the_seed() -> None:
    assert narrowing("gust=0:0.2") == ("gust", (0.0, 0.2))
    assert narrowing("gust[3]=-1") == ("gust[3]", -1.0)
    assert narrowing("gust=seed") == ("gust", None)
    with pytest.raises(SafegymError, match=r"write --where gust_peak=0:0\.2"):
        narrowing("gust=a:b")
