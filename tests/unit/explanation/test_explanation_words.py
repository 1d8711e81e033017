"""The paragraph: what was asked, where it failed or came nearest, by how much, for how long."""

import numpy as np
import pytest

from safegym.check.explanation import explain
from safegym.check.monitor import judge
from safegym.formula.build import (
    always,
    eventually,
    fraction,
    historically,
    near,
    never,
    next_,
    once,
    previous,
    prob,
    rising,
    weak_previous,
)
from safegym.formula.claim import Claim
from safegym.formula.nodes import FALSE, Formula
from safegym.formula.terms import Apply, Signal
from safegym.trace.model import Trace

SPEED = Signal("speed", unit="m/s")
FAULT = Signal("fault")
JOINT = Signal("joint_speed", unit="rad/s")
CLEARANCE = Signal("clearance", unit="m")
GOAL = Signal("goal", unit="m")
MODE = Signal("mode", labels=("IDLE", "RUN", "FAULT"))
POSITION = Signal("p", unit="m", shape=(2,))
T = np.arange(11) * 0.1


def trace(end: str = "horizon", reason: str = "", **signals: object) -> Trace:
    return Trace.from_arrays(signals, dt="0.1", end=end, reason=reason)  # type: ignore[arg-type]  # test values


def body(subject: Formula | Claim, seen: Trace) -> str:
    """The words after what was asked."""
    words = explain(subject, seen).words
    return words.split("`. ", 1)[1]


RESPONSE = always(rising(FAULT >= 1).implies(eventually(JOINT <= 0.01, within="0.3")))
PULSE = [0.0, 0.2, 0.7, 0.9, 0.4, 0.1, 0.8, 0.0]

