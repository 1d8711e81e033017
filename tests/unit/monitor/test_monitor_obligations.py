"""A violated implication says what was asked for and not met, beside the deciding atom."""

from safegym.check.monitor import judge
from safegym.formula.build import always, eventually, fraction, rising
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

FAULT, SPEED = Signal("fault"), Signal("speed")
STOPPED = SPEED <= 0.01


def trace(fault: list[int], speed: list[float]) -> Trace:
    return Trace.from_arrays({"fault": fault, "speed": speed}, dt="0.1")


def stop_claim(fault: Formula, stopped: Formula) -> Formula:
    return always(rising(fault).implies(eventually(always(stopped, lasting=1), within="0.3")))


RUN = trace([0] * 5 + [1] * 35, [0.3] * 40)


def test_the_note_names_the_obligation_and_the_witness_keeps_the_deciding_margin() -> None:
    verdict = judge(stop_claim(FAULT >= 1, STOPPED), RUN)
    assert verdict.witness is not None
    assert verdict.robustness is not None
    assert verdict.witness.margin == verdict.robustness.hi == 0.0
    assert verdict.notes[-1] == (
        "At sample 5 (0.5 s) `(fault >= 1) and not(previous(fault >= 1))` held and "
        "`eventually[0,0.3](always[0,1](speed <= 0.01))` did not."
    )


def test_where_margins_do_not_compare_the_witness_is_the_obligation() -> None:
    speed = Signal("speed", "rad/s")
    verdict = judge(stop_claim(FAULT >= 1, speed <= 0.01), RUN)
    assert verdict.robustness is None
    assert verdict.witness is not None
    assert verdict.witness.subformula == "speed <= 0.01"


def test_a_condition_about_the_future_is_not_said_to_have_held() -> None:
    formula = always(eventually(FAULT >= 1, within="0.1").implies(STOPPED))
    verdict = judge(formula, trace([0, 1, 0], [0.3, 0.3, 0.3]))
    assert verdict.notes[-1] == (
        "At sample 0 (0 s) `eventually[0,0.1](fault >= 1)` implies `speed <= 0.01`, "
        "which was not met."
    )


def test_rounded_claims_are_quoted_as_written() -> None:
    formula = always((FAULT >= 1).implies(eventually(STOPPED, within="0.25")))
    claim = Claim(id="a.stop", statement=formula, rounding="conservative")
    verdict = judge(claim, trace([1, 1, 1, 1], [0.3, 0.3, 0.3, 0.0]))
    assert "`eventually[0,0.25](speed <= 0.01)` did not" in verdict.notes[-1]


def test_nothing_is_said_of_implications_that_did_not_fail() -> None:
    kept = always((FAULT >= 1).implies(STOPPED))
    assert judge(kept, trace([0, 1], [0.3, 0.0])).notes == ()
    share = fraction((FAULT >= 1).implies(STOPPED)) < 0.5
    found = judge(share, trace([0, 0], [0.0, 0.0]))
    assert found.status == "violated"
    assert not any("held and" in note for note in found.notes)
