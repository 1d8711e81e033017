"""Anytime limits: the same family as the decisions, and coverage computed exactly."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import (
    EProcess,
    interval,
    lower_limit,
    lower_limits,
    operating,
    upper_limit,
    upper_limits,
)
from safegym.check.statistics.beta_mixture import beta_mixture_limits, beta_mixture_upper
from safegym.check.statistics.search import least_float
from safegym.errors import EvidenceError


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 3000))
    k = min(n, draw(st.one_of(st.integers(0, 12), st.integers(0, 3000))))
    return k, n


@given(kn=counts(), level=st.floats(1e-3, 0.3))
@settings(deadline=None, derandomize=True, max_examples=25)
def test_upper_limit_is_the_very_number_at_which_the_e_process_starts_to_claim(
    kn: tuple[int, int], level: float
) -> None:
    k, n = kn
    limit = upper_limit(k, n, level=level)
    if limit == 1.0:
        assert k == n or EProcess(1 - 1e-12, level).kmax(n) < k
        return
    if limit < 1 - 1e-9:
        assert EProcess(limit, level).kmax(n) >= k
        assert EProcess(math.nextafter(limit, 0.0), level).kmax(n) < k
    assert limit > k / n


@given(kn=counts(), level=st.floats(1e-3, 0.3))
@settings(deadline=None, derandomize=True, max_examples=25)
def test_lower_limit_is_the_very_number_at_which_the_mirror_stops_to_claim(
    kn: tuple[int, int], level: float
) -> None:
    k, n = kn
    limit = lower_limit(k, n, level=level)
    if limit <= 1e-9:
        assert k <= 3
        return
    least = EProcess(limit, level).kmin(n)
    assert least is not None
    assert least <= k
    above = EProcess(math.nextafter(limit, 1.0), level).kmin(n)
    assert above is None or above > k
    assert limit < k / n


@pytest.mark.parametrize("level", [0.05, 0.001])
def test_array_limits_enclose_the_exact_ones_closely(level: float) -> None:
    pairs = [(0, 1), (0, 300), (1, 2), (3, 40), (3, 2000), (50, 100), (99, 100), (7, 7), (0, 0)]
    k, n = (np.array(column) for column in zip(*pairs, strict=True))
    upper, lower = upper_limits(k, n, level=level), lower_limits(k, n, level=level)
    for i, (violations, episodes) in enumerate(pairs):
        exact = upper_limit(violations, episodes, level=level)
        assert exact <= upper[i] <= min(1.0, exact * (1 + 1e-9))
        exact = lower_limit(violations, episodes, level=level)
        assert exact * (1 - 1e-9) <= lower[i] <= exact


def test_no_violations_never_give_a_zero_upper_limit() -> None:
    for n in (1, 10, 10**4, 10**8, 10**12):
        assert 0.0 < upper_limit(0, n, level=0.05) < 1.0
        assert lower_limit(0, n, level=0.05) == 0.0
    assert upper_limit(0, 0, level=0.05) == 1.0
    assert upper_limit(5, 5, level=0.05) == 1.0


def test_limits_move_the_right_way_with_the_counts() -> None:
    n = np.arange(1, 2001)
    assert np.all(np.diff(upper_limits(np.zeros_like(n), n, level=0.05)) < 0)
    k = np.arange(0, 201)
    assert np.all(np.diff(upper_limits(k, 200, level=0.05)) >= 0)
    assert np.all(np.diff(lower_limits(k, 200, level=0.05)) >= 0)


def test_undecided_episodes_widen_both_limits() -> None:
    upper, lower = (
        upper_limit(4, 50, level=0.05, undecided=3),
        lower_limit(4, 50, level=0.05, undecided=3),
    )
    assert upper == upper_limit(7, 50, level=0.05)
    assert lower == lower_limit(4, 50, level=0.05)


def test_counts_and_levels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(EvidenceError, match="more than all"):
        upper_limit(3, 2, level=0.05)
    with pytest.raises(EvidenceError, match="more than all"):
        lower_limit(2, 2, level=0.05, undecided=1)
    with pytest.raises(EvidenceError, match="level"):
        upper_limit(0, 2, level=0.0)
    with pytest.raises(EvidenceError, match="whole"):
        upper_limits([0.5], [2], level=0.05)


def misses(p: float, n_max: int, outside: np.ndarray) -> float:
    """Exact P(some n <= n_max has outside[n, k]) for X_i ~ Bernoulli(p)."""
    open_ = np.zeros(n_max + 1)
    open_[0] = 1.0
    gone = 0.0
    for n in range(1, n_max + 1):
        moved = open_[:n] * p
        open_[: n + 1] *= 1.0 - p
        open_[1 : n + 1] += moved
        out = outside[n, : n + 1]
        gone += float(open_[: n + 1][out].sum())
        open_[: n + 1][out] = 0.0
    return gone


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5])
def test_beta_mixture_covers_at_every_peek_up_to_250(p: float) -> None:
    n_max = 250
    n, k = np.meshgrid(np.arange(n_max + 1), np.arange(n_max + 1), indexing="ij")
    lower, upper = beta_mixture_limits(np.minimum(k, n), n, 0.05)
    outside = (p < lower) | (p > upper)
    assert misses(p, n_max, outside) <= 0.05


@pytest.mark.parametrize("p", [0.001, 0.01, 0.1, 0.5])
def test_beta_mixture_covers_at_every_peek_up_to_5000(p: float) -> None:
    """Limits rise with k, so the counts that miss p lie at both ends and are found by halving."""
    n = np.arange(1, 5001)

    def first(holds: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        low, high = np.full(5000, -1), n + 1
        for _ in range(14):
            middle = (low + high) // 2
            inside = (middle > low) & (middle < high)
            found = holds(np.clip(middle, 0, n))
            high = np.where(inside & found, middle, high)
            low = np.where(inside & ~found, middle, low)
        return high

    reached = first(lambda k: beta_mixture_limits(k, n, 0.05)[1] >= p)
    passed = first(lambda k: beta_mixture_limits(k, n, 0.05)[0] > p)
    assert np.all(reached <= passed)
    open_, gone = np.zeros(5001), 0.0
    open_[0] = 1.0
    for i in range(5000):
        moved = open_[: i + 1] * p
        open_[: i + 2] *= 1.0 - p
        open_[1 : i + 2] += moved
        for out in (slice(0, reached[i]), slice(passed[i], i + 2)):
            gone += float(open_[out].sum())
            open_[out] = 0.0
    assert 0.0 < gone <= 0.05


@pytest.mark.parametrize("p", [0.001, 0.01, 0.08, 0.5, 0.95])
def test_e_process_limits_cover_at_every_peek_up_to_5000(p: float) -> None:
    """By the two equalities above, a limit misses p exactly when EProcess(p, level) claims."""
    run = operating(p, p, 0.025, cap=5000)
    assert run.below + run.above <= 0.05


def test_array_limits_cover_when_used_as_they_are() -> None:
    p, n_max = 0.03, 160
    n, k = np.tril_indices(n_max + 1)
    upper, lower = upper_limits(k, n, level=0.025), lower_limits(k, n, level=0.025)
    outside = np.zeros((n_max + 1, n_max + 1), dtype=bool)
    outside[n, k] = (p >= upper) | (p <= lower)
    run = operating(p, p, 0.025, cap=n_max)
    assert misses(p, n_max, outside) == pytest.approx(run.below + run.above, abs=1e-12)


def test_anytime_intervals_through_the_one_door() -> None:
    lo, hi = interval(5, 100, confidence=0.95, method="e-process")
    assert lo == lower_limit(5, 100, level=Fraction(interval_level(0.95)) / 2)
    assert hi == upper_limit(5, 100, level=Fraction(interval_level(0.95)) / 2)
    lo, hi = interval(5, 100, confidence=0.95, method="beta-mixture")
    assert 0 < lo < 0.05 < hi < 1


def interval_level(confidence: float) -> float:
    from safegym.check.statistics import claim_level

    return claim_level(confidence)


@given(answer=st.floats(1e-300, 0.999999), guess=st.floats(0.0, 1.0))
@settings(deadline=None, derandomize=True)
def test_float_search_finds_the_first_number_from_any_guess(answer: float, guess: float) -> None:
    assert least_float(lambda x: x >= answer, guess) == answer


def test_float_search_answers_one_where_nothing_holds() -> None:
    assert least_float(lambda x: False, 0.3) == 1.0
    assert least_float(lambda x: True, 0.3) == math.nextafter(0.0, 1.0)


def log_gamma(x: Decimal) -> Decimal:
    """Stirling's series, right to 18 places for x >= 30."""
    series = [(1, 12, 1), (-1, 360, 3), (1, 1260, 5), (-1, 1680, 7), (1, 1188, 9)]
    tail = sum((Decimal(sign) / (by * x**power) for sign, by, power in series), Decimal(0))
    return (x - Decimal("0.5")) * x.ln() - x + (2 * Decimal(math.pi)).ln() / 2 + tail


@pytest.mark.parametrize(("v", "n"), [(30, 10**7), (300, 10**8), (10**6, 10**12)])
def test_beta_mixture_limits_of_huge_samples_are_outside_those_of_sixty_digits(
    v: int, n: int
) -> None:
    """Log gammas near n log n lose what the level needs: the slack must grow with them."""
    with localcontext() as context:
        context.prec = 60
        half, goal = Decimal("0.5"), -Decimal("0.05").ln()
        mixed = log_gamma(v + half) + log_gamma(n - v + half) - log_gamma(Decimal(n + 1))
        mixed -= Decimal(math.pi).ln()

        def log_ratio(end: float) -> Decimal:
            return mixed - v * Decimal(end).ln() - (n - v) * (1 - Decimal(end)).ln()

        lower, upper = beta_mixture_limits(v, n, 0.05)
        assert log_ratio(float(lower)) >= goal
        assert log_ratio(float(upper)) >= goal
        one_sided = float(beta_mixture_upper(v, n, 0.05))
        cut = Decimal(math.log(2 / math.pi * math.asin(math.sqrt(one_sided))))
        assert log_ratio(one_sided) - cut >= goal