CASES = [
    (
        always(SPEED <= 0.5),
        trace(speed=PULSE),
        "`speed <= 0.5 m/s` had to hold at every sample from 0 s to 0.7 s, and did not. At its "
        "worst, at 0.3 s (sample 3), speed was 0.9 m/s, 0.4 m/s above the limit of 0.5 m/s. It "
        "failed from 0.2 s to 0.3 s (0.1 s, 2 samples); in all at 3 of 8 samples, in 2 "
        "stretches, first at 0.2 s. Robustness -0.4 m/s.",
    ),
    (
        always(SPEED <= 0.5),
        trace(speed=[0.0, 0.75]),
        "`speed <= 0.5 m/s` had to hold at every sample from 0 s to 0.1 s, and did not. At its "
        "worst, at 0.1 s (sample 1), speed was 0.75 m/s, 0.25 m/s above the limit of 0.5 m/s. It "
        "failed at that one sample and nowhere else. Robustness -0.25 m/s.",
    ),
    (
        always(SPEED <= 0.5),
        trace(speed=[0.1, 0.5, 0.2]),
        "`speed <= 0.5 m/s` held at every sample from 0 s to 0.2 s. It came nearest to failing at "
        "0.1 s (sample 1), where speed was 0.5 m/s, exactly the limit of 0.5 m/s, which still "
        "meets `<=`. Robustness 0 m/s.",
    ),
    (
        eventually(SPEED < 0.5, within="0.2"),
        trace(speed=[0.75, 0.5, 0.625, 0.0]),
        "`speed < 0.5 m/s` had to hold at some sample from 0 s to 0.2 s, and never did. It came "
        "nearest at 0.1 s (sample 1), where speed was 0.5 m/s, exactly the limit of 0.5 m/s, "
        "which does not meet `<`. Robustness 0 m/s.",
    ),
    (
        eventually(SPEED > 0.5),
        trace(speed=[0.0, 0.75, 0.25]),
        "`speed > 0.5 m/s` was asked for at some sample from 0 s to 0.2 s, and held at 0.1 s. It "
        "held best at 0.1 s (sample 1), where speed was 0.75 m/s, 0.25 m/s above the limit of "
        "0.5 m/s. Robustness 0.25 m/s.",
    ),
    (
        (CLEARANCE > 0.25).until(GOAL < 0.5, within="0.3"),
        trace(clearance=[1.0, 0.125, 1.0, 1.0], goal=[4.0, 3.0, 2.0, 0.0]),
        "`goal < 0.5 m` was due from 0 s to 0.3 s, with `clearance > 0.25 m` holding until then; "
        "`clearance > 0.25 m` first failed at 0.1 s, before `goal < 0.5 m` held at 0.3 s. At its "
        "worst, at 0.1 s (sample 1), clearance was 0.125 m, 0.125 m below the limit of 0.25 m. "
        "Robustness -0.125 m.",
    ),
    (
        (CLEARANCE > 0.25).until(GOAL < 0.5, within="0.2"),
        trace(clearance=[1.0] * 4, goal=[4.0, 3.0, 1.5, 0.0]),
        "`goal < 0.5 m` was due from 0 s to 0.2 s, with `clearance > 0.25 m` holding until then; "
        "it never came. It came nearest at 0.2 s (sample 2), where goal was 1.5 m, 1 m above the "
        "limit of 0.5 m. Robustness -1 m.",
    ),
    (
        never(MODE.is_("FAULT")),
        trace(mode=[0, 1, 2, 1]),
        "`mode is not FAULT` had to hold at every sample from 0 s to 0.3 s, and did not. At its "
        "worst, at 0.2 s (sample 2), mode was FAULT. It failed at that one sample and nowhere "
        "else. Robustness -0.5.",
    ),
    (
        always(near(SPEED, 1.0, 0.25)),
        trace(speed=[1.0, 1.5, 1.0]),
        "`abs(speed - 1) <= 0.25 m/s` had to hold at every sample from 0 s to 0.2 s, and did not. "
        "At its worst, at 0.1 s (sample 1), speed was 1.5 m/s, 0.25 m/s outside 1 ±0.25 m/s. It "
        "failed at that one sample and nowhere else. Robustness -0.25 m/s.",
    ),
    (
        always(Apply("norm", tuple(POSITION)) <= 4),
        trace(p=[[0.0, 0.0], [3.0, 4.0]]),
        "`norm(p) <= 4 m` had to hold at every sample from 0 s to 0.1 s, and did not. At its "
        "worst, at 0.1 s (sample 1), norm(p) was 5 m, 1 m above the limit of 4 m. It failed at "
        "that one sample and nowhere else. Robustness -1 m.",
    ),
    (
        always(CLEARANCE > GOAL),
        trace(clearance=[2.0, 1.0], goal=[1.0, 1.5]),
        "`clearance > goal` had to hold at every sample from 0 s to 0.1 s, and did not. At its "
        "worst, at 0.1 s (sample 1), clearance was 1 m, 0.5 m below goal (1.5 m). It failed at "
        "that one sample and nowhere else. Robustness -0.5 m.",
    ),
    (
        always(eventually(SPEED > 0.5, within="0.1")),
        trace("cut", speed=[1.0, 0.0, 0.25, 0.0, 1.0]),
        "`eventually[0,0.1](speed > 0.5)` had to hold at every sample from 0 s to 0.4 s, and did "
        "not. `speed > 0.5 m/s` had to hold at some sample from 0.1 s to 0.2 s, and never did. It "
        "came nearest at 0.2 s (sample 2), where speed was 0.25 m/s, 0.25 m/s below the limit of "
        "0.5 m/s. `eventually[0,0.1](speed > 0.5)` failed from 0.1 s to 0.2 s (0.1 s, 2 samples) "
        "and nowhere else. Robustness -0.25 m/s.",
    ),
    (
        next_(SPEED > 0.5),
        trace(speed=[1.0, 0.25]),
        "At the next sample, 0.1 s, `speed > 0.5 m/s` did not hold. At 0.1 s (sample 1), speed "
        "was 0.25 m/s, 0.25 m/s below the limit of 0.5 m/s. Robustness -0.25 m/s.",
    ),
    (
        previous(SPEED > 0.5),
        trace(speed=[1.0]),
        "There is no sample before 0 s, the first one, which counts as not holding. Robustness "
        "minus infinity.",
    ),
    (
        next_(historically(SPEED < 0.5)),
        trace(speed=[1.0, 0.25]),
        "At the next sample, 0.1 s, `historically(speed < 0.5)` did not hold. `speed < 0.5 m/s` "
        "had to hold at every sample from 0 s to 0.1 s, and did not. At its worst, at 0 s "
        "(sample 0), speed was 1 m/s, 0.5 m/s above the limit of 0.5 m/s. `speed < 0.5 m/s` "
        "failed at that one sample and nowhere else. Robustness -0.5 m/s.",
    ),
    (
        always((SPEED > 0.5).implies(once(SPEED < 0.25, within="0.1"))),
        trace(speed=[1.0, 0.0, 1.0]),
        "At 0 s `speed > 0.5 m/s` held; `once[0,0.1](speed < 0.25)` had to hold then: that was "
        "not met. At 0 s (sample 0), speed was 1 m/s, 0.75 m/s above the limit of 0.25 m/s. "
        "Robustness -0.5 m/s, that of the condition: its `speed <= 0.5 m/s` is nearer to its "
        "limit.",
    ),
    (
        always(FALSE),
        trace(speed=[0.0]),
        "At 0 s `false` had to hold, and did not. The constant `false` decides. Robustness minus "
        "infinity.",
    ),
    (
        eventually(SPEED > 1, within="0.5"),
        trace("failed", "fallen", speed=[0.0, 0.5]),
        "`speed > 1 m/s` had to hold at some sample from 0 s to 0.5 s, and never did. It came "
        "nearest at 0.1 s (sample 1), where speed was 0.5 m/s, 0.5 m/s below the limit of 1 m/s. "
        "The episode failed at 0.1 s (fallen); what was due after that counts as failed. "
        "Robustness -0.5 m/s.",
    ),
    (
        always(SPEED < 1, lasting="0.5"),
        trace("absorbed", speed=[0.0, 0.5]),
        "`speed < 1 m/s` held at every sample from 0 s to 0.5 s. It came nearest to failing at "
        "0.1 s (sample 1), where speed was 0.5 m/s, 0.5 m/s below the limit of 1 m/s. Robustness "
        "0.5 m/s.",
    ),
    (
        always(SPEED <= 0.5, lasting="0.5"),
        trace("interrupted", "wall clock", speed=[0.0, 0.25, 0.125]),
        "The episode was interrupted (wall clock) at 0.2 s (sample 2) while `always[0,0.5](speed "
        "<= 0.5)`, asked at 0 s and reading on to 0.5 s, was still open. Of what was seen, 0.1 s "
        "(sample 1) counts most: speed was 0.25 m/s, 0.25 m/s below the limit of 0.5 m/s. "
        "Robustness at most 0.25 m/s.",
    ),
    (
        eventually(SPEED > 0.5),
        trace("interrupted", speed=[0.0, 0.25, 0.125]),
        "The episode was interrupted at 0.2 s (sample 2) while `eventually(speed > 0.5)` was "
        "still open. Of what was seen, 0.1 s (sample 1) counts most: speed was 0.25 m/s, 0.25 m/s "
        "below the limit of 0.5 m/s. Robustness at least -0.25 m/s.",
    ),
    (
        eventually(SPEED > 0.5, within="0.4"),
        trace(speed=[0.0, 0.25, 0.125]),
        "The episode reached its horizon at 0.2 s (sample 2) while `eventually[0,0.4](speed > "
        "0.5)`, asked at 0 s and reading on to 0.4 s, was still open. Of what was seen, 0.1 s "
        "(sample 1) counts most: speed was 0.25 m/s, 0.25 m/s below the limit of 0.5 m/s. A tail "
        "of 0.4 s past the horizon would decide it. Robustness at least -0.25 m/s.",
    ),
    (
        fraction(SPEED < 0.5) >= 0.75,
        trace(speed=[0.0, 1.0, 0.75, 0.25]),
        "`speed < 0.5 m/s` held at 2 of 4 samples, a share of 0.5; at least 0.75 was asked for. "
        "It was furthest from holding at 0.1 s (sample 1), where speed was 1 m/s, 0.5 m/s above "
        "the limit of 0.5 m/s. Robustness -0.25.",
    ),
]


