"""Claims over episodes on one trace: conditions, tightened properties, shares, and refusals."""

from typing import Literal

import numpy as np
import pytest

from safegym.check.dispatch import check
from safegym.check.explanation.explain import explain
from safegym.check.monitor import Monitor, judge, judge_batch, measure, robustness, support
from safegym.check.symbolic.backend import BACKEND
from safegym.errors import FormulaError, TraceError, UnitError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.statements import ConditionalBound, QuantileBound, Statement
from safegym.formula.terms import Signal
from safegym.trace.batch import TraceBatch
from safegym.trace.model import EndKind, Trace

X = Signal("x", "m")
FAULT = Signal("fault", scale=1.0) >= 1
CLEAR = always(X > 0.25)
SKIPPED = "Vacuous: the condition never held; this episode is skipped in the count."
Status = Literal["satisfied", "violated", "inconclusive"]


def claim_of(statement: Statement, **more: object) -> Claim:
    return Claim(id="a.claim", statement=statement, **more)  # type: ignore[arg-type]  # on purpose


def trace_of(
    x: list[float], fault: list[float], end: EndKind = "absorbed", horizon: int | None = None
) -> Trace:
    return Trace.from_arrays({"x": x, "fault": fault}, dt="0.1", end=end, horizon=horizon)


GIVEN = claim_of(prob(CLEAR, given=eventually(FAULT)) >= 0.9)
BELOW = claim_of(prob(eventually(X <= 0.25), given=eventually(FAULT)) < 0.1)


@pytest.mark.parametrize("claim", [GIVEN, BELOW], ids=["at least", "below"])
@pytest.mark.parametrize(
    ("x", "fault", "end", "status", "condition"),
    [
        ([1, 1], [0, 0], "absorbed", "satisfied", "violated"),
        ([0, 0], [0, 0], "absorbed", "satisfied", "violated"),
        ([1, 1], [0, 1], "absorbed", "satisfied", "satisfied"),
        ([1, 0], [0, 1], "absorbed", "violated", "satisfied"),
        ([1, 0], [0, 1], "failed", "violated", "satisfied"),
        ([1, 1], [0, 0], "interrupted", "inconclusive", "inconclusive"),
        ([1, 0], [0, 0], "interrupted", "inconclusive", "inconclusive"),
        ([1, 0], [0, 1], "interrupted", "violated", "satisfied"),
        ([1, 1], [0, 1], "interrupted", "inconclusive", "satisfied"),
        ([1, 1], [0, 0], "cut", "satisfied", "violated"),
        ([1, 1], [0, 0], "horizon", "satisfied", "violated"),
    ],
)
def test_a_verdict_says_whether_the_condition_held(
    claim: Claim,
    x: list[float],
    fault: list[float],
    end: EndKind,
    status: Status,
    condition: Status,
) -> None:
    trace = trace_of(x, fault, end, 5 if end == "interrupted" else None)
    for verdict in (judge(claim, trace), check(claim, trace, "z3"), check(claim, trace)):
        assert (verdict.status, verdict.condition) == (status, condition)
        assert (SKIPPED in verdict.notes) == (condition == "violated")
        assert any("It is open whether" in each for each in verdict.notes) == (
            condition == "inconclusive"
        )


def test_other_claims_and_formulas_have_no_condition() -> None:
    trace = trace_of([1, 1], [0, 0])
    for subject in (CLEAR, claim_of(CLEAR), claim_of(prob(CLEAR) > 0.5)):
        assert judge(subject, trace).condition is None
        assert check(subject, trace, "z3").condition is None
    assert judge(claim_of(quantile(CLEAR, 0.05) > 0.1), trace).condition is None


def test_a_kept_property_under_an_open_condition_may_not_count() -> None:
    trace = trace_of([1, 1, 1], [0, 0, 0], "horizon")
    claim = claim_of(prob(CLEAR, given=eventually(FAULT, within="0.5")) >= 0.9)
    verdict = judge(claim, trace)
    assert (verdict.status, verdict.condition) == ("satisfied", "inconclusive")
    assert "it may not count" in str(verdict.explain(trace))


