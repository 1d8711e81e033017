"""Splitting on chains, against exact probabilities from a linear system in rational numbers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from rare_chains import Trail, Walker, mean_and_error, ruin_probability

from safegym.check.rare.splitting import SplittingRun, split


def runs(
    source: Walker, count: int, particles: int, kill: int, most: float = np.inf
) -> list[SplittingRun]:
    return [
        split(source, np.random.default_rng((7, seed)), particles=particles, kill=kill, most=most)
        for seed in range(count)
    ]


def estimates(found: list[SplittingRun]) -> list[float]:
    return [run.estimate for run in found]


def test_the_linear_system_gives_the_closed_form_of_gamblers_ruin() -> None:
    up = Fraction(2, 5)
    odds = (1 - up) / up
    expected = (odds**2 - 1) / (odds**7 - 1)
    assert ruin_probability(2, 7, up) == expected


@pytest.mark.parametrize(("particles", "kill"), [(10, 1), (20, 5), (6, 5), (2, 1)])
def test_the_mean_over_runs_is_the_exact_probability_with_ties_at_every_level(
    particles: int, kill: int
) -> None:
    exact = float(ruin_probability(1, 6, Fraction(2, 5)))
    found = estimates(runs(Walker(1, 6, 0.4), 800, particles, kill))
    mean, error = mean_and_error(found)
    assert abs(mean - exact) < 4 * error
    assert error < 0.25 * exact


def test_a_rare_event_is_met_where_plain_sampling_would_see_none() -> None:
    exact = float(ruin_probability(1, 16, Fraction(1, 3)))
    assert exact < 2e-5
    mean, error = mean_and_error(estimates(runs(Walker(1, 16, 1 / 3), 60, 60, 6)))
    assert abs(mean - exact) < 4 * error
    assert error < 0.4 * exact


def test_all_paths_that_share_the_killed_level_die() -> None:
    run = runs(Walker(1, 6, 0.4), 1, 40, 1)[0]
    assert len(run.levels) == len(set(run.levels))
    assert set(run.levels) <= {float(state - 6) for state in range(1, 6)}


def test_a_run_with_no_path_above_the_killed_level_is_extinct_and_says_zero() -> None:
    found = [run for run in runs(Walker(1, 12, 0.2), 60, 3, 2) if run.stopped == "extinct"]
    assert found
    assert {run.estimate for run in found} == {0.0}


def test_a_run_out_of_budget_stops_early_and_its_mean_is_still_exact() -> None:
    exact = float(ruin_probability(1, 4, Fraction(2, 5)))
    found = runs(Walker(1, 4, 0.4), 2500, 8, 2, most=12)
    assert {run.stopped for run in found} >= {"budget", "reached"}
    mean, error = mean_and_error(estimates(found))
    assert abs(mean - exact) < 4 * error


def test_undecided_paths_count_as_failing_wherever_they_were_killed() -> None:
    source = Walker(1, 5, 0.4, break_off=0.02)
    plain = [source.fresh(seed).violated for seed in range(20_000)]
    expected, doubt = mean_and_error([float(value) for value in plain])
    found = runs(source, 1000, 12, 3)
    mean, error = mean_and_error(estimates(found))
    assert abs(mean - expected) < 4 * np.hypot(error, doubt)
    assert sum(run.undecided for run in found) > 0


def test_levels_that_tell_nothing_leave_plain_sampling() -> None:
    class Flat(Walker):
        def _on(self, states: tuple[int, ...], seed: int) -> Trail:
            trail = super()._on(states, seed)
            level = 0.0 if trail.violated else float("-inf")
            return Trail(trail.states, level, trail.violated, False, trail.steps)

        def branch(self, path: Trail, level: float, seed: int) -> Trail:
            return path

    exact = float(ruin_probability(2, 4, Fraction(2, 5)))
    mean, error = mean_and_error(estimates(runs(Flat(2, 4, 0.4), 400, 20, 2)))
    assert abs(mean - exact) < 4 * error


def test_one_seed_gives_one_estimate() -> None:
    one, two = (runs(Walker(1, 8, 0.4), 3, 20, 2) for _ in range(2))
    assert one == two


class Lowest(Walker):
    """Levels that have nothing to do with failing, as another formula's may: minus the least state.

    So paths that fail for sure are killed too.
    """

    def branch(self, path: Trail, level: float, seed: int) -> Trail:
        at = next(n for n, state in enumerate(path.states) if -state - 0.5 > level)
        return path if at == len(path.states) - 1 else self._on(path.states[: at + 1], seed)

    def _on(self, states: tuple[int, ...], seed: int) -> Trail:
        trail = super()._on(states, seed)
        return replace(trail, level=-min(trail.states) - 0.5)


def test_killed_paths_that_fail_for_sure_are_failures_and_not_undecided() -> None:
    exact = float(ruin_probability(3, 5, Fraction(2, 5)))
    found = runs(Lowest(3, 5, 0.4), 1500, 12, 3)
    mean, error = mean_and_error(estimates(found))
    assert abs(mean - exact) < 4 * error
    assert sum(run.failing for run in found) > 0
    assert sum(run.undecided for run in found) == 0
