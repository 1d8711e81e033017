"""The two-sided e-process: exact against rationals, and its error by dynamic programming."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from safegym.check.statistics import EProcess, TwoSidedEProcess, two_one_sided
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.two_sided import two_sided_mixture
from safegym.errors import EvidenceError


def exact(bad: int, good: int, p0: Fraction) -> Fraction:
    return (below_mixture(p0).exact(bad, good) + above_mixture(p0).exact(bad, good)) / 2


def test_the_mixture_has_mean_one_at_the_threshold_and_is_the_average_of_both() -> None:
    for p0 in (Fraction(1, 100), Fraction(1, 2), Fraction(4, 5)):
        mixture = two_sided_mixture(p0)
        assert sum(mixture.weights) == 1
        for bad, good in zip(mixture.on_violation, mixture.on_safe, strict=True):
            assert p0 * bad + (1 - p0) * good == 1
        assert mixture.exact(3, 8) == exact(3, 8, p0)


@pytest.mark.parametrize("p0", [Fraction(1, 5), Fraction(1, 2)])
def test_decisions_are_those_of_the_least_completion_in_rationals(p0: Fraction) -> None:
    level, goal = Fraction(3, 5), Fraction(5, 3)
    values = {(k, n): exact(k, n - k, p0) for n in range(1, 6) for k in range(n + 1)}
    decided = 0
    for trail in itertools.product(["safe", "violated", "undecided"], repeat=5):
        process = TwoSidedEProcess(p0, level)
        expected = None
        for n, outcome in enumerate(trail, start=1):
            seen = trail[:n]
            bad, open_ = seen.count("violated"), seen.count("undecided")
            least = min(values[bad + i, n] for i in range(open_ + 1))
            if expected is None and least >= goal:
                expected = n
            process.update(outcome)  # type: ignore[arg-type]  # a name
        if expected is None:
            found = Fraction(process.e_value())
            assert found <= least <= found * (1 + Fraction(1, 10**40))
        assert process.decided_at == expected
        decided += expected is not None
    assert decided > 20


@pytest.mark.parametrize("p0", [0.01, 0.1, 0.5, 0.9])
def test_a_true_threshold_is_refuted_in_at_most_the_level_of_runs(p0: float) -> None:
    """Exact, over 1200 episodes: floats find E, and none comes near a tie."""
    mixture, goal, open_, gone = two_sided_mixture(Fraction(p0)), np.log(20.0), np.ones(1), 0.0
    for n in range(1, 1201):
        open_ = np.convolve(open_, [1 - p0, p0])
        k = np.arange(n + 1)
        value, _ = mixture.log_value(k, n - k)
        out = value >= goal
        gone += float(open_[out].sum())
        open_[out] = 0.0
    assert 0.0 < gone <= 0.05


def test_both_sides_are_found_and_the_decision_latches() -> None:
    for outcome in ("safe", "violated"):
        process = TwoSidedEProcess(0.2, 0.05)
        assert process.update_each([outcome] * 60)  # type: ignore[list-item]  # a name
        assert process.different
        at = process.decided_at
        process.update("undecided")
        assert (process.decided_at, process.undecided) == (at, 0)


def test_undecided_episodes_alone_refute_nothing() -> None:
    process = TwoSidedEProcess(0.2, 0.05)
    assert not process.update_each(["undecided"] * 300)
    assert process.e_value() < 1


def test_two_one_sided_halves_the_level_and_names_the_side() -> None:
    process = two_one_sided(0.2, 0.05)
    assert process.level == Fraction(0.05) / 2
    process.update_each(["violated"] * 20)
    assert process.decision == "above"
    assert process.decided_at == EProcess(0.2, 0.025).kmin(process.episodes)


@pytest.mark.parametrize("outcome", ["skipped", "doubtful"])
def test_what_it_cannot_take_is_refused_with_the_one_that_does(outcome: str) -> None:
    with pytest.raises(EvidenceError, match="use two_one_sided"):
        TwoSidedEProcess(0.2, 0.05).update(outcome)  # type: ignore[arg-type]  # a name
    with pytest.raises(EvidenceError, match="threshold"):
        TwoSidedEProcess(0.0, 0.05)
    with pytest.raises(EvidenceError, match="level"):
        two_one_sided(0.2, 0)
