"""Fixed-n intervals against exact binomial tails, and the refusals of the one door."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from safegym.check.statistics import VALIDITY, claim_level, interval, labelled_interval
from safegym.check.statistics import clopper_pearson as module
from safegym.check.statistics.clopper_pearson import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    lower_tail_at_most,
)
from safegym.errors import EvidenceError

METHODS = sorted(VALIDITY)
SIDES = ["two", "upper", "lower"]


def tail(k: int, n: int, p: Fraction) -> Fraction:
    """P(X <= k) in rational numbers."""
    q = 1 - p
    return sum((math.comb(n, i) * p**i * q ** (n - i) for i in range(k + 1)), Fraction(0))


@given(n=st.integers(1, 40), data=st.data(), level=st.sampled_from([0.05, 0.025, 0.001, 0.3]))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_clopper_pearson_limits_are_right_to_the_last_bit(
    n: int, data: st.DataObject, level: float
) -> None:
    k = data.draw(st.integers(0, n))
    exact = Fraction(level)
    upper, lower = clopper_pearson_upper(k, n, exact), clopper_pearson_lower(k, n, exact)
    if k < n:
        assert tail(k, n, Fraction(upper)) <= exact
        assert tail(k, n, Fraction(math.nextafter(upper, 0.0))) > exact
    else:
        assert upper == 1.0
    if k > 0:
        assert 1 - tail(k - 1, n, Fraction(lower)) <= exact
        assert 1 - tail(k - 1, n, Fraction(math.nextafter(lower, 1.0))) > exact
    else:
        assert lower == 0.0


@pytest.mark.parametrize(("k", "n"), [(0, 10), (5, 100), (3, 5000), (4990, 5000), (2500, 5000)])
def test_clopper_pearson_agrees_with_scipys_beta_quantiles(k: int, n: int) -> None:
    lo, hi = interval(k, n, confidence=0.95)
    assert lo == pytest.approx(stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0, rel=1e-9)
    assert hi == pytest.approx(stats.beta.ppf(0.975, k + 1, n - k), rel=1e-9)


def test_known_numbers_of_clean_episodes_at_fixed_n() -> None:
    for n, confidence in ((299, 0.95), (459, 0.99)):
        assert interval(0, n, confidence=confidence, side="upper")[1] < 0.01
        assert interval(0, n - 1, confidence=confidence, side="upper")[1] > 0.01


@pytest.mark.parametrize("method", ["clopper-pearson", "hoeffding"])
@pytest.mark.parametrize("side", SIDES)
def test_coverage_at_fixed_n_is_at_least_the_confidence_everywhere(method: Any, side: Any) -> None:
    n = 30
    limits = np.array(
        [interval(k, n, confidence=0.9, method=method, side=side) for k in range(n + 1)]
    )
    ends = np.unique(limits)
    for p in np.concatenate([np.linspace(0, 1, 201), ends, np.nextafter(ends, 0.0)]):
        chances = stats.binom.pmf(np.arange(n + 1), n, p)
        inside = (limits[:, 0] <= p) & (p <= limits[:, 1])
        assert chances[inside].sum() >= 0.9 - 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_no_episode_says_nothing_and_no_violation_never_gives_zero(method: Any) -> None:
    for side in SIDES:
        assert interval(0, 0, method=method, side=side) == (0.0, 1.0)  # type: ignore[arg-type]  # from a list
    for n in (1, 3, 1000):
        lo, hi = interval(0, n, method=method)
        assert lo == 0.0
        assert 0.0 < hi <= 1.0
        lo, hi = interval(n, n, method=method)
        assert 0.0 <= lo < 1.0
        assert hi == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_limits_are_ordered_nested_and_labelled(method: Any) -> None:
    for k, n in ((1, 20), (10, 20), (19, 20), (7, 900)):
        lo, hi = interval(k, n, confidence=0.9, method=method)
        wide_lo, wide_hi = interval(k, n, confidence=0.999, method=method)
        assert 0 <= wide_lo <= lo <= k / n <= hi <= wide_hi <= 1
        assert interval(k, n, confidence=0.9, method=method, side="upper")[0] == 0.0
        assert interval(k, n, confidence=0.9, method=method, side="upper")[1] <= hi
        assert interval(k, n, confidence=0.9, method=method, side="lower")[0] >= lo
    found = labelled_interval(1, 20, method=method)
    assert found.validity == VALIDITY[found.method]
    assert (found.lo, found.hi) == interval(1, 20, method=method)
    assert found.validity in ("fixed_n", "anytime")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 3, "n": 2}, "more events than episodes"),
        ({"k": -1, "n": 2}, "must be >= 0"),
        ({"k": 0.5, "n": 2}, "whole number"),
        ({"k": 1, "n": True}, "whole number"),
        ({"k": 1, "n": 2, "method": "wald"}, "do not hold their confidence"),
        ({"k": 1, "n": 2, "side": "left"}, "'two', 'upper' or 'lower'"),
        ({"k": 1, "n": 2, "confidence": 1.0}, "confidence"),
        ({"k": 1, "n": 2, "confidence": 0.0}, "confidence"),
        ({"k": 1, "n": 2, "confidence": float("nan")}, "confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    k, n = arguments.pop("k"), arguments.pop("n")
    with pytest.raises(EvidenceError, match=message):
        interval(k, n, **arguments)


def test_numpy_counts_are_understood() -> None:
    assert interval(np.int64(1), np.int64(20)) == interval(1, 20)


def test_tails_are_summed_over_the_shorter_side_with_one_answer() -> None:
    for k, n in ((0, 9), (3, 9), (7, 9), (8, 9)):
        for p in (Fraction(1, 7), Fraction(0.5), Fraction(0.93)):
            exact = tail(k, n, p)
            assert lower_tail_at_most(k, n, p, exact * (1 + Fraction(1, 10**40)))
            assert not lower_tail_at_most(k, n, p, exact * (1 - Fraction(1, 10**40)))


def test_very_long_tails_move_outward_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    level = Fraction(claim_level(0.95))
    exact = clopper_pearson_upper(30, 90, level), clopper_pearson_lower(30, 90, level)
    monkeypatch.setattr(module, "MOST_TERMS", 10)
    upper, lower = clopper_pearson_upper(30, 90, level), clopper_pearson_lower(30, 90, level)
    assert exact[0] < upper < exact[0] * (1 + 1e-8)
    assert exact[1] * (1 - 1e-8) < lower < exact[1]


@pytest.mark.parametrize("level", [1e-2, 1e-12, 1e-13, 1e-15])
def test_an_upper_limit_at_a_tiny_level_is_not_below_the_exact_one(level: float) -> None:
    """With 1 - level rounded to binary64 it was, by 2e-7 of it, where counts are large."""
    upper = clopper_pearson_upper(30_000, 10_000_000, Fraction(level))
    assert stats.binom.cdf(30_000, 10_000_000, upper) <= level * (1 + 1e-6)
    assert stats.binom.cdf(30_000, 10_000_000, upper * (1 - 1e-8)) > level


def test_a_refused_confidence_is_told_a_confidence_that_works() -> None:
    with pytest.raises(EvidenceError, match=r"write for example confidence=0\.95"):
        interval(3, 40, confidence=95)
