"""Confidence sequences: one-sided mixtures, running intersections, plug-in bets; exact coverage."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from safegym.check.statistics import (
    ConfidenceSequence,
    interval,
    mean_limits,
    process_interval,
)
from safegym.check.statistics.beta_mixture import beta_mixture_limits, beta_mixture_upper
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.grid import RATIOS
from safegym.check.statistics.limits import lower_limits, upper_limits
from safegym.check.statistics.plug_in import BOLDEST, betting_upper
from safegym.errors import EvidenceError

Ends = Callable[[np.ndarray, np.ndarray], np.ndarray]


def uncovered(p: float, n_max: int, lower: Ends | None, upper: Ends | None) -> float:
    """Exact P(some n <= n_max has p outside), for limits that rise with the violations."""
    n = np.arange(1, n_max + 1)

    def first(holds: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        low, high = np.full(n_max, -1), n + 1
        while np.any(high - low > 1):
            middle = (low + high) // 2
            inside = (middle > low) & (middle < high)
            found = holds(np.clip(middle, 0, n))
            high = np.where(inside & found, middle, high)
            low = np.where(inside & ~found, middle, low)
        return high

    reached = first(lambda k: upper(k, n) >= p) if upper else np.zeros(n_max, dtype=int)
    passed = first(lambda k: lower(k, n) > p) if lower else n + 1
    open_, gone = np.zeros(n_max + 1), 0.0
    open_[0] = 1.0
    for i in range(n_max):
        moved = open_[: i + 1] * p
        open_[: i + 2] *= 1.0 - p
        open_[1 : i + 2] += moved
        for out in (slice(0, reached[i]), slice(passed[i], i + 2)):
            gone += float(open_[out].sum())
            open_[out] = 0.0
    return gone


BOUNDS: dict[str, tuple[Ends | None, Ends | None]] = {
    "beta-mixture two": (
        lambda k, n: beta_mixture_limits(k, n, 0.05)[0],
        lambda k, n: beta_mixture_limits(k, n, 0.05)[1],
    ),
    "beta-mixture upper": (None, lambda k, n: beta_mixture_upper(k, n, 0.05)),
    "beta-mixture lower": (lambda k, n: 1.0 - beta_mixture_upper(n - k, n, 0.05), None),
    "e-process two": (
        lambda k, n: lower_limits(k, n, level=0.025),
        lambda k, n: upper_limits(k, n, level=0.025),
    ),
    "e-process upper": (None, lambda k, n: upper_limits(k, n, level=0.05)),
    "e-process lower": (lambda k, n: lower_limits(k, n, level=0.05), None),
}
P = [0.001, 0.01, 0.0101, 0.5, 0.97]


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("p", [0.01, 0.5, 0.97])
def test_every_anytime_bound_covers_at_every_peek_up_to_300(name: str, p: float) -> None:
    assert uncovered(p, 300, *BOUNDS[name]) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("p", P)
def test_every_anytime_bound_covers_at_every_peek_up_to_5000(name: str, p: float) -> None:
    """Exact: coverage over all n <= 5000 is at least .95."""
    assert uncovered(p, 5000, *BOUNDS[name]) <= 0.05


@pytest.mark.parametrize(("v", "n"), [(0, 1), (0, 300), (3, 40), (12, 20), (50, 5000)])
def test_the_one_sided_mixture_is_the_ratio_integrated_numerically(v: int, n: int) -> None:
    """At the limit the cut mixture stands at 1/level, by quadrature; beyond it stays above."""
    limit = float(beta_mixture_upper(v, n, 0.05))

    def ratio(c: float) -> float:
        def term(t: float) -> float:
            q = math.sin(t) ** 2  # the Beta(1/2, 1/2) weight is even in the angle t
            log = (v * math.log(q / c) if v else 0.0) + (n - v) * math.log((1 - q) / (1 - c))
            return math.exp(min(log, 600.0))

        angle = math.asin(math.sqrt(c))
        peak, spread = math.asin(math.sqrt(min(v / n, c))), 8.0 / math.sqrt(n)
        points = sorted({min(max(peak + i * spread, 1e-9), angle) for i in range(-2, 3)})
        found = integrate.quad(term, 0.0, angle, points=points, limit=600)
        return float(found[0]) / angle

    if limit < 1.0:
        assert ratio(limit) == pytest.approx(20.0, rel=1e-5)
        for c in np.linspace(limit, min(0.999, 1.3 * limit), 8)[1:]:
            assert ratio(float(c)) >= 20.0
    else:
        assert v == n or ratio(0.999999) < 20.0
    assert beta_mixture_upper(v, n, 0.05) > v / n


def test_one_sided_intervals_are_tighter_than_the_same_side_of_two() -> None:
    for k, n in ((0, 20), (1, 300), (10, 40), (39, 40)):
        lo, hi = interval(k, n, method="beta-mixture")
        assert interval(k, n, method="beta-mixture", side="upper")[1] <= hi
        assert interval(k, n, method="beta-mixture", side="lower")[0] >= lo
    assert beta_mixture_upper(5, 5, 0.05) == 1.0
    assert beta_mixture_upper(0, 0, 0.05) == 1.0


@pytest.mark.parametrize("method", ["beta-mixture", "e-process"])
@pytest.mark.parametrize("side", ["two", "upper", "lower"])
def test_a_sequence_says_at_each_look_what_a_single_interval_says(method: Any, side: Any) -> None:
    rng = np.random.default_rng(6)
    names, size = ["safe", "violated", "undecided", "skipped", "doubtful"], 20
    outcomes = rng.choice(names, p=[0.5, 0.2, 0.1, 0.1, 0.1], size=size).tolist()
    sequence, process = ConfidenceSequence(method=method, side=side), EProcess(0.5, 1e-12)
    lo, hi = 0.0, 1.0
    for outcome in outcomes:
        sequence.update_each([outcome])
        process.update_each([outcome])
        now = process_interval(process, method=method, side=side)
        assert (sequence.interval.lo, sequence.interval.hi) == (now.lo, now.hi)
        lo, hi = max(lo, now.lo), min(hi, now.hi)
    running = sequence.running
    assert running.running
    assert not sequence.interval.running
    assert (running.lo, running.hi) == pytest.approx((lo, hi), abs=1e-8)
    assert "running intersection" in running.words
    assert sequence.episodes == size


def test_running_limits_do_not_depend_on_how_episodes_are_handed_over() -> None:
    outcomes = (np.random.default_rng(7).random(400) < 0.2).tolist()
    names = ["violated" if bad else "safe" for bad in outcomes]
    whole, parts = ConfidenceSequence(), ConfidenceSequence()
    whole.update_each(names)  # type: ignore[arg-type]  # names
    for start, end in itertools.pairwise([0, 1, 13, 200, 400]):
        parts.update_each(names[start:end])  # type: ignore[arg-type]  # names
    assert whole.running == parts.running


def test_a_probability_that_moved_empties_the_running_intersection_and_is_reported() -> None:
    sequence = ConfidenceSequence()
    sequence.update_each(["safe"] * 400)
    sequence.update_each(["violated"] * 400)
    with pytest.raises(EvidenceError, match="check that policy and scenario did not change"):
        _ = sequence.running
    assert sequence.interval.lo < 0.5 < sequence.interval.hi


def test_the_running_intersection_covers_at_every_peek() -> None:
    """The same event as the limits' own: both fail only when some look misses p."""
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(100):
        sequence = ConfidenceSequence()
        sequence.update_each(["violated" if bad else "safe" for bad in rng.random(600) < 0.1])
        missed += not (sequence._lo[0] <= 0.1 <= sequence._hi[0])
    assert missed / 100 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


