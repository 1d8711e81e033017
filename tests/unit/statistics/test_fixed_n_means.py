"""Fixed-n bounds on means, quantiles and the worst share, against exact chances."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from safegym.check.statistics import (
    FixedValues,
    dkw_radius,
    episodes_for_quantile,
    interval,
    quantile_band,
    quantile_limits,
    worst_mean_limits,
)
from safegym.check.statistics.bounded_mean import kl_upper, maurer_pontil_upper, relative_entropy
from safegym.errors import EvidenceError

METHODS = ["hoeffding", "kl", "maurer-pontil"]


def sample(values: Any, **ends: float) -> FixedValues:
    filled = FixedValues(len(values), **ends)
    for value in values:
        filled.update(float(value))
    return filled


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 9])
def test_means_of_three_point_values_are_covered_by_exact_enumeration(method: Any, n: int) -> None:
    """Counts of each value carry the chance of a sample: all multisets, each side at its level."""
    points = (0.0, 0.4, 1.0)
    for chances in ((0.9, 0.05, 0.05), (0.2, 0.5, 0.3), (0.0, 0.02, 0.98)):
        mean = sum(p * c for p, c in zip(points, chances, strict=True))
        missed = [0.0, 0.0]
        for a, b in itertools.product(range(n + 1), repeat=2):
            if a + b > n:
                continue
            counts = (a, b, n - a - b)
            chance = float(stats.multinomial.pmf(counts, n, chances))
            values = [p for p, k in zip(points, counts, strict=True) for _ in range(k)]
            lo, hi = sample(values, low=0.0, high=1.0).mean_limits(level=0.1, method=method)
            missed[0] += chance * (mean < lo)
            missed[1] += chance * (mean > hi)
        assert max(missed) <= 0.1 + 1e-9


def test_maurer_pontil_is_its_formula() -> None:
    values = np.random.default_rng(0).random(40)
    for level in (0.05, 0.001):
        expected = (
            values.mean()
            + math.sqrt(2 * values.var(ddof=1) * math.log(2 / level) / 40)
            + 7 * math.log(2 / level) / (3 * 39)
        )
        found = maurer_pontil_upper(values, math.log(1 / level))
        assert found == pytest.approx(min(1.0, expected), abs=1e-11)
        assert found >= min(1.0, expected)


def test_kl_solves_its_equation_from_outside_and_is_never_wider_than_hoeffding() -> None:
    for k, n in ((0, 10), (1, 20), (10, 20), (19, 20), (3, 5000)):
        limit = kl_upper(k / n, n, math.log(20))
        assert n * relative_entropy(k / n, limit) == pytest.approx(math.log(20), rel=1e-6)
        assert n * relative_entropy(k / n, limit) >= math.log(20)
        for side in ("upper", "lower", "two"):
            kl = interval(k, n, method="kl", side=side)  # type: ignore[arg-type]  # a side
            hoeffding = interval(k, n, method="hoeffding", side=side)  # type: ignore[arg-type]  # a side
            exact = interval(k, n, side=side)  # type: ignore[arg-type]  # a side
            assert hoeffding[0] <= kl[0] <= exact[0] <= exact[1] <= kl[1] <= hoeffding[1]


def test_ranges_and_open_values_shift_and_widen() -> None:
    values = np.linspace(0.2, 0.4, 50)
    for method in METHODS:
        lo, hi = sample(values, low=0.0, high=1.0).mean_limits(level=0.05, method=method)  # type: ignore[arg-type]  # a name
        wide = sample(4 * values - 2, low=-2.0, high=2.0).mean_limits(level=0.05, method=method)  # type: ignore[arg-type]  # a name
        assert wide == pytest.approx((4 * lo - 2, 4 * hi - 2), abs=1e-9)
        open_ = FixedValues(50, low=0.0, high=1.0)
        for value in values:
            open_.update(value - 0.1, value + 0.1)
        low, high = open_.mean_limits(level=0.05, method=method)  # type: ignore[arg-type]  # a name
        assert low < lo < hi < high
    with pytest.raises(EvidenceError, match="range declared"):
        sample(values).mean_limits(level=0.05)
    with pytest.raises(EvidenceError, match="not one of hoeffding"):
        sample(values, low=0.0, high=1.0).mean_limits(level=0.05, method="wald")  # type: ignore[arg-type]  # the refusal under test


def tails(n: int, q: Fraction) -> list[Fraction]:
    """P(Binomial(n, q) < r) for r = 0..n + 1, over one denominator."""
    good, bad, whole = q.numerator, q.denominator - q.numerator, q.denominator**n
    terms = (math.comb(n, i) * good**i * bad ** (n - i) for i in range(n + 1))
    return [Fraction(total, whole) for total in itertools.accumulate(terms, initial=0)]


@pytest.mark.parametrize("q", [0.05, 0.5, 0.93])
@pytest.mark.parametrize("n", [1, 7, 30, 90])
def test_wilks_ranks_are_the_best_that_exact_tails_allow(q: float, n: int) -> None:
    level, share = Fraction(0.05), Fraction(q)
    lo, hi = quantile_limits(sample(range(1, n + 1)), q, level=0.05)
    tail = tails(n, share)
    below = max(r for r in range(n + 1) if tail[r] <= level)
    above = min((s for s in range(1, n + 1) if 1 - tail[s] <= level), default=None)
    assert lo == (below or -math.inf)
    assert hi == (math.inf if above is None else above)


def test_the_smallest_of_59_bounds_the_five_per_cent_quantile() -> None:
    assert episodes_for_quantile(0.05, level=0.05) == 59
    assert episodes_for_quantile(Fraction(1, 100), level=Fraction(1, 100)) == 459
    values = np.random.default_rng(1).normal(size=59)
    assert quantile_limits(sample(values), 0.05, level=0.05)[0] == values.min()
    assert quantile_limits(sample(values[:58]), 0.05, level=0.05)[0] == -math.inf


def test_bands_hold_all_quantiles_at_once_and_contain_the_single_ones() -> None:
    rng = np.random.default_rng(2)
    n, missed = 60, 0
    qs = np.linspace(0.02, 0.98, 25)
    for _ in range(120):
        values = sample(rng.random(n), low=0.0, high=1.0)
        band = [quantile_band(values, float(q), level=0.1) for q in qs]
        missed += any(lo > q for (lo, _), q in zip(band, qs, strict=True))
        single = quantile_limits(values, 0.5, level=0.1)
        assert band[12][0] <= single[0] <= single[1] <= band[12][1]
    assert missed / 120 <= 0.1 + 3 * math.sqrt(0.09 / 120)


def test_dkw_radius_is_massarts() -> None:
    assert dkw_radius(100, level=0.05) == pytest.approx(math.sqrt(math.log(20) / 200))
    for n, level in ((0, 0.05), (10, 0.6)):
        with pytest.raises(EvidenceError, match="level of at most"):
            dkw_radius(n, level=level)


def slow_worst_mean(values: np.ndarray, q: float, shift: float) -> float:
    """The integral of the shifted quantile function as a fine sum, values in [0, 1]."""
    u = (np.arange(200_000) + 0.5) / 200_000 * q + shift
    ordered = np.sort(values)
    index = np.ceil(u * values.size).astype(int) - 1
    inside = ordered[np.clip(index, 0, values.size - 1)]
    return float(np.where(u <= 0, 0.0, np.where(u > 1, 1.0, inside)).mean())


@pytest.mark.parametrize(("n", "q"), [(40, 0.1), (200, 0.1), (500, 0.5), (30, 0.95)])
def test_the_worst_share_is_the_integral_written_out(n: int, q: float) -> None:
    values = np.random.default_rng(3).beta(2, 3, size=n)
    lo, hi = worst_mean_limits(sample(values, low=0.0, high=1.0), q, level=0.05)
    reach = dkw_radius(n, level=0.05)
    assert lo == pytest.approx(slow_worst_mean(values, q, -reach), abs=2e-4)
    assert hi == pytest.approx(slow_worst_mean(values, q, reach), abs=2e-4)
    counted = slow_worst_mean(values, q, 0.0)
    assert lo < counted < hi


def test_the_worst_share_is_covered_and_needs_its_range() -> None:
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(200):
        lo, hi = worst_mean_limits(sample(rng.random(80), low=0.0, high=1.0), 0.2, level=0.05)
        missed += not lo <= 0.1 <= hi
    assert missed / 200 <= 0.1
    values = sample(rng.normal(size=80))
    assert worst_mean_limits(values, 0.2, level=0.05)[0] == -math.inf


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, math.nan])
def test_quantiles_outside_are_refused(q: float) -> None:
    for bound in (quantile_limits, quantile_band, worst_mean_limits):
        with pytest.raises(EvidenceError, match="q"):
            bound(sample([0.1, 0.2]), q, level=0.05)
    with pytest.raises(EvidenceError, match="level"):
        quantile_limits(sample([0.1, 0.2]), 0.5, level=0)