@pytest.mark.parametrize(("subject", "seen", "words"), CASES, ids=lambda each: str(each)[:60])
def test_the_words_of_each_kind_of_verdict(subject: Formula, seen: Trace, words: str) -> None:
    assert body(subject, seen) == words


def test_an_unmet_response_says_when_it_was_due_and_what_came_nearest() -> None:
    seen = trace(
        fault=[0, 0, 1, 1, 1, 1, 1, 1],
        joint_speed=[0.5, 0.5, 0.5, 0.375, 0.125, 0.25, 0.0, 0.0],
    )
    words = explain(Claim(id="arm.stop", statement=RESPONSE), seen).words
    assert words.startswith("Claim arm.stop is violated. Asked: `always(")
    assert (
        "At 0.2 s `fault >= 1` became true; `joint_speed <= 0.01 rad/s` was due within 0.3 s (by "
        "0.5 s): that was not met. It came nearest at 0.4 s (sample 4), where joint_speed was "
        "0.125 rad/s, 0.115 rad/s above the limit of 0.01 rad/s. No margin:" in words
    )


def test_other_moments_of_the_same_unmet_duty_are_listed() -> None:
    fault = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    words = body(RESPONSE, trace(fault=fault, joint_speed=[0.5] * 12))
    assert "The same went unmet at 0.3 s, 0.5 s and 0.7 s." in words
    many = [k % 2 for k in range(20)]
    words = body(RESPONSE, trace("cut", fault=many, joint_speed=[0.5] * 20))
    assert "The same went unmet at 0.3 s, 0.5 s, 0.7 s and 6 times more." in words


