"""`safegym claims check` on a scenario, a file of claims, and formulas given as text."""

import json
from pathlib import Path

import pytest

from safegym.cli.application import run as safegym
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal

X = Signal("x", "m", bounds=(0.0, 10.0))
LOW = Claim(id="s.low", statement=always(X <= 5))
HIGH = Claim(id="s.high", statement=eventually(X > 6))
CLOCK = ["--dt", "0.1", "--horizon", "5"]


def run(*words: str) -> int:
    return safegym(["claims", "check", *words])


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:  # type: ignore[type-arg]  # JSON
    code = run(*words, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_formulas_given_as_text_are_checked_within_the_steps_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, found = told(
        capsys, "--formula", "always(x <= 5)", "--formula", "eventually(x > 6)", *CLOCK
    )
    assert (code, found["status"], found["steps"]) == (1, "flawed", 5)
    last = found["findings"][-1]
    assert (last["question"], last["claims"]) == ("can hold together", ["formula.1", "formula.2"])


def test_bounds_and_rates_of_a_signal_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    rise = "eventually(x < 1 and eventually[0,0.2](x > 4))"
    assert told(capsys, "--formula", rise, *CLOCK)[0] == 0
    assert told(capsys, "--formula", rise, *CLOCK, "--bounds", "x=0,10")[0] == 0
    assert told(capsys, "--formula", rise, *CLOCK, "--rate", "x=5")[0] == 1
    assert told(capsys, "--formula", rise, *CLOCK, "--bounds", "x=0,3")[0] == 1


@pytest.mark.parametrize("grouped", [False, True])
def test_a_file_of_claims_is_read_in_both_forms(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, grouped: bool
) -> None:
    claims = [LOW.to_json(), HIGH.to_json()]
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"a": claims[:1], "b": claims[1:]} if grouped else claims))
    code, found = told(capsys, "--file", str(path), *CLOCK, "--quick")
    assert (code, found["findings"][-1]["claims"]) == (1, ["s.low", "s.high"])


def test_witnesses_are_drawn_kept_and_exported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plot, traces, queries = (tmp_path / name for name in ("plot", "traces", "queries"))
    folders = ["--plot", str(plot), "--traces", str(traces), "--smtlib", str(queries)]
    formula = "always(x > 5 implies eventually[0,0.2](x < 4))"
    assert run("--formula", formula, *CLOCK, *folders) == 0
    assert "files written to" in capsys.readouterr().out
    assert (plot / "01-can-hold-formula.1.svg").read_text().startswith("<svg")
    assert len(list(plot.iterdir())) == len(list(traces.iterdir())) == 4
    assert len(list(queries.glob("*.smt2"))) > 4
    kept = str(traces / "02-can-fail-formula.1.json")
    assert safegym(["check", kept, "--formula", formula]) == 1


def test_a_scenario_is_asked_about_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, "chain/plant-v0", "--quick")
    assert code == 0
    assert found["steps"] == 40
    assert told(capsys, "chain/plant-v0", "--quick", "--horizon", "10")[1]["steps"] == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Name a scenario, or give --file"),
        (["chain/plant-v0", "--formula", "always(x > 0)"], "one of the three"),
        (["--formula", "always(x > 0)"], "need --dt SECONDS and --horizon STEPS"),
        (["--file", "nowhere.json", *CLOCK], "There is no file nowhere.json"),
        (["chain/plant-v0", "--dt", "1"], "has its own clock"),
        (["chain/plant-v0", "--rate", "x=1"], "are for --formula"),
        (["--formula", "always(x > 0)", *CLOCK, "--bounds", "x=1"], "--bounds speed=0,3"),
        (["--formula", "always(x > 0)", *CLOCK, "--rate", "x=a"], "--rate speed=2.5"),
        (["--formula", "always(x >", *CLOCK], "line 1"),
    ],
)
def test_bad_words_are_answered_with_those_that_work(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "holds no claims"), ('[{"type": "x"}]', "claim")],
)
def test_a_file_that_holds_no_claims_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "claims.json"
    path.write_text(text)
    assert run("--file", str(path), *CLOCK) == 2
    assert message in capsys.readouterr().err
