"""A formula in another unit than its trace: converted at one door, the same by every backend."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from safegym.audit.report.shapes import holds, shape_of, values_of
from safegym.check.dispatch import check
from safegym.check.monitor import judge, robustness, settling
from safegym.check.monitor.intake import conversion_notes, converter, taken
from safegym.errors import TraceError, UnitError
from safegym.formula.build import always, eventually, fraction, prob
from safegym.formula.claim import Claim
from safegym.formula.functions import norm
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

SPEED = Trace.from_arrays(
    {"speed": [0.1, 0.7, 13.9, 2.3], "p": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [0.3, 0.4]]},
    dt="0.1",
    units={"speed": "m/s", "p": "cm"},
)
ANGLE = Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1", units={"angle": "rad"})
KMH = Signal("speed", "km/h", scale=10.0)
P = Signal("p", "m", shape=(2,), scale=0.1)
FORMULAS: tuple[Formula, ...] = (
    always(KMH <= 50),
    always(KMH <= 51),
    always(KMH < 13.9 * 3.6),
    eventually((KMH > 8) & (norm(P) <= 0.05), within="0.2"),
    fraction(KMH <= 50) >= 0.7,
    always(P[1] * 2 - P[0] > 0.0),
)
BACKENDS: tuple[Any, ...] = ("monitor", "z3")


def in_the_formulas_units() -> Trace:
    """The same episode, recorded in the units that the formulas speak."""
    arrays = taken((KMH, P), SPEED)
    return Trace.from_arrays(arrays, dt="0.1", units={"speed": "km/h", "p": "m"})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_in_another_unit_is_judged_on_the_converted_signal(
    formula: Formula, backend: Any
) -> None:
    converted = check(formula, SPEED, backend=backend)
    native = check(formula, in_the_formulas_units(), backend=backend)
    assert converted.status == native.status
    assert converted.robustness == native.robustness
    if converted.witness is not None:
        assert converted.witness == native.witness
    assert settling(formula, SPEED) == settling(formula, in_the_formulas_units())
    for ours, theirs in zip(
        robustness(formula, SPEED), robustness(formula, in_the_formulas_units()), strict=True
    ):
        assert np.array_equal(ours, theirs)


def test_the_limit_is_compared_in_the_formulas_unit() -> None:
    """13.9 m/s is 50.04 km/h: above 50, below 51."""
    assert check(FORMULAS[0], SPEED).status == "violated"
    assert check(FORMULAS[1], SPEED).status == "satisfied"
    assert check(always(Signal("speed", "m/s") <= 50), SPEED).status == "satisfied"


def test_the_witness_is_in_the_formulas_unit_and_the_notes_say_what_was_converted() -> None:
    verdict = check(FORMULAS[0], SPEED)
    assert verdict.witness is not None
    assert verdict.witness.values == {"speed": 50.04}
    assert verdict.witness.margin == 50 - 50.04
    assert verdict.robustness is not None
    assert verdict.robustness.hi == (50 - 50.04) / 10.0
    told = "speed: recorded in m/s, read in km/h (x 18/5)."
    assert told in verdict.notes
    assert told in check(FORMULAS[0], SPEED, backend="z3").notes
    assert "p: recorded in cm, read in m (x 1/100)." in check(FORMULAS[3], SPEED).notes
    assert not any(
        "recorded" in note for note in check(always(Signal("speed", "m/s") < 99), SPEED).notes
    )


def test_a_conversion_is_rounded_once_to_the_nearest() -> None:
    """1.3 m/s is 4.68 km/h; 1.3 * 3.6 and 1.3 * 18 / 5 round twice, and come out above it."""
    trace = Trace.from_arrays({"speed": [1.3]}, dt="0.1", units={"speed": "m/s"})
    found = taken((KMH,), trace)["speed"]
    assert found.tolist() == [4.68]
    assert found[0] < 1.3 * 3.6 == 1.3 * 18 / 5
    assert not found.flags.writeable
    assert check(always(KMH <= 4.68), trace).status == "satisfied"
    degrees = taken((Signal("angle", "deg"),), ANGLE)["angle"]
    assert degrees.tolist() == [5.729577951308232, 11.459155902616464]
    assert degrees.tolist() != np.rad2deg([0.1, 0.2]).tolist()  # which rounds its factor first


def test_what_rounding_takes_from_a_strict_limit_is_less_than_a_last_place() -> None:
    """0.3 km/h is a little more than the binary64 that it is read as in m/s."""
    trace = Trace.from_arrays({"v": [0.3]}, dt="0.1", units={"v": "km/h"})
    read = float(taken((Signal("v", "m/s"),), trace)["v"][0])
    exact = Fraction(0.3) * Fraction(5, 18)
    assert 0 < exact - Fraction(read) <= Fraction(math.ulp(read)) / 2
    assert check(always(Signal("v", "m/s") <= read), trace).status == "satisfied"
    below = math.nextafter(read, 0.0)
    assert check(always(Signal("v", "m/s") <= below), trace).status == "violated"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("unit", "measures"), [("m", "m (length)"), ("1", "1 (a plain number)"), ("Hz", "Hz (freq")]
)
def test_another_dimension_is_refused_naming_both(unit: str, measures: str, backend: Any) -> None:
    told = (
        rf"reads angle in {unit}, and it was recorded in rad: rad \(angle\) and "
        rf"{measures.replace('(', '[(]').replace(')', '[)]')}.*measure different things\. State "
        r'the formula over Signal\("angle", unit="rad"\)'
    )
    with pytest.raises(UnitError, match=told):
        check(always(Signal("angle", unit) <= 12), ANGLE, backend=backend)


def test_a_placeholder_that_a_unit_cannot_say_is_nobodys_reading() -> None:
    """1e307 km is no binary64 number of mm; in a gap it stands for nothing."""
    far = {"v": [1.0, 1e307, 2.0]}
    trace = Trace.from_arrays(far, dt="0.1", units={"v": "km"}, gaps=[(1, 1)])
    like = Trace.from_arrays({"v": [1.0, 0.0, 2.0]}, dt="0.1", units={"v": "km"}, gaps=[(1, 1)])
    formula = always(Signal("v", "mm") < 7e9)
    assert check(formula, trace).robustness == check(formula, like).robustness
    alone, many = robustness(formula, trace), robustness(formula, TraceBatch.of([trace, like]))
    assert [side.tolist() for side in alone] == [side[0].tolist() for side in many]
    seen = Trace.from_arrays(far, dt="0.1", units={"v": "km"}, gaps=[(0, 0)])
    for refused in (seen, TraceBatch.of([like, seen])):
        with pytest.raises(TraceError, match=r"v is 1e\+307 km at sample 1"):
            robustness(formula, refused)


def test_margins_and_settling_refuse_it_too() -> None:
    formula = always(Signal("angle", "m") <= 12)
    for ask in (robustness, settling, judge):
        with pytest.raises(UnitError, match="recorded in rad"):
            ask(formula, ANGLE)


def test_a_claim_is_named_where_its_unit_does_not_fit() -> None:
    claim = Claim(id="arm.tilt", statement=always(Signal("angle", "m") <= 12))
    for ask in (robustness, settling, judge):
        with pytest.raises(UnitError, match=r"Claim arm\.tilt: The formula reads angle in m"):
            ask(claim, ANGLE)
    with pytest.raises(UnitError, match=r"Claim arm\.tilt: "):
        check(claim, ANGLE, backend="z3")


def test_temperatures_with_another_zero_are_refused_with_the_reason() -> None:
    trace = Trace.from_arrays({"motor": [40.0]}, dt="0.1", units={"motor": "degC"})
    assert check(always(Signal("motor", "degC") < 60), trace).status == "satisfied"
    with pytest.raises(UnitError, match=r"different zeros, 273\.15 K apart, so no factor leads"):
        check(always(Signal("motor", "K") < 333), trace)


def test_a_number_that_the_asked_unit_cannot_say_is_refused_not_made_infinite() -> None:
    trace = Trace.from_arrays({"d": [1.0, 1e307]}, dt="0.1", units={"d": "km"})
    with pytest.raises(TraceError, match=r"d is 1e\+307 km at sample 1, .* no binary64 .* mm"):
        check(always(Signal("d", "mm") > 0), trace)


@pytest.mark.parametrize(("recorded", "asked"), [("Pa", "N/m^2"), ("rad", "rad"), ("L", "dm^3")])
def test_the_same_unit_under_another_name_is_fine(recorded: str, asked: str) -> None:
    trace = Trace.from_arrays({"x": [0.1]}, dt="0.1", units={"x": recorded})
    assert check(always(Signal("x", asked) <= 1), trace).status == "satisfied"
    assert not converter([Signal("x", asked)], trace.units)
    assert taken([Signal("x", asked)], trace)["x"] is trace.signals["x"]


def test_a_trace_without_units_believes_the_claim() -> None:
    plain = Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1")
    assert check(always(Signal("angle", "deg") <= 12), plain).status == "satisfied"
    assert conversion_notes([Signal("angle", "deg")], plain.units) == ()


@pytest.mark.parametrize(
    ("units", "told"),
    [
        ({"angel": "rad"}, r"unit is given for signal angel, .* did you mean angle\?"),
        ({"angle": "radians"}, "unit of signal angle cannot be read.*near it: rad"),
    ],
)
def test_a_trace_with_a_unit_that_is_wrong_is_refused(units: dict[str, str], told: str) -> None:
    with pytest.raises(TraceError, match=told):
        Trace.from_arrays({"angle": [0.1, 0.2]}, dt="0.1", units=units)


def test_a_batch_is_converted_like_each_of_its_traces() -> None:
    short = Trace.from_arrays(
        {"speed": [4.1, 14.0], "p": [[1.0, 1.0], [2.0, 2.0]]}, dt="0.1", units=SPEED.units
    )
    batch = TraceBatch.of([SPEED, short, SPEED])
    for formula in FORMULAS:
        low, high = robustness(formula, batch)
        for row, trace in enumerate((SPEED, short, SPEED)):
            one = robustness(formula, trace)
            assert np.array_equal(low[row, : trace.steps + 1], one[0])
            assert np.array_equal(high[row, : trace.steps + 1], one[1])
    with pytest.raises(UnitError, match=r"m/s \(speed\) and s \(time\)"):
        robustness(always(Signal("speed", "s") > 0), batch)
    with pytest.raises(TraceError, match=r"speeds, which the trace lacks; did you mean speed\?"):
        TraceBatch.from_arrays({"speed": [[1.0]]}, dt="0.1", units={"speeds": "m/s"})


def test_penalties_are_sized_on_the_converted_margin() -> None:
    claim = Claim(id="car.speed", statement=always(KMH <= 50))
    settings = PenaltySettings(weight=1.0, cap=100.0, floor=0.0)
    native = in_the_formulas_units()
    found = Penaliser((claim,), SPEED.clock, 3, settings).violations(SPEED)
    expected = Penaliser((claim,), native.clock, 3, settings).violations(native)
    assert [replace(each, trace_digest="") for each in found] == [
        replace(each, trace_digest="") for each in expected
    ]
    assert found[0].step == 2
    assert found[0].margin == (50 - 50.04) / 10.0


def test_the_report_draws_a_signal_in_the_claims_unit() -> None:
    shape = shape_of(Claim(id="car.speed", statement=prob(always(KMH <= 50)) >= 0.5))
    assert shape is not None
    drawn = values_of(shape.panels[0].term, SPEED)
    assert drawn is not None
    assert drawn.tolist() == taken((KMH,), SPEED)["speed"].tolist()
    held = holds(shape.body, SPEED)
    assert held is not None
    assert held.tolist() == [True, True, False, True]
    other = shape_of(Claim(id="car.length", statement=always(Signal("speed", "m") <= 50)))
    assert other is not None
    assert values_of(other.panels[0].term, SPEED) is None


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
    assert other.digest != ANGLE.digest