def test_an_open_response_says_what_is_still_due() -> None:
    seen = trace(fault=[0, 0, 1], joint_speed=[0.5, 0.5, 0.25])
    words = body(RESPONSE, seen)
    assert words.startswith(
        "The episode reached its horizon at 0.2 s (sample 2) while `eventually[0,0.3](joint_speed "
        "<= 0.01)`, asked at 0.2 s and reading on to 0.5 s, was still open. At 0.2 s `fault >= 1` "
        "became true; `joint_speed <= 0.01 rad/s` was due within 0.3 s (by 0.5 s): that is still "
        "open. It came nearest at 0.2 s (sample 2), where joint_speed was 0.25 rad/s"
    )


def test_a_best_try_at_staying_is_told_by_its_beginning() -> None:
    stays = always(
        rising(FAULT >= 1).implies(eventually(always(FAULT <= 0.5, lasting="0.2"), within="0.2"))
    )
    words = body(stays, trace(fault=[0, 1, 1, 1, 0.75, 1, 1, 1, 1]))
    assert "`fault <= 0.5` for 0.2 s was due within 0.2 s (by 0.3 s): that was not met." in words
    assert "The best try began at 0.1 s; at its worst, at 0.1 s (sample 1), fault was 1" in words


def test_a_probability_claim_says_what_it_asks_of_one_episode() -> None:
    claim = Claim(id="arm.touch", statement=prob(eventually(SPEED > 0.5)) < 0.01)
    assert explain(claim, trace(speed=[0.0])).words.startswith(
        "Claim arm.touch is satisfied. The claim `prob(eventually(speed > 0.5)) < 0.01` is about "
        "many episodes; of this one it asks `not(eventually(speed > 0.5))`. "
    )


def test_where_margins_do_not_compare_no_sample_is_called_the_worst() -> None:
    words = body(
        always((SPEED <= 0.5) & (CLEARANCE > 0.25)), trace(speed=[0, 1, 3.0], clearance=[1, 1, 1])
    )
    assert "First, at 0.1 s (sample 1), speed was 1 m/s" in words
    assert "worst" not in words


def test_a_value_is_never_rounded_across_its_limit() -> None:
    words = body(always(SPEED <= 0.5), trace(speed=[0.0, 0.500001]))
    assert "speed was 0.500001 m/s, 1e-06 m/s above the limit of 0.5 m/s" in words


def test_times_are_exact_where_they_are_decimal_and_close_where_not() -> None:
    seen = Trace.from_arrays({"speed": [0.0, 1.0, 0.0]}, dt="1/240", end="cut")
    assert "At its worst, at 0.00417 s (sample 1)" in body(always(SPEED <= 0.5), seen)
    late = Trace.from_arrays({"speed": [0.0, 1.0]}, dt="0.001", start="123456.789")
    assert "at 123456.79 s (sample 1)" in body(always(SPEED <= 0.5), late)


def test_a_converted_signal_is_told_and_shown_in_the_formulas_unit() -> None:
    seen = Trace.from_arrays({"speed": [0.0, 3.6]}, dt="0.1", units={"speed": "km/h"})
    explanation = explain(always(SPEED <= 0.5), seen)
    assert "speed was 1 m/s, 0.5 m/s above the limit of 0.5 m/s" in explanation.words
    assert "speed: recorded in km/h, read in m/s" in explanation.words
    assert explanation.scene.panels[0].lines[0].values.tolist() == [0.0, 1.0]


