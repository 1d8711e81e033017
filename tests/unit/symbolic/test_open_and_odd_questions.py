"""What is left open is neither kept nor broken; odd arguments are refused in words."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from safegym.check.monitor import judge
from safegym.check.symbolic.affine import INFINITY, Line, Variables
from safegym.check.symbolic.model import check_model
from safegym.check.symbolic.model_policy import LinearPolicy
from safegym.check.symbolic.specification import check_specification
from safegym.cli.application import app
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, next_, prob
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

X, U = Signal("x", "m"), Signal("u", bounds=(-1.0, 1.0))
HALVES = Dynamics("halves", states=(X,), actions=(U,), next={"x": 0.5 * X}, dt="1")
STILL = LinearPolicy([[0.0]])
ZERO = {"x": (0.0, 0.0)}
PAST_THE_END = [
    eventually(X > 9, window=(5, None)),
    always(X < 9, window=(5, None)),
    always(eventually(X > -9, window=(1, None))),
    always(next_(eventually(X > -9))),
    eventually(always(X < 9), window=(4, 6)),
]


@pytest.mark.parametrize("claim", PAST_THE_END, ids=str)
def test_a_claim_that_every_path_leaves_open_is_never_proved(claim: Formula) -> None:
    trace = Trace.from_arrays({"x": np.zeros(8)}, dt=1, end="horizon", horizon=3)
    assert judge(claim, trace).status == "inconclusive"
    found = check_model(HALVES, STILL, claim, initial=ZERO, steps=3)
    assert found.result == "UNKNOWN"
    assert "leaves the claim open" in found.reason


def test_a_claim_that_some_trace_leaves_open_is_not_said_to_hold_always() -> None:
    claim = Claim(id="some.open", statement=(X > 1) | eventually(X > 9, window=(5, None)))
    report = check_specification([claim], dt=1, horizon=3)
    assert [f.answer for f in report.of("can hold")] == ["yes"]
    (fails,) = report.of("can fail")
    assert (fails.status, fails.answer) == ("unknown", "left open")
    assert "past the horizon" in fails.detail


def test_after_a_failed_end_a_negation_is_no_opposite() -> None:
    """Every literal after the end is false, so that a duty of the last sample can fail."""
    mode = Signal("mode", labels=("off", "on"))
    claim = Claim(id="mode.off", statement=eventually(next_(mode < 0.5)))
    report = check_specification([claim], dt=1, horizon=2, end="failed")
    (fails,) = report.of("can fail")
    assert fails.answer == "yes"
    assert fails.witness is not None
    assert judge(claim, fails.witness).status == "violated"


@pytest.mark.parametrize("share", [0.9, 0.7, 0.95, 0.99])
def test_probabilities_that_add_up_to_one_as_written_fit(share: float) -> None:
    rest = round(1 - share, 2)
    claims = [
        Claim(id="gap.far", statement=prob(always(X > 2)) >= share),
        Claim(id="gap.near", statement=prob(eventually(X <= 2)) >= rest),
    ]
    report = check_specification(claims, dt=1, horizon=2, thorough=False)
    assert [f.answer for f in report.of("can hold together")] == ["yes"]
    more = [claims[0], Claim(id="gap.near", statement=prob(eventually(X <= 2)) > rest)]
    report = check_specification(more, dt=1, horizon=2, thorough=False)
    assert [f.answer for f in report.of("can hold together")] == ["no"]


def test_a_condition_that_no_path_meets_proves_nothing() -> None:
    given = prob(always(X <= 1), given=eventually(X > 5)) >= 0.9
    claim = Claim(id="given.never", statement=given)
    found = check_model(HALVES, STILL, claim, initial=ZERO, steps=3)
    assert found.result == "UNKNOWN"
    assert "no path meets the condition" in found.reason
    met = Claim(id="given.met", statement=prob(always(X <= 1), given=eventually(X < 5)) >= 0.9)
    assert check_model(HALVES, STILL, met, initial=ZERO, steps=3).result == "PROVED"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"initial": {Signal("x", "km"): (0.0, 1.0)}}, "names x in km; halves has it in m"),
        ({"initial": {"x": 0.25}}, "lowest and the highest value of x"),
        ({"initial": {"x": (0.0, 1.0, 2.0)}}, "lowest and the highest value of x"),
        ({"initial": None}, "is the ends of every state"),
        ({"steps": 2.5}, "whole number of steps"),
        ({"steps": True}, "whole number of steps"),
        ({"timeout": float("nan")}, "number of seconds"),
        ({"semantics": "Real"}, '"real" or "deployed float32"'),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused(change: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"initial": ZERO, "steps": 2, **change}
    with pytest.raises(UnsupportedError, match=told):
        check_model(HALVES, STILL, always(X <= 1), **given)


def test_no_time_limit_and_narrow_floats_are_taken_as_they_are() -> None:
    """The binary32 number nearest to 0.1 is above it, and is not rounded to 1/10."""
    end = np.float32(0.1)
    start: dict[str, Any] = {"x": (end, end)}
    options: dict[str, Any] = {"steps": 1, "timeout": float("inf"), "semantics": "real"}
    held = check_model(HALVES, STILL, always(X <= float(end)), initial=start, **options)
    assert held.result == "PROVED"
    broken = check_model(HALVES, STILL, always(X < float(end)), initial=start, **options)
    assert broken.result == "VIOLATED"


def test_an_interval_never_passes_through_a_float() -> None:
    """1e-400 times infinity is infinity, and 1e400 plus infinity raises nothing."""
    variables = Variables()
    number = variables.add(Fraction(0), INFINITY)
    tiny = Line({number: Fraction(1, 10**400)}, Fraction(10**400))
    assert tiny.bounds(variables) == (Fraction(10**400), INFINITY)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--bounds", "y=0,1"], "No formula reads y"),
        (["--rate", "y=1"], "No formula reads y"),
        (["--bounds", "x=0,1", "--bounds", "x=0,3"], "--bounds gives x twice"),
    ],
)
def test_a_declaration_that_would_be_lost_is_refused(options: list[str], told: str) -> None:
    given = ["claims", "check", "--dt", "1", "--horizon", "3", "--formula", "always(x < 1)"]
    found = CliRunner().invoke(app, [*given, *options])
    assert found.exit_code != 0
    assert told in (found.output + str(found.exception))
