"""Which formulas the online monitor tells exactly, and what it says when it does not."""

import numpy as np
import pytest

from safegym.check.monitor import Monitor, support
from safegym.check.monitor.stream.engine import StreamEngine
from safegym.errors import FormulaError
from safegym.formula.build import fraction, mean
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.formula.text import parse

DT = "0.1"
ALWAYS_TIGHT = (
    "always(x > 0)",
    "always[0,2](abs(x) <= 2.5)",
    "eventually[0.5,2](x > 0 or next(y > 0))",
    "(x > 0) until[0,1] (y > 0)",
    "(x > 0) until y > 0",
    "always(x > 0 implies eventually[0,1](y > 0))",
    "always[0,3](x > 0 implies eventually[0.2,1](y > 0))",
    "always(x > 0 implies always[0,1](y > 0))",
    "eventually(always[0,1](x > 0))",
    "always(x > 0 implies eventually(y > 0))",
    "eventually(always(x > 0))",
    "always(x > 0 and not previous(x > 0) implies eventually[0,1](y > 0))",
    "always(once[0,1](x > 0)) and next(always(y > 0))",
    "always(always[0,1](x > 0))",
    "fraction(x > 0) >= 0.5",
)
NOT_TIGHT = (
    "always[0,2](once[0,1](x > 0))",
    "always(x > 0 implies eventually[0,1](always[0,1](y > 0)))",
    "always(x > 0 implies (y > 0) until[0,1] (x > 0))",
    "always(always[0,0.2](x > 0 and not previous(x > 0) implies eventually[0,0.3](y > 0)))",
    "fraction(eventually[0,1](x > 0) or y > 0) >= 0.5",
)
KEEPS_THE_EPISODE = (
    "always[0,1](eventually(x > 0))",
    "always((x > 0) until (y > 0))",
    "eventually(x > 0) until (y > 0)",
    "once(always(x > 0))",
    "fraction(eventually(x > 0)) >= 0.5",
)


@pytest.mark.parametrize("horizon", [None, 5])
@pytest.mark.parametrize("text", ALWAYS_TIGHT)
def test_these_are_told_exactly_at_a_fixed_cost(text: str, horizon: int | None) -> None:
    monitor = Monitor(parse(text), DT, horizon=horizon)
    assert monitor.tight
    assert isinstance(monitor._engine, StreamEngine)
    assert support(parse(text), online=True, horizon=horizon).tight


@pytest.mark.parametrize("text", NOT_TIGHT)
def test_these_are_enclosed_unless_exactness_is_asked_for(text: str) -> None:
    formula = parse(text)
    assert not Monitor(formula, DT, horizon=5).tight
    answer = support(formula, online=True, horizon=5, dt=DT)
    assert (answer.ok, answer.tight) == (True, False)
    assert "exact=True" in answer.reason
    assert Monitor(formula, DT, horizon=5, exact=True).tight
    assert support(formula).tight


@pytest.mark.parametrize("text", KEEPS_THE_EPISODE)
def test_these_keep_the_episode_and_say_so(text: str) -> None:
    formula = parse(text)
    monitor = Monitor(formula, DT, horizon=5)
    assert monitor.tight
    assert not isinstance(monitor._engine, StreamEngine)
    answer = support(formula, online=True)
    assert (answer.ok, answer.tight) == (True, True)
    assert "whole episode is kept" in answer.reason


def test_a_duty_that_holds_is_violated_at_the_sample_that_breaks_it() -> None:
    monitor = Monitor(parse("always(x > 0 implies always[0,1](y > 0))"), DT)
    for x, y in ((1.0, 1.0), (-1.0, 2.0)):
        assert monitor.update(_sample(x, y)).episode.status[0] == "inconclusive"
    assert monitor.update(_sample(-1.0, -3.0)).episode.hi.tolist() == [-1.0]


def test_at_the_horizon_every_answered_trigger_satisfies_without_a_tail() -> None:
    formula = parse("always(x > 0 implies eventually[0,1](y > 0))")
    for last, wanted in ((-1.0, "satisfied"), (1.0, "inconclusive")):
        monitor = Monitor(formula, DT, horizon=3)
        for x, y in ((1.0, -1.0), (-1.0, 2.0), (-1.0, -1.0), (last, -1.0)):
            update = monitor.update(_sample(x, y))
        assert update.episode.status[0] == wanted


def _sample(x: float, y: float) -> dict[str, np.ndarray]:
    return {"x": np.array([x]), "y": np.array([y])}


def test_support_without_a_clock_holds_for_every_clock() -> None:
    """One sample on, and a window of 0.1 s, settle together at dt = 0.1 alone."""
    formula = parse("always[0,1](next(x > 0) or eventually[0.1,0.1](y > 0))")
    assert support(formula, online=True, dt="0.1").tight
    assert not support(formula, online=True, dt="0.05").tight
    assert not support(formula, online=True).tight


def test_support_online_takes_claims_and_refuses_what_support_refuses() -> None:
    claim = Claim(id="a.b", statement=parse("always(x > 0)"))
    assert support(claim, online=True).tight
    bound = mean(fraction(Signal("x") > 0)) >= 0.9
    assert not support(Claim(id="a.mean", statement=bound), online=True).ok
    with pytest.raises(FormulaError, match="multiple"):
        support(parse("always[0,0.25](x > 0)"), online=True, dt="0.1")


def test_conservative_rounding_is_asked_with_its_clock() -> None:
    statement: Formula = parse("always[0,0.25](x > 0)")
    claim = Claim(id="a.b", statement=statement, rounding="conservative")
    assert support(claim, online=True, dt="0.1").tight
