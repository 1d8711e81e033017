"""Defects measured in other monitors, each kept out by a test."""

import pickle
import warnings

import numpy as np
import pytest

from safegym.check.monitor import Monitor, judge, robustness
from safegym.errors import TraceError
from safegym.formula.build import always, eventually
from safegym.formula.terms import Apply, Signal
from safegym.trace.model import Trace

X = Signal("x")


def trace(x: list[float], end: str = "horizon") -> Trace:
    return Trace.from_arrays({"x": x}, dt="0.1", end=end)  # type: ignore[arg-type]  # a kind


def test_nan_is_refused_with_its_signal_and_sample_never_dropped() -> None:
    seen = trace([1.0, 1.0, 1.0])
    spoilt = np.array([1.0, np.nan, 1.0])
    object.__setattr__(seen, "signals", {"x": spoilt})
    with pytest.raises(TraceError, match="Signal x is not finite at sample 1"):
        judge(always(X > 0), seen)
    with pytest.raises(TraceError, match="Signal x is not finite at sample 0 of episode 1"):
        Monitor(always(X > 0), "0.1", 2).update({"x": np.array([1.0, np.inf])})


def test_a_window_past_the_end_is_not_satisfied() -> None:
    assert judge(always(X > 0, lasting="1"), trace([1.0, 1.0])).status == "inconclusive"


def test_an_unresolved_eventually_is_not_satisfied() -> None:
    verdict = judge(eventually(X > 0, within="1"), trace([-1.0, -1.0], "interrupted"))
    assert verdict.status == "inconclusive"


def test_x_above_0_does_not_hold_at_0_and_x_at_least_0_does() -> None:
    strict, loose = judge(X > 0, trace([0.0])), judge(X >= 0, trace([0.0]))
    assert strict.status == "violated"
    assert loose.status == "satisfied"
    for verdict in (strict, loose):
        assert verdict.robustness is not None
        assert (verdict.robustness.lo, verdict.robustness.hi) == (0.0, 0.0)
        assert any("touched exactly" in note for note in verdict.notes)
    assert judge(X >= 0, trace([-0.0])).status == "satisfied"


def test_everything_pickles() -> None:
    verdict = judge(always(X > 0), trace([1.0]))
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    monitor = Monitor(always(X > 0), "0.1", 2)
    monitor.update({"x": [1.0, 2.0]})
    copy = pickle.loads(pickle.dumps(monitor))
    one, other = (m.update({"x": [0.5, -1.0]}).episode for m in (monitor, copy))
    assert one.hi is not None
    assert other.hi is not None
    assert one.hi.tolist() == other.hi.tolist() == [0.5, -1.0]


def test_margins_that_overflow_are_infinite_never_nan() -> None:
    huge = Apply("min", (X, X)) - 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = robustness((huge > -1e308) & (X < 1e308), trace([1.7e308, -1.7e308]))
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()
    assert judge(X > -1e308, trace([1.7e308])).status == "satisfied"


def test_a_term_without_a_finite_value_is_refused() -> None:
    with pytest.raises(TraceError, match=r"no finite value at sample 1"):
        judge(always(Apply("sqrt", (X,)) >= 0), trace([1.0, -1.0]))
    with pytest.raises(TraceError, match=r"no finite value at sample 0"):
        judge(X * 1e300 * 1e300 > 0, trace([5.0]))


def test_subnormal_differences_keep_their_sign() -> None:
    tiny = 5e-324
    assert judge(X > 0, trace([tiny])).status == "satisfied"
    assert judge(X <= 0, trace([tiny])).status == "violated"