def test_every_bet_is_fair_at_the_mean_and_no_factor_is_negative() -> None:
    """In rationals over all sequences of two values: the mean of the wealth is at most 1.

    The bets are recomputed here from the formula, from the past alone.
    """
    for mean in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        total = Fraction(0)
        for trail in itertools.product((0, 1), repeat=7):
            chance, wealth, past = Fraction(1), Fraction(1), []
            for x in trail:
                bet = Fraction(min(slow_bet(past, math.log(20)), BOLDEST / (1 - float(mean))))
                factor = 1 - bet * (x - mean)
                assert factor >= 0
                wealth *= factor
                chance *= mean if x else 1 - mean
                past.append(x)
            total += chance * wealth
        assert total == 1


def slow_bet(past: list[int], goal: float) -> float:
    t = len(past) + 1
    means = [(0.5 + sum(past[: i + 1])) / (i + 2) for i in range(len(past))]
    spread = sum((x - m) ** 2 for x, m in zip(past, means, strict=True))
    variance = (0.25 + spread) / t
    return math.sqrt(2 * goal / (variance * t * math.log(t + 1)))


def test_betting_limits_are_where_the_slow_wealth_reaches_the_goal() -> None:
    values = (np.random.default_rng(9).random(60) < 0.3).astype(float)
    goal = math.log(20)
    limit = betting_upper(values, goal)

    def wealth(m: float) -> float:
        total = 0.0
        for t, x in enumerate(values):
            bet = min(slow_bet(values[:t].tolist(), goal), BOLDEST / (1 - m))
            total += math.log1p(-bet * (x - m))
        return total

    assert wealth(limit) >= goal
    assert wealth(limit * (1 - 1e-6)) < goal