def test_what_resampling_did_to_a_log_is_told() -> None:
    seen = Trace.from_stamps(
        [0.0, 0.1, 0.15, 0.2],
        {"speed": [0.0, 0.1, 0.9, 0.1]},
        dt="0.1",
        rule="hold",
        longest_gap="0.2",
        between="sample",
        end="cut",
    )
    words = explain(always(SPEED <= 0.5), seen).words
    assert "from 4 samples; 1 between instants were not looked at" in words


def test_a_gap_that_leaves_a_claim_open_is_named() -> None:
    seen = Trace.from_arrays({"speed": [0.0] * 8}, dt="0.1", gaps=[(3, 4)])
    assert body(always(SPEED <= 0.5), seen).startswith(
        "Nothing is known from 0.3 s to 0.4 s (a gap in the record), where `speed <= 0.5 m/s` is "
        "needed. "
    )


def test_an_open_operator_asked_inside_a_gap_is_not_put_down_to_the_gap() -> None:
    seen = Trace.from_arrays({"speed": [0.0] * 4}, dt="0.1", gaps=[(0, 1)], end="interrupted")
    assert body(eventually(SPEED > 0.5), seen).startswith("The episode was interrupted at 0.3 s")
    assert judge(eventually(SPEED > 0.5), seen).notes[0].startswith("Undecided: the episode ended")
    gapped = judge(always(SPEED <= 0.5, lasting="0.1"), seen)
    assert gapped.notes[0] == (
        "Undecided: nothing is known of samples 0 to 1, which `speed <= 0.5` reads."
    )


def test_a_reason_from_outside_cannot_send_control_characters() -> None:
    seen = trace("interrupted", "\x1b[31mred\u202e", speed=[0.0])
    words = explain(eventually(SPEED > 1), seen).words
    assert "\x1b" not in words
    assert "\u202e" not in words
    assert "⟨U+001B⟩[31mred⟨U+202E⟩" in words


def test_many_operators_are_told_from_both_ends() -> None:
    formula: Formula = SPEED > 1
    for _ in range(7):
        formula = eventually(formula, within="0.1")
    words = body(formula, trace("cut", speed=[0.0] * 11))
    assert "(3 more operators between are in the witness's chain.)" in words
    assert words.count("never did") == 4


def test_an_until_that_came_in_vain_is_not_said_never_to_have_come() -> None:
    seen = trace(clearance=[1.0, -4.0, 1.0], goal=[1.0, 2.0, 0.0])
    words = body((CLEARANCE > 0.25).until(GOAL < 0.5, within="0.2"), seen)
    assert (
        "`clearance > 0.25 m` first failed at 0.1 s, before `goal < 0.5 m` held at 0.2 s." in words
    )
    assert "never came" not in words


def test_a_left_side_that_fails_is_told_from_its_first_failure() -> None:
    seen = trace(clearance=[1.0, 0.0, -1.0, 1.0], goal=[3.0, 3.0, 3.0, 0.75])
    words = body((CLEARANCE > 0.25).until(GOAL < 0.5, within="0.3"), seen)
    assert (
        "it never came, and `clearance > 0.25 m` first failed at 0.1 s. At its worst, at 0.2 s"
        in (words)
    )


def test_a_window_past_an_absorbed_end_is_told_at_a_sample_inside_it() -> None:
    formula = eventually(GOAL < 0.5, window=("0.2", "0.4"))
    verdict = judge(formula, trace("absorbed", goal=[0.0]))
    assert verdict.status == "satisfied"
    words = verdict.explain(trace("absorbed", goal=[0.0])).words
    assert "from 0.2 s to 0.4 s, and held at 0.2 s. It held best at 0.2 s (sample 2)" in words
    assert "(the last value, held after the end)" in words


def test_a_tail_is_promised_only_where_it_decides() -> None:
    tail = "A tail of 0.2 s past the horizon would decide it."
    assert tail in body(always(SPEED <= 0.5, lasting="0.2"), trace(speed=[0.0]))
    assert "tail" not in body(always(SPEED <= 0.5, window=("0.2", None)), trace(speed=[0.0]))
    seen = Trace.from_arrays({"speed": [0.0] * 4}, dt="0.1", gaps=[(1, 1)], end="horizon")
    assert "tail" not in body(always(eventually(SPEED > 0.5, within="0.2")), seen)