def test_a_failure_discharges_neither_the_condition_nor_its_opposite() -> None:
    """The window of the condition lies past the end, and the property's does too: it counts."""
    late = always(FAULT, window=("0.3", "0.4"))
    bound = prob(eventually(X > 2, within="0.5"), given=late) >= 0.9
    verdict = judge(claim_of(bound), trace_of([1, 1], [1, 1], "failed"))
    assert (verdict.status, verdict.condition) == ("violated", "satisfied")


def test_z3_settles_a_condition_that_no_unseen_sample_can_change() -> None:
    either = always((X > 1) | ~(X > 1), lasting="0.5") & eventually(FAULT)
    claim = claim_of(prob(CLEAR, given=either) >= 0.9)
    trace = trace_of([1, 1], [0, 1], "horizon", 1)
    assert check(claim, trace).condition == "inconclusive"
    refined = check(claim, trace, exact=True)
    assert (refined.status, refined.condition) == ("satisfied", "satisfied")
    assert "Its condition was decided by z3 over all values of the unseen samples." in refined.notes
    assert not any("It is open" in note for note in refined.notes)
    assert "this episode counts" in str(refined.explain())
    assert "Its condition was decided by z3" in str(refined.explain())


def test_batches_give_each_episode_its_condition() -> None:
    batch = TraceBatch.of([trace_of([1, 1], [0, 0]), trace_of([1, 0], [0, 1]), trace_of([1], [1])])
    found = judge_batch(GIVEN, batch)
    assert [each.condition for each in found] == ["violated", "satisfied", "satisfied"]
    assert [each.status for each in found] == ["satisfied", "violated", "satisfied"]


def test_signals_of_the_condition_alone_are_read_and_converted() -> None:
    fault_speed = Signal("speed", "km/h") > 18
    claim = claim_of(prob(X > 0, given=eventually(fault_speed)) >= 0.5)
    signals = {"x": [1.0, 1.0], "speed": [1.0, 6.0]}
    trace = Trace.from_arrays(signals, dt="0.1", end="absorbed", units={"speed": "m/s", "x": "m"})
    assert judge(claim, trace).condition == "satisfied"
    with pytest.raises(UnitError, match=r"a\.claim"):
        judge(
            claim,
            Trace.from_arrays(signals, dt="0.1", units={"speed": "kg", "x": "m"}),
        )
    with pytest.raises(TraceError, match=r"a\.claim.*speed"):
        judge(claim, Trace.from_arrays({"x": [1.0, 1.0]}, dt="0.1"))


def test_a_window_of_the_condition_off_the_grid_is_refused() -> None:
    claim = claim_of(prob(CLEAR, given=eventually(FAULT, within="0.25")) >= 0.9)
    with pytest.raises(FormulaError, match="not a multiple of dt"):
        judge(claim, trace_of([1, 1], [0, 0]))
    rounded = claim_of(claim.statement, rounding="conservative")
    assert judge(rounded, trace_of([1, 1], [0, 1])).condition == "satisfied"


def test_an_online_monitor_tells_the_property_at_every_prefix() -> None:
    monitor = Monitor(GIVEN, "0.1", horizon=5)
    x, fault = [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]
    for k in range(3):
        update = monitor.update({"x": np.array([x[k]]), "fault": np.array([fault[k]])})
        prefix = trace_of(x[: k + 1], fault[: k + 1], "interrupted", 5)
        assert str(update.episode.status[0]) == judge(GIVEN, prefix).status
    assert support(GIVEN, online=True, horizon=5, dt="0.1").ok


def test_explanations_say_what_is_asked_and_whether_the_episode_counts() -> None:
    skipped = str(explain(GIVEN, trace_of([1, 0], [0, 0])))
    assert "is about the episodes in which `eventually(fault >= 1)` holds" in skipped
    assert "never held, so this episode is skipped in the count" in skipped
    failed = str(explain(GIVEN, trace_of([1, 0], [0, 1])))
    assert "The condition `eventually(fault >= 1)` held, so this episode counts." in failed
    assert "x was 0 m, 0.25 m below the limit of 0.25 m" in failed
    opened = str(explain(GIVEN, trace_of([1, 0], [0, 0], "interrupted", 5)))
    assert "so the worst is assumed: it counts" in opened