MEANS = ["mixture", "betting", "empirical-bernstein"]
SHAPES: dict[str, tuple[float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "coin": (0.1, lambda rng, n: (rng.random(n) < 0.1).astype(float)),
    "near one": (0.99, lambda rng, n: rng.beta(99 * 0.3, 0.3, size=n)),
    "spread": (0.5, lambda rng, n: rng.beta(0.5, 0.5, size=n)),
}


@pytest.mark.parametrize("method", MEANS)
def test_all_short_runs_together_miss_the_mean_with_at_most_the_level(method: Any) -> None:
    """Exact enumeration of all paths of a coin, each end at level .2, at every peek."""
    trails = [trail for n in range(8) for trail in itertools.product((0.0, 1.0), repeat=n)]
    limits = {trail: mean_limits(trail, level=0.2, method=method) for trail in trails}
    for p in (0.2, 0.5, 0.9):
        missed = [0.0, 0.0]
        for trail in itertools.product((0.0, 1.0), repeat=7):
            chance = math.prod(p if x else 1 - p for x in trail)
            seen = [limits[trail[:n]] for n in range(8)]
            missed[0] += chance * any(lo > p for lo, _ in seen)
            missed[1] += chance * any(hi < p for _, hi in seen)
        assert max(missed) <= 0.2


def excluded(values: np.ndarray, mean: float, method: str, goal: float) -> np.ndarray:
    """Whether the upper limit of the first n values of a row lies below `mean`, n = 1..N.

    Limits rise in m through the place where the wealth at m reaches the goal, so only m = mean
    matters: written out here with running sums, shape (repeats, N).
    """
    n = np.arange(1.0, values.shape[1] + 1)
    if method == "mixture":
        total, weights = np.zeros_like(values), [0.5, *[0.5 / 12] * 12]
        for ratio, weight in zip([0.0, *RATIOS], weights, strict=True):
            good = (1 - ratio * mean) / (1 - mean)
            factor = values * (ratio - good) + good
            total += weight * np.multiply.accumulate(factor, axis=1, out=factor)
        return total >= math.exp(goal)
    means = (0.5 + np.cumsum(values, axis=1)) / (n + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2, axis=1)) / (n + 1)
    first = np.ones((len(values), 1))
    before = np.hstack([0.25 * first, variances[:, :-1]])
    size = np.sqrt(2 * goal / (before * n * np.log(n + 1)))
    if method == "betting":
        bet = np.minimum(size, BOLDEST / (1 - mean))
        return np.cumsum(np.log1p(-bet * (values - mean)), axis=1) >= goal
    size, centre = np.minimum(size, BOLDEST), np.hstack([0.5 * first, means[:, :-1]])
    spread = (values - centre) ** 2 * (-np.log1p(-size) - size)
    return np.cumsum(size * (values - mean) + spread, axis=1) + goal < 0