def test_what_else_failed_is_named_where_a_duty_was_told_before() -> None:
    seen = trace(speed=[0.0, 1.0, 1.0, 0.0], clearance=[1.0, 0.0, 0.1, 0.0])
    words = body(always((SPEED > 0.5).implies(CLEARANCE > 0.25)), seen)
    assert "`(speed > 0.5) implies (clearance > 0.25)` failed from 0.1 s to 0.2 s" in words


def test_a_share_of_samples_says_how_its_sample_counts() -> None:
    seen = trace(speed=[0.0, 1.0, 0.75, 0.25])
    words = body(fraction(SPEED < 0.5) >= 0.25, seen)
    assert "It was furthest from holding at 0.1 s (sample 1)" in words
    words = body(fraction(SPEED < 0.5) <= 0.25, seen)
    assert "It held best at 0 s (sample 0), where" in words
    words = body(fraction(once(SPEED > 0.5, within="0.1")) >= 0.9, seen)
    assert "It was furthest from holding at 0 s." in words
    gapped = Trace.from_arrays({"speed": [0.0, 1.0, 1.0, 0.0]}, dt="0.1", gaps=[(1, 2)])
    assert "held at 2 of 4 samples, with 2 undecided, a share of 0.5 to 1;" in body(
        fraction(SPEED < 0.5) >= 0.75, gapped
    )
    cut_off = Trace.from_arrays({"speed": [0.0] * 3}, dt="0.1", horizon=9, end="interrupted")
    words = body(fraction(SPEED < 0.5) >= 0.75, cut_off)
    assert "held at 3 of the 3 samples seen, a share of 0.3 to 1;" in words
    assert "samples up to its horizon were not seen; they are open." in words
    words = body(fraction(SPEED < 0.5) >= 0.75, trace("interrupted", speed=[0.0] * 3))
    assert "without a horizon: any number of samples may be unseen." in words


def test_modes_are_named_inside_longer_formulas() -> None:
    formula = always(MODE.is_("FAULT").implies(eventually(MODE.is_("IDLE"), within="0.1")))
    seen = trace(mode=[1, 2, 2, 2, 0])
    words = explain(formula, seen).words
    named = "`always((mode is FAULT) implies eventually[0,0.1](mode is IDLE))`"
    assert named in words
    assert "its `mode is not FAULT` is nearer to its limit" in words
    assert explain(formula, seen).scene.asked == named.strip("`")


def test_an_implication_left_open_is_told_as_it_is_written() -> None:
    seen = trace("interrupted", fault=[0, 0, 1], joint_speed=[0.5, 0.5, 0.25])
    formula = always((FAULT >= 1).implies(eventually(JOINT <= 0.01, within="0.3")))
    assert f"while `{formula}` was still open" in body(formula, seen)


def test_a_share_whose_worst_sample_lies_in_a_gap_says_and_marks_nothing_of_it() -> None:
    seen = Trace.from_arrays({"speed": [0.0, 1.0, 1.0, 0.0]}, dt="0.1", gaps=[(1, 1)])
    explanation = explain(fraction(SPEED < 0.5) >= 0.25, seen)
    assert explanation.verdict.status == "satisfied"
    assert "(sample 1)" not in explanation.words
    assert explanation.scene.panels[0].marks == ()


def test_moments_of_a_part_one_sample_later_are_not_told_as_those_of_the_duty() -> None:
    duty = (SPEED > 0.5).implies(CLEARANCE > 0.25)
    seen = trace("cut", speed=[1.0, 0.0, 1.0, 0.0], clearance=[0.0] * 4)
    words = body(always(weak_previous(duty), window=("0.1", "0.3")), seen)
    assert "The same went unmet" not in words
    assert (
        "`weak_previous((speed > 0.5) implies (clearance > 0.25))` failed at 0.1 s; in all at 2 of "
        "3 samples, in 2 stretches, first at 0.1 s." in words
    )


def test_one_sample_at_which_a_window_failed_is_told_by_its_own_time() -> None:
    seen = trace("cut", speed=[1.0, 0.25, 0.0, 1.0, 1.0])
    words = body(always(once(SPEED > 0.5, within="0.1")), seen)
    assert "`once[0,0.1](speed > 0.5)` failed at 0.2 s and nowhere else." in words
