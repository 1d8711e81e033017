"""The rules of the language, each on a trace small enough to check by hand."""

import numpy as np
import pytest

from safegym.check.monitor import judge, robustness
from safegym.formula import nodes as n
from safegym.formula.build import (
    always,
    eventually,
    falling,
    fraction,
    historically,
    next_,
    once,
    previous,
    rising,
    weak_next,
    weak_previous,
)
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import EndKind, Trace

X, Y = Signal("x"), Signal("y")
UP, DOWN = X > 0, X < 0


def trace(x: list[float], end: EndKind = "horizon", horizon: int | None = None) -> Trace:
    return Trace.from_arrays({"x": x, "y": x[::-1]}, dt="0.1", end=end, horizon=horizon)


def status(formula: Formula, x: list[float], end: EndKind, horizon: int | None = None) -> str:
    return judge(formula, trace(x, end, horizon)).status


def test_until_excludes_the_witness_from_its_left_side() -> None:
    low, _ = robustness(UP.until(X < 0), trace([1.0, 2.0, -3.0]))
    assert low[0] == 1.0
    assert judge(UP.until(DOWN), trace([-1.0])).status == "satisfied"


def test_windows_include_both_ends() -> None:
    assert status(eventually(DOWN, window=("0.1", "0.2")), [1, 1, -1, 1], "cut") == "satisfied"
    assert status(eventually(DOWN, window=("0.1", "0.2")), [1, -1, 1, 1], "cut") == "satisfied"
    assert status(eventually(DOWN, window=("0.1", "0.2")), [-1, 1, 1, -1], "cut") == "violated"


def test_past_windows_are_cut_at_the_start() -> None:
    seen = trace([1, 1, 1])
    low, _ = robustness(once(UP, window=("0.1", "0.2")), seen)
    assert low.tolist() == [-np.inf, 1, 1]
    low, _ = robustness(historically(UP, window=("0.1", "0.2")), seen)
    assert low.tolist() == [np.inf, 1, 1]


def test_previous_is_false_and_weak_previous_true_at_sample_0() -> None:
    assert robustness(previous(UP), trace([1, 2]))[0].tolist() == [-np.inf, 1]
    assert robustness(weak_previous(UP), trace([1, 2]))[0].tolist() == [np.inf, 1]


def test_rising_counts_a_fault_present_at_reset_and_falling_does_not() -> None:
    assert judge(rising(UP), trace([1.0])).status == "satisfied"
    assert judge(falling(DOWN), trace([1.0])).status == "violated"


HOLD = always(UP, lasting="0.3")
REACH = eventually(DOWN, within="0.3")


@pytest.mark.parametrize(
    ("end", "hold", "reach"),
    [
        ("absorbed", "satisfied", "violated"),
        ("failed", "violated", "violated"),
        ("horizon", "inconclusive", "inconclusive"),
        ("interrupted", "inconclusive", "inconclusive"),
        ("cut", "satisfied", "violated"),
    ],
)
def test_a_window_past_the_end_follows_the_kind_of_end(end: EndKind, hold: str, reach: str) -> None:
    assert status(HOLD, [1, 1], end) == hold
    assert status(REACH, [1, 1], end) == reach


@pytest.mark.parametrize(
    ("end", "weak", "strong"),
    [
        ("absorbed", "satisfied", "satisfied"),
        ("failed", "violated", "violated"),
        ("horizon", "inconclusive", "inconclusive"),
        ("interrupted", "inconclusive", "inconclusive"),
        ("cut", "satisfied", "violated"),
    ],
)
def test_next_at_the_last_sample_follows_the_kind_of_end(
    end: EndKind, weak: str, strong: str
) -> None:
    assert status(weak_next(UP), [1], end) == weak
    assert status(next_(UP), [1], end) == strong


def test_dying_discharges_no_duty() -> None:
    assert status(always(UP.implies(eventually(DOWN, within="0.2"))), [1], "failed") == "violated"
    assert status(always(UP), [1, 1], "failed") == "satisfied"


def test_unbounded_operators_stay_open_when_interrupted_before_the_horizon() -> None:
    assert status(always(UP), [1, 1], "interrupted") == "inconclusive"
    assert status(always(UP), [1, -1], "interrupted") == "violated"
    assert status(eventually(UP), [-1, -1], "interrupted", 5) == "inconclusive"
    assert status(eventually(UP), [-1, 1], "interrupted", 5) == "satisfied"
    assert status(UP.until(Y > 9), [1, 1], "interrupted") == "inconclusive"
    assert status(UP.until(Y > 9), [1, -1], "interrupted") == "violated"
    assert status(always(UP), [1, 1, 1], "interrupted", 2) == "satisfied"