@pytest.mark.parametrize("method", MEANS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_limit_excludes_the_mean_exactly_where_the_wealth_at_it_has_reached_the_goal(
    method: Any, shape: str
) -> None:
    """A looser level, so that it happens, and at the mean of the values moved up a little."""
    _, draw = SHAPES[shape]
    values = draw(np.random.default_rng(14), 60)
    mean = min(0.995, float(values.mean()) + 0.15)
    out = excluded(values[None, :], mean, method, math.log(1 / 0.3))[0]
    found = [mean_limits(values[:n], level=0.3, method=method)[1] < mean for n in range(1, 61)]
    assert found == out.tolist()
    if shape != "near one":
        assert any(found)


@pytest.mark.slow
@pytest.mark.parametrize("method", MEANS)
@pytest.mark.parametrize("shape", SHAPES)
def test_two_thousand_runs_of_5000_keep_the_mean_at_every_peek(method: Any, shape: str) -> None:
    """Both ends together at 2 * .025; coverage of 2000 repeats must be at least .935."""
    mean, draw = SHAPES[shape]
    rng = np.random.default_rng(10)
    missed = 0
    for _ in range(20):
        values = draw(rng, 100 * 5000).reshape(100, 5000)
        out = excluded(values, mean, method, math.log(40))
        out |= excluded(1 - values, 1 - mean, method, math.log(40))
        missed += int(out.any(axis=1).sum())
    assert 1 - missed / 2000 >= 0.935


def test_methods_agree_on_what_they_bound_and_differ_in_width() -> None:
    rng = np.random.default_rng(11)
    narrow, wide = rng.beta(30, 0.3, size=400), rng.beta(0.5, 0.5, size=400)
    for values in (narrow, wide):
        for method in MEANS:
            lo, hi = mean_limits(values, level=0.05, method=method)  # type: ignore[arg-type]  # a name
            assert 0.0 <= lo < values.mean() < hi <= 1.0
    gaps = [mean_limits(narrow, level=0.05, method=m)[0] for m in MEANS]  # type: ignore[arg-type]  # names
    assert gaps[0] == max(gaps)
    gaps = [mean_limits(wide, level=0.05, method=m)[0] for m in MEANS]  # type: ignore[arg-type]  # names
    assert gaps[0] < max(gaps)
    with pytest.raises(EvidenceError, match="not one of mixture"):
        mean_limits(wide, level=0.05, method="normal")  # type: ignore[arg-type]  # the refusal under test


@pytest.mark.parametrize("method", MEANS)
def test_few_values_of_any_method_give_no_certain_answer(method: Any) -> None:
    assert mean_limits([], level=0.05, method=method) == (0.0, 1.0)
    lo, hi = mean_limits([1.0] * 3, level=0.05, method=method)
    assert 0.0 <= lo < 1.0 == hi
    lo, hi = mean_limits([0.3] * 4, [0.9] * 4, level=0.05, method=method)
    assert lo < 0.3
    assert hi > 0.9


def test_the_two_sided_beta_mixture_agrees_with_a_density_ratio() -> None:
    """At either end the ratio of the Beta(1/2, 1/2) mixture to the binomial stands at 20."""
    for v, n in ((2, 30), (15, 40)):
        lower, upper = beta_mixture_limits(v, n, 0.05)
        mixed = stats.betabinom.pmf(v, n, 0.5, 0.5)
        for p in (float(lower), float(upper)):
            assert mixed / stats.binom.pmf(v, n, p) == pytest.approx(20.0, rel=1e-6)


def test_a_fixed_n_bound_looked_at_again_and_again_misses_far_more_often_than_it_says() -> None:
    """Why it is refused: Clopper-Pearson's upper limit at 95 %, over all n <= 1000, exactly."""

    def upper(k: np.ndarray, n: np.ndarray) -> np.ndarray:
        return np.where(k < n, stats.beta.isf(0.05, k + 1.0, np.maximum(n - k, 0.5)), 1.0)

    assert uncovered(0.1, 1000, None, upper) > 0.15
