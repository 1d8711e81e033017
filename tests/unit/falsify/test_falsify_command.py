"""`safegym falsify`: exit codes, files, replays."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from safegym.check.monitor import judge
from safegym.cli.application import run
from safegym.cli.falsify import narrowing
from safegym.errors import SafegymError
from safegym.formula.build import fraction, mean
from safegym.formula.claim import Claim
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


def test_a_find_whose_file_was_changed_is_not_replayed_as_violated(tmp_path: Path, capsys) -> None:
    path = tmp_path / "finds.json"
    run([*PUSHED, "--claim", "cartpole.pole", "--budget", "20", "--out", str(path)])
    document = json.loads(path.read_text(encoding="utf-8"))
    document["results"][0]["finds"][0]["why"] = "The motor burnt."
    path.write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    assert run(["falsify", "--replay", str(path), "--policy", "bad:cartpole.pole"]) == 2
    said = capsys.readouterr()
    assert "its why is not that of the episode" in " ".join(said.err.split())
    assert "motor" not in said.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--out", "{tmp}/none/finds.json"], "lies in a folder that does not exist"),
        (["--out", "{tmp}"], "is a folder"),
        (["--where", "gravity=1", "--where", "gravity=2"], "names gravity twice"),
        (["--replay", "f.json", "--bank", "run"], "--bank is of a search"),
        (["--replay", "f.json", "--claim", "cartpole.pole"], "--claim is of a search"),
    ],
)
def test_what_could_not_be_heeded_is_refused_before_anything_runs(more, said, tmp_path, capsys):
    assert run([*PUSHED, *(word.replace("{tmp}", str(tmp_path)) for word in more)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_claims_that_no_episode_can_violate_are_left_out_and_told(capsys, monkeypatch) -> None:
    spec = find("classic/cartpole-v0")
    theta = spec.claims[0].signals[0]
    average = Claim("cartpole.average", mean(fraction(theta < 10.0)) > 0.5)
    both = replace(spec, claims=(spec.claims[0], average))
    monkeypatch.setattr("safegym.scenario.registry.find", lambda name: both)
    line = [*PUSHED, "--budget", "20"]
    assert run([*line, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [each["claim_id"] for each in told["results"]] == ["cartpole.pole"]
    assert "about a mean" in told["left_out"]["cartpole.average"]
    assert run(line) == 1
    assert "left out: Claim cartpole.average is about a mean" in capsys.readouterr().out
    assert run([*line, "--claim", "cartpole.average"]) == 2