def test_explanations_of_a_quantile_name_the_margin_and_the_share() -> None:
    claim = claim_of(quantile(CLEAR, 0.05) > 0.5)
    words = str(explain(claim, trace_of([1, 0.5], [0, 0])))
    assert "fewer than 5 % may have a robustness of 0.5 m or less" in words
    assert "it asks `always(x > 0.75)`" in words
    assert "holds where the robustness of the latter is above 0.5 m" in words
    assert "x was 0.5 m, 0.25 m below the limit of 0.75 m" in words
    weak = str(explain(claim_of(quantile(FAULT, 0.1) >= 2), trace_of([1], [3])))
    assert "fewer than 10 % may have a robustness below 2 times the scale" in weak
    assert "at least 2 times the scale" in weak


def test_a_tie_with_the_margin_does_not_beat_it() -> None:
    trace = trace_of([1, 0.75], [0, 0])
    assert robustness(CLEAR, trace)[0][0] == 0.5
    assert judge(claim_of(quantile(CLEAR, 0.05) > 0.5), trace).status == "violated"
    assert judge(claim_of(quantile(CLEAR, 0.05) >= 0.5), trace).status == "satisfied"


@pytest.mark.parametrize("statement", [prob(CLEAR, given=FAULT) < 0.1, quantile(CLEAR, 0.1) > 0])
def test_a_bound_without_a_claim_is_no_subject(
    statement: ConditionalBound | QuantileBound,
) -> None:
    with pytest.raises(TypeError, match=r"write safegym\.Claim\(id="):
        check(statement, trace_of([1], [0]))  # type: ignore[arg-type]  # on purpose


MEAN = claim_of(mean(fraction(X > 0.25)) >= 0.5)


@pytest.mark.parametrize("backend", ["monitor", "z3"])
def test_checking_a_mean_says_how_to_measure_it(backend: Literal["monitor", "z3"]) -> None:
    with pytest.raises(
        UnsupportedError, match=r"measure\(claim, trace\).*state fraction\(f\) >= c"
    ):
        check(MEAN, trace_of([1], [0]), backend)
    assert not support(MEAN).ok
    assert not BACKEND.support(MEAN).ok


@pytest.mark.parametrize(
    ("x", "end", "horizon", "lo", "hi"),
    [
        ([1, 0, 1, 1], "absorbed", None, 0.75, 0.75),
        ([1, 0, 1, 1], "failed", 9, 0.75, 0.75),
        ([1, 0, 1, 1], "cut", 9, 0.75, 0.75),
        ([1, 0, 1, 1], "horizon", 3, 0.75, 0.75),
        ([1, 0, 1, 1, 0, 0], "horizon", 3, 0.75, 0.75),  # a tail is no part of the episode
        ([1, 0, 1, 1], "interrupted", 7, 3 / 8, 7 / 8),
        ([1, 0, 1, 1], "interrupted", None, 0.0, 1.0),
    ],
)
def test_a_share_is_measured_over_the_samples_that_an_episode_has(
    x: list[float], end: EndKind, horizon: int | None, lo: float, hi: float
) -> None:
    found = measure(MEAN, trace_of(x, [0.0] * len(x), end, horizon))
    assert (found.claim_id, found.lo, found.hi) == ("a.claim", lo, hi)


def test_a_share_that_binary64_cannot_hold_is_rounded_outward() -> None:
    found = measure(MEAN, trace_of([1, 0, 0], [0, 0, 0]))
    assert found.lo < found.hi
    assert np.nextafter(found.lo, 1) == found.hi
    assert found.lo <= 1 / 3 <= found.hi


def test_only_a_claim_about_a_mean_is_measured() -> None:
    with pytest.raises(UnsupportedError, match=r"kind 'trace'.*safegym\.check\(claim, trace\)"):
        measure(claim_of(CLEAR), trace_of([1], [0]))
    with pytest.raises(TypeError, match="measure takes a Claim about a mean, found Always"):
        measure(CLEAR, trace_of([1], [0]))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TraceError, match=r"a\.claim"):
        measure(MEAN, Trace.from_arrays({"y": [1.0]}, dt="0.1"))
    with pytest.raises(TypeError, match="Verdicts are about a Trace"):
        measure(MEAN, [1.0])  # type: ignore[arg-type]  # on purpose
