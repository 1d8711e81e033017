"""`safegym certify`: plans that spend nothing, declared strata, and how verdicts stand."""

import json
from pathlib import Path
from typing import Any

import pytest

from safegym.check.statistics.ledger import AttemptLedger
from safegym.cli.application import run
from safegym.formula.claim import set_digest
from safegym.scenario.registry import find

CART = "classic/cartpole-v0"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    return tmp_path


def attempts() -> int:
    spec = find(CART)
    return len(AttemptLedger(spec.digest, set_digest(spec.claims)).attempts())


def told(capsys: pytest.CaptureFixture[str], *line: str) -> tuple[int, Any]:
    status = run([*line, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_plan_tells_chance_and_time_and_spends_no_attempt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, plan = told(capsys, "certify", CART, "--plan", "--assume", "0.002", "--assume", "0.2")
    assert status == 0
    assert attempts() == 0
    assert (plan["attempt"], plan["feasible"], plan["cap"]) == (1, True, 3000)
    assert plan["rate"] > 0
    assert plan["minutes_when_clean"] == pytest.approx(plan["clean"] / plan["rate"] / 60)
    for claim in plan["claims"]:
        likely, unlikely = claim["chances"]
        assert likely["shown"] > 0.99
        assert unlikely["shown"] < 0.001
        assert claim["clean"] == 74
    assert run(["certify", CART, "--policy", "good", "--budget", "300"]) == 0
    assert attempts() == 1


def test_a_plan_that_cannot_pass_says_how_many_episodes_would(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["certify", CART, "--plan", "--budget", "50"]) == 3
    shown = capsys.readouterr().out
    assert "even a clean run needs 74" in shown
    assert "--budget 74" in shown
    assert attempts() == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--level 0 --policy good", "Level 0 would ask for certainty"),
        ("--level 1 --plan", "level=0.05"),
        ("--display bonferroni --policy good", "one at a time, holm"),
        ("--policy good --assume 0.1", "belongs to --plan"),
        ("--plan --assume 2", "--assume 0.002"),
        ("--plan --assume nan", "--assume 0.002"),
        ("", "--policy good"),
        ("--policy good --engine threads", "processes, ray"),
        ("--policy good --episode-seconds 0", "seconds above 0"),
        ("--policy good --strata nowhere.json", "nowhere.json cannot be read"),
    ],
)
def test_bad_options_are_answered_in_words_before_anything_is_spent(
    line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["certify", CART, *line.split()]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert attempts() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "does not hold strata"),
        ('{"strata": [{"name": "x", "weight": 0.5}]}', "write it as text, which is exact"),
        ('{"strata": [{"name": "x", "weight": "1/2"}]}', "must sum to 1"),
        ('{"strata": [{"nam": "x"}]}', "has 'nam', which is none of"),
        ('{"strata": [{"name": "x", "weight": "1", "parameters": {"y": [0, 1]}}]}', "not declare"),
    ],
)
def test_a_file_of_strata_is_checked_before_anything_is_spent(
    text: str, words: str, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = own_home / "mix.json"
    path.write_text(text)
    assert run(["certify", CART, "--policy", "good", "--strata", str(path)]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert attempts() == 0


def test_evidence_that_was_not_released_says_how_it_stands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, found = told(capsys, "certify", CART, "--policy", "bad:cartpole.track")
    assert status == 1
    assert found["joint"].startswith("nothing is released: one at a time, jointly >=")
    assert all(item["joint"] == found["joint"] for item in found["evidence"])
    run(["certify", CART, "--policy", "bad:cartpole.track"])
    assert "nothing is released: one at a time" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_declared_mix_is_run_shown_by_stratum_and_verifies(
    own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = find("drone/corridor-v0")
    gust = next(item for item in spec.parameters if item.name == "gust_peak")
    middle = (gust.low + gust.high) / 2
    mix = {
        "mode": "rounds",
        "strata": [
            {"name": "calm", "weight": "7/10", "parameters": {"gust_peak": [gust.low, middle]}},
            {"name": "gusty", "weight": "3/10", "parameters": {"gust_peak": [middle, gust.high]}},
        ],
    }
    path = own_home / "mix.json"
    path.write_text(json.dumps(mix))
    out = own_home / "run"
    line = ["certify", spec.name, "--policy", "good", "--strata", str(path), "--budget", "20"]
    assert run([*line, "--out", str(out)]) == 2  # a cap that certifies nothing
    capsys.readouterr()
    line[line.index("20")] = "380"
    assert run([*line, "--out", str(out)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "by stratum, observed" in shown
    assert "calm 7/10 0 of 266" in shown
    assert "certified except invariants, observed" in shown
    assert run(["audit", "verify", str(out)]) == 0


def test_a_statement_given_as_text_is_planned_and_certified_at_its_own_confidence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--formula", "prob(eventually(abs(pole_angle) > 0.2{rad})) < 0.01")
    status, plan = told(capsys, "certify", CART, *asked, "--confidence", "0.99", "--plan")
    assert status == 0
    assert [(item["claim_id"], item["clean"]) for item in plan["claims"]] == [("formula.1", 543)]
    status, found = told(
        capsys, "certify", CART, *asked, "--confidence", "0.99", "--policy", "good"
    )
    assert (status, found["outcome"]) == (0, "certified")
    assert [item["claim_id"] for item in found["evidence"]] == ["formula.1"]


def test_one_claim_of_the_scenario_can_be_asked_for_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = find(CART).claims[0].id
    _, plan = told(capsys, "certify", CART, "--claim", name, "--plan")
    assert [item["claim_id"] for item in plan["claims"]] == [name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--claim", "nosuch"], "has no claim 'nosuch'; its claims are"),
        (["--confidence", "0.99"], "--confidence belongs to statements given as text"),
        (["-f", "prob(x > 0) < 2"], "must lie strictly between 0 and 1"),
        (["-f", "prob(nosuch > 0) < 0.1"], "nosuch"),
        (["-f", "prob(eventually(cart_position > 1{m})) < 0.1", "--confidence", "1"], "confidence"),
    ],
)
def test_claims_that_cannot_be_meant_are_refused_before_anything_runs(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["certify", CART, "--policy", "good", *options]) == 2
    assert message in capsys.readouterr().err
    assert attempts() == 0