def test_the_tail_answers_bounded_windows_and_unbounded_ones_stop_at_the_horizon() -> None:
    recurrent = always(DOWN.implies(eventually(UP, within="0.2")))
    assert status(recurrent, [1, 1, -1, -1, 1], "horizon", 2) == "satisfied"
    assert status(recurrent, [1, 1, -1], "horizon", 2) == "inconclusive"
    assert status(always(UP), [1, 1, 1, -1], "horizon", 2) == "satisfied"
    assert status(eventually(DOWN), [1, 1, 1, -1], "horizon", 2) == "violated"


def test_kleene_is_sound_but_not_tight_past_the_end() -> None:
    formula = eventually(UP | ~UP, window=("0.5", "0.6"))
    assert status(formula, [1], "horizon") == "inconclusive"
    low, high = robustness(formula, trace([1.0]))
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_iff_and_xor_keep_their_sign() -> None:
    both = (X > 0).iff(Y > 0)
    assert robustness(both, trace([1.0, 1.0]))[0][0] == 1.0
    assert robustness(both, trace([2.0, -1.0]))[0][0] == -1.0
    assert robustness((X > 0).xor(Y > 0), trace([2.0, -1.0]))[0][0] == 1.0


def test_fraction_counts_samples_and_those_that_never_came_are_open() -> None:
    share = fraction(UP) >= 0.5
    assert status(share, [1, 1, -1, -1], "horizon") == "satisfied"
    assert status(share, [1, -1, -1], "horizon") == "violated"
    assert status(share, [1, 1], "interrupted", 3) == "satisfied"
    assert status(share, [1, -1], "interrupted", 3) == "inconclusive"
    assert status(share, [-1, -1, -1], "interrupted", 3) == "violated"
    assert status(share, [1, 1], "interrupted") == "inconclusive"
    verdict = judge(share, trace([1, -1], "interrupted", 3))
    assert verdict.robustness is not None
    assert (verdict.robustness.lo, verdict.robustness.hi) == (-0.25, 0.25)


def test_a_share_equal_to_its_decimal_bound_meets_it() -> None:
    assert status(fraction(UP) >= 0.1, [1] + [-1] * 9, "horizon") == "satisfied"
    assert status(fraction(UP) > 0.1, [1] + [-1] * 9, "horizon") == "violated"
    assert status(fraction(UP) >= 0.999, [1] * 999 + [-1], "horizon") == "satisfied"


def test_duplicated_parts_and_inputs_are_left_alone() -> None:
    formula = n.all_of(always(UP), eventually(always(UP)))
    data = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        assert robustness(formula, trace(data.tolist()))[0][0] == 1.0
    assert data.tolist() == [1.0, 2.0, 3.0]


def test_a_window_far_longer_than_the_trace_costs_no_memory() -> None:
    for node in (always, eventually, once, historically):
        word = {"always": "lasting", "historically": "lasting"}.get(node.__name__, "within")
        low, high = robustness(node(UP, **{word: 10**9}), trace([1.0, 2.0]))
        assert len(low) == len(high) == 2
    late = UP.until(DOWN, window=(10**8, 10**9))
    for kind in ("absorbed", "failed", "horizon", "interrupted", "cut"):
        assert judge(late, trace([1.0, 2.0], kind)).status in ("violated", "inconclusive")  # type: ignore[arg-type]  # a kind


@pytest.mark.parametrize("end", ["failed", "horizon", "interrupted"])
def test_rounding_an_unbounded_window_does_not_hide_that_none_of_its_samples_came(
    end: EndKind,
) -> None:
    """always[0.05,inf] at dt 0.1 reads samples 1, 2, ...; sample 0, put in front, is no answer."""
    one = trace([1.0], end)
    for formula in (
        always(UP, window=("0.05", None)),
        DOWN.release(UP, window=("0.05", None)),
    ):
        rounded = judge(Claim(id="a", statement=formula, rounding="conservative"), one)
        as_written = judge(always(UP, window=("0.1", None)), one)
        assert rounded.status == as_written.status != "satisfied"
