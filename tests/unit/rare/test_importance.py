"""Weighted inputs: exact density ratios, a bound that is never passed, and limits that hold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rare_chains import corner_probability, mean_and_error
from scipy import integrate, stats

from safegym.check.rare.bounded import bounded_mean
from safegym.check.rare.episodes import Seen
from safegym.check.rare.importance import WeightedRun, importance
from safegym.check.rare.proposal import Proposal, fitted, nominal
from safegym.check.rare.subset import subset

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, Sequence[int]], Sequence[Seen]]


def corner(limit: float, cut_off: float = 2.0) -> Evaluate:
    """Fails where the coordinates sum to at least `limit`; undecided above `cut_off` in the first.

    Half of the rest of the chance is a coin that the seed throws: it must come up too.
    """

    def evaluate(points: Floats, seeds: Sequence[int]) -> list[Seen]:
        found = []
        for point, seed in zip(points, seeds, strict=True):
            coin = np.random.default_rng(seed).random() < 0.5
            level = float(point.sum()) - limit if coin else float(point.sum()) - limit - 0.2
            violated = level >= 0.0
            found.append(Seen(level, violated, violated and point[0] > cut_off, 1))
        return found

    return evaluate


def corner_exact(dimension: int, limit: float) -> float:
    beyond = limit + 0.2
    rest = corner_probability(dimension, beyond) if beyond < dimension else 0.0
    return 0.5 * corner_probability(dimension, limit) + 0.5 * rest


def test_the_weight_is_the_exact_ratio_of_densities() -> None:
    proposal = Proposal(np.array([3.0]), np.array([0.7]), 0.3)
    grid = np.linspace(0.01, 0.99, 50)[:, None]
    density = 0.3 + 0.7 * stats.beta.pdf(grid[:, 0], 3.0, 0.7)
    assert proposal.weights(grid) == pytest.approx(1.0 / density, rel=1e-12)
    mass, _ = integrate.quad(lambda u: 1.0 / proposal.weights(np.array([[u]]))[0], 0.0, 1.0)
    assert mass == pytest.approx(1.0, abs=1e-6)


def test_the_proposal_draws_what_its_density_says() -> None:
    proposal = Proposal(np.array([4.0, 1.0]), np.array([1.0, 2.0]), 0.25)
    points = proposal.draw(20_000, np.random.default_rng(1))
    for column, (a, b) in enumerate(((4.0, 1.0), (1.0, 2.0))):

        def cdf(u: Any, a: float = a, b: float = b) -> Any:
            return 0.25 * u + 0.75 * stats.beta.cdf(u, a, b)

        assert stats.kstest(points[:, column], cdf).pvalue > 1e-4
    assert proposal.weights(points).mean() == pytest.approx(1.0, abs=0.03)


def test_no_weight_passes_its_proven_bound_however_sharp_the_betas() -> None:
    generator = np.random.default_rng(2)
    for alpha in (0.01, 0.2, 0.9):
        sharp = Proposal(np.full(30, 500.0), np.full(30, 0.5), alpha)
        points = np.concatenate([generator.random((400, 30)), sharp.draw(400, generator)])
        weights = sharp.weights(points)
        assert np.all((weights > 0.0) & (weights <= 1.0 / alpha))
        assert weights[0] == pytest.approx(1.0 / alpha)


def test_the_fit_is_the_most_likely_beta_drawn_a_little_to_uniform() -> None:
    points = np.random.default_rng(3).beta(5.0, 2.0, (100_000, 1))
    found = fitted(points, np.ones(len(points)), 0.2, nominal(1, 0.2))
    a, b, *_ = stats.beta.fit(points[:, 0], floc=0.0, fscale=1.0)
    assert (found.a[0], found.b[0]) == pytest.approx((a, b), rel=0.01)
    few = fitted(points[:3], np.ones(3), 0.2, nominal(1, 0.2))
    assert few.a[0] + few.b[0] < 6.0


def test_weights_in_the_fit_undo_the_law_that_was_drawn_from() -> None:
    proposal = Proposal(np.array([2.0]), np.array([1.0]), 0.5)
    points = proposal.draw(100_000, np.random.default_rng(4))
    found = fitted(points, proposal.weights(points), 0.5, proposal)
    assert (found.a[0], found.b[0]) == pytest.approx((1.0, 1.0), abs=0.02)


def test_the_mean_over_runs_is_the_exact_volume() -> None:
    exact = corner_exact(3, 2.8)
    runs = [
        importance(corner(2.8), 3, np.random.default_rng((5, seed)), episodes=300)
        for seed in range(60)
    ]
    mean, error = mean_and_error([run.estimate for run in runs])
    assert abs(mean - exact) < 4 * error
    plain = np.sqrt(exact / (300 * 60))
    assert error < plain
    assert all(0.0 <= run.effective <= run.failing for run in runs)


def test_pilot_episodes_are_not_in_the_estimate() -> None:
    asked: list[int] = []
    inner = corner(1.5)

    def evaluate(points: Floats, seeds: Sequence[int]) -> Sequence[Seen]:
        asked.append(len(points))
        return inner(points, seeds)

    run = importance(evaluate, 2, np.random.default_rng(6), episodes=500)
    assert sum(asked) == 500
    assert len(run.upper) == asked[-1] == 500 - sum(asked[:-1])


def test_undecided_episodes_count_above_and_not_below() -> None:
    run = importance(corner(1.2, cut_off=0.5), 2, np.random.default_rng(7), episodes=400)
    assert run.undecided > 0
    assert np.all(run.lower <= run.upper)
    assert run.lower.sum() < run.upper.sum()


def test_diagnostics_tell_one_episode_that_carries_the_estimate() -> None:
    upper = np.array([0.0, 5.0, 0.01, 0.01])
    run = WeightedRun(nominal(1, 0.2), upper, upper, 3, 0, 1, reached=False)
    assert run.largest_share > 0.99
    assert run.effective < 1.01


def test_bounded_limits_hold_at_their_level_over_many_runs() -> None:
    exact = corner_exact(2, 1.8)
    wrong = 0
    for seed in range(150):
        runs = [
            importance(corner(1.8), 2, np.random.default_rng((8, seed, part)), episodes=120)
            for part in range(2)
        ]
        found = bounded_mean(runs, 0.2, 0.1)
        assert 0.0 <= found.lo <= found.hi <= 1.0
        wrong += not found.lo <= exact <= found.hi
    assert wrong <= 30


def test_without_a_failure_the_bound_is_worth_no_more_than_the_plain_share() -> None:
    silent = np.zeros(2000)
    run = WeightedRun(nominal(2, 0.2), silent, silent, 0, 0, 0, reached=False)
    found = bounded_mean([run], 0.2, 0.05)
    assert found.hi > 3.0 / (0.2 * 2000) * 0.9
    assert (found.lo, found.largest, found.validity) == (0.0, 5.0, "anytime")
    assert "weights at most 5 (proven)" in str(found)


def test_subset_simulation_meets_the_exact_volume_however_few_its_samples() -> None:
    exact = corner_exact(2, 1.95)
    assert exact < 1e-3
    for samples in (10, 80):
        values = [
            subset(
                corner(1.95), 2, np.random.default_rng((9, seed)), samples=samples, most_levels=12
            ).estimate
            for seed in range(60)
        ]
        mean, error = mean_and_error(values)
        assert abs(mean - exact) < 4 * error
    assert error < 0.3 * exact


def test_subset_simulation_counts_undecided_episodes_that_fall_early() -> None:
    def evaluate(points: Floats, seeds: Sequence[int]) -> list[Seen]:
        return [Seen(float(u) - 0.99, u > 0.99 or u < 0.1, bool(u < 0.1), 1) for u in points[:, 0]]

    values = [
        subset(evaluate, 1, np.random.default_rng((10, seed)), samples=100, most_levels=9).estimate
        for seed in range(40)
    ]
    mean, error = mean_and_error(values)
    assert abs(mean - 0.11) < 4 * error


def test_subset_simulation_stops_at_its_levels_and_where_all_are_alike() -> None:
    run = subset(corner(1.999), 2, np.random.default_rng(11), samples=20, most_levels=1)
    assert (run.stopped, run.estimate) == ("budget", 0.0)

    def alike(points: Floats, seeds: Sequence[int]) -> list[Seen]:
        return [Seen(-1.0, False, False, 1) for _ in points]

    run = subset(alike, 2, np.random.default_rng(12), samples=20, most_levels=5)
    assert run.episodes == 30
    assert (run.stopped, run.estimate, run.levels) == ("extinct", 0.0, ())


def test_samples_below_a_level_that_fail_for_sure_are_failures_and_not_undecided() -> None:
    def evaluate(points: Floats, seeds: Sequence[int]) -> list[Seen]:
        return [Seen(float(u) - 0.99, u > 0.99 or u < 0.1, False, 1) for u in points[:, 0]]

    run = subset(evaluate, 1, np.random.default_rng(10), samples=100, most_levels=9)
    assert run.failing > 0
    assert run.undecided == 0
