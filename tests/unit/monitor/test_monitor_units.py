"""A formula in another unit than the trace was recorded in is refused, by every backend."""

from typing import Any

import pytest

from safegym.check.dispatch import check
from safegym.check.monitor import robustness, settling
from safegym.errors import UnitError
from safegym.formula.build import always
from safegym.formula.terms import Signal
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.trace.model import Trace

TRACE = Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1", units={"angle": "rad"})


@pytest.mark.parametrize("backend", ["monitor", "z3"])
@pytest.mark.parametrize("unit", ["deg", "m", "1"])
def test_another_unit_is_refused(unit: str, backend: Any) -> None:
    with pytest.raises(UnitError, match=r"recorded it in rad; nothing is converted silently"):
        check(always(Signal("angle", unit) <= 12), TRACE, backend=backend)


def test_margins_and_settling_refuse_it_too() -> None:
    formula = always(Signal("angle", "deg") <= 12)
    for ask in (robustness, settling):
        with pytest.raises(UnitError, match="recorded it in rad"):
            ask(formula, TRACE)


@pytest.mark.parametrize(("recorded", "asked"), [("Pa", "N/m^2"), ("rad", "rad")])
def test_the_same_unit_under_another_name_is_fine(recorded: str, asked: str) -> None:
    trace = Trace.from_arrays({"x": [0.1]}, dt="0.1", units={"x": recorded})
    assert check(always(Signal("x", asked) <= 1), trace).status == "satisfied"


def test_a_trace_without_units_believes_the_claim() -> None:
    plain = Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1")
    assert check(always(Signal("angle", "deg") <= 12), plain).status == "satisfied"


def test_recorded_episodes_carry_the_units_of_their_scenario() -> None:
    spec = find("classic/cartpole-v0")
    assert spec.good is not None
    trace = record(spec, spec.good(), seed=1)
    assert dict(trace.units) == {signal.name: signal.unit for signal in spec.signals}
    again = Trace.from_text(trace.to_text())
    assert again == trace
    assert dict(again.units) == dict(trace.units)


def test_units_are_part_of_the_digest() -> None:
    other = Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1", units={"angle": "deg"})
    assert other.digest != TRACE.digest
