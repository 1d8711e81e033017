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


def test_an_unmet_duty_is_structured_data() -> None:
    speed = [0.3] * 5 + [0.3, 0.25, 0.125, 0.2] + [0.3] * 31
    found = stop_claim(FAULT >= 1, SPEED <= 0.01)
    simple = always(rising(FAULT >= 1).implies(eventually(SPEED <= 0.01, within="0.3")))
    (obligation,) = judge(simple, trace([0] * 5 + [1] * 35, speed)).obligations
    assert (obligation.step, obligation.time, obligation.deadline) == (5, 0.5, 0.8)
    assert obligation.condition == "(fault >= 1) and not(previous(fault >= 1))"
    assert obligation.duty == "eventually[0,0.3](speed <= 0.01)"
    nearest = obligation.nearest
    assert nearest is not None
    assert (nearest.step, nearest.time, nearest.values) == (7, 0.7, {"speed": 0.125})
    assert nearest.margin == 0.01 - 0.125
    assert nearest.chain == ("eventually[0,0.3](speed <= 0.01)", "speed <= 0.01")
    assert judge(found, RUN).obligations[0].deadline == 0.8


def test_what_came_nearest_is_found_though_margins_do_not_compare_outside_the_duty() -> None:
    speed = Signal("speed", "rad/s")
    formula = always((FAULT >= 1).implies(eventually(speed <= 0.01, within="0.2")))
    verdict = judge(formula, trace([1, 0, 0, 0], [0.5, 0.25, 0.75, 0.0]))
    assert verdict.robustness is None
    nearest = verdict.obligations[0].nearest
    assert nearest is not None
    assert (nearest.step, nearest.margin) == (1, 0.01 - 0.25)


def test_a_duty_without_a_bound_has_no_deadline_and_one_at_once_its_own_time() -> None:
    seen = trace([1, 1], [0.5, 0.5])
    (endless,) = judge(always((FAULT >= 1).implies(eventually(STOPPED))), seen).obligations
    assert (endless.time, endless.deadline) == (0.0, None)
    (now,) = judge(always((FAULT >= 1).implies(STOPPED)), seen).obligations
    assert (now.time, now.deadline) == (0.0, 0.0)
    both = eventually(STOPPED, within="0.1") & STOPPED
    (last,) = judge(always((FAULT >= 1).implies(both)), seen).obligations
    assert last.deadline == 0.1


def test_an_open_duty_is_an_obligation_of_an_inconclusive_verdict() -> None:
    formula = always((FAULT >= 1).implies(eventually(STOPPED, within="0.3")))
    verdict = judge(formula, trace([0, 0, 1], [0.5, 0.5, 0.25]))
    assert verdict.status == "inconclusive"
    (obligation,) = verdict.obligations
    assert (obligation.step, obligation.deadline) == (2, 0.5)
    assert obligation.nearest is not None
    assert obligation.nearest.values == {"speed": 0.25}


def test_a_condition_that_may_yet_fail_leaves_no_obligation() -> None:
    soon = eventually(FAULT >= 1, within="0.2")
    formula = always(soon.implies(STOPPED))
    verdict = judge(formula, trace([0, 0], [0.5, 0.5]))
    assert verdict.status == "inconclusive"
    assert verdict.obligations == ()


def test_nested_implications_are_listed_from_the_outermost_in() -> None:
    inner = (SPEED > 0.2).implies(eventually(STOPPED, within="0.1"))
    formula = always((FAULT >= 1).implies(always(inner, lasting="0.2")))
    verdict = judge(formula, trace([1, 0, 0, 0, 0], [0.0, 0.3, 0.3, 0.3, 0.0]))
    steps = [(each.step, each.condition) for each in verdict.obligations]
    assert steps == [(0, "fault >= 1"), (1, "speed > 0.2")]
    assert len([note for note in verdict.notes if "held and" in note]) == 2


def test_a_satisfied_verdict_has_no_obligations() -> None:
    kept = always((FAULT >= 1).implies(STOPPED))
    assert judge(kept, trace([0, 1], [0.3, 0.0])).obligations == ()


def test_nothing_is_said_of_implications_that_did_not_fail() -> None:
    kept = always((FAULT >= 1).implies(STOPPED))
    assert judge(kept, trace([0, 1], [0.3, 0.0])).notes == ()
    share = fraction((FAULT >= 1).implies(STOPPED)) < 0.5
    found = judge(share, trace([0, 0], [0.0, 0.0]))
    assert found.status == "violated"
    assert not any("held and" in note for note in found.notes)
