"""Error, power and mean length by exact dynamic programming, against a second program."""

import math
from fractions import Fraction

import numpy as np
import pytest

from safegym.check.statistics import (
    EProcess,
    certification_plan,
    operating,
    power,
    screen_pass_probability,
    spent_level,
)
from safegym.errors import EvidenceError


def brute_force(p: float, p0: float, level: float, cap: int) -> tuple[Fraction, Fraction]:
    """Exact rational chances over every path of outcomes, walked as a tree through EProcess."""
    truth = Fraction(p)
    totals = {"below": Fraction(0), "above": Fraction(0)}

    def walk(trail: list[int], weight: Fraction) -> None:
        process = EProcess(p0, level)
        for x in trail:
            process.update(violations=x)
        if process.decision is not None:
            totals[process.decision] += weight
        elif len(trail) < cap:
            walk([*trail, 0], weight * (1 - truth))
            walk([*trail, 1], weight * truth)

    walk([], Fraction(1))
    return totals["below"], totals["above"]


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_dynamic_programming_equals_the_sum_over_all_paths(p: float) -> None:
    below, above = brute_force(p, 0.4, 0.4, 9)
    run = operating(p, 0.4, 0.4, cap=9)
    assert run.below == pytest.approx(float(below), abs=1e-14)
    assert run.above == pytest.approx(float(above), abs=1e-14)
    assert below + above > 0


def test_false_claims_at_the_boundary_within_five_thousand_episodes() -> None:
    run = operating(0.01, 0.01, 0.05, cap=5000)
    assert run.below == pytest.approx(0.0464, abs=5e-5)
    assert run.above <= 0.05


@pytest.mark.parametrize("p0", [0.002, 0.01, 0.08, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_each_side_errs_at_most_at_its_level_on_its_whole_null(p0: float, level: float) -> None:
    for p in (p0, p0 * 1.01, min(1.0, p0 * 1.5)):
        assert operating(p, p0, level, cap=2500).below <= level
    for p in (p0, p0 * 0.99, p0 * 0.5):
        assert operating(p, p0, level, cap=2500).above <= level


def test_claims_under_peeking_at_the_promised_places() -> None:
    for p in (0.01, 0.0101):
        assert operating(p, 0.01, 0.05, cap=5000).below <= 0.05


@pytest.mark.parametrize(("p", "bar"), [(0.001, 500.0), (0.005, 2800.0)])
def test_mean_episodes_until_a_decision_stay_under_the_bar(p: float, bar: float) -> None:
    run = operating(p, 0.01, 0.05, cap=40_000)
    assert run.undecided < 1e-9
    assert run.mean_episodes <= bar


def test_power_is_what_the_house_figures_say() -> None:
    assert power(0.005, 0.01, 0.05, cap=3000) == pytest.approx(0.595, abs=6e-4)
    assert power(0.005, 0.01, 0.01, cap=3000) == pytest.approx(0.389, abs=5e-4)
    assert power(0.001, 0.01, spent_level(0.05, 1), cap=1000) == pytest.approx(0.86, abs=5e-3)


def test_power_rises_with_the_cap_and_falls_with_p_and_a_stricter_level() -> None:
    assert power(0.004, 0.01, 0.05, cap=1000) < power(0.004, 0.01, 0.05, cap=2000)
    assert power(0.006, 0.01, 0.05, cap=2000) < power(0.004, 0.01, 0.05, cap=2000)
    assert power(0.004, 0.01, 0.01, cap=2000) < power(0.004, 0.01, 0.05, cap=2000)


def test_chances_within_n_only_rise_and_end_at_the_totals() -> None:
    run = operating(0.004, 0.01, 0.05, cap=1500)
    assert np.all(np.diff(run.below_by) >= 0)
    assert run.below_by[324] == 0.0
    assert run.below_by[325] == pytest.approx(0.996**325, rel=1e-12)
    assert run.below + run.above + run.undecided == pytest.approx(1.0, abs=1e-12)
    assert run.below_by.shape == (1501,)
    with pytest.raises(ValueError, match="read-only"):
        run.below_by[0] = 1.0


def test_simulated_runs_agree_with_the_exact_chances() -> None:
    rng = np.random.default_rng(20)
    repeats, cap, p = 600, 600, 0.03
    run = operating(p, 0.05, 0.1, cap=cap)
    below = 0
    for _ in range(repeats):
        process = EProcess(0.05, 0.1)
        for x in (rng.random(cap) < p).tolist():
            if process.update(violations=int(x)) is not None:
                break
        below += process.decision == "below"
    limit = 4.0 * math.sqrt(run.below * (1 - run.below) / repeats)
    assert abs(below / repeats - run.below) < limit


def test_the_plan_says_its_own_numbers_before_the_run() -> None:
    plan = certification_plan(0.01, spent_level(0.05, 1), cap=2000, assumed=(0.001,))
    assert (plan.episodes_when_clean, plan.violations_allowed) == (377, 7)
    assert plan.feasible
    assert "377 episodes when none fails, at most 7 failures in the cap of 2000" in plan.text()
    assert "passes with 0.999 if p = 0.001" in plan.text()
    small = certification_plan(0.01, 0.05, cap=324)
    assert not small.feasible
    assert "no run can pass" in small.text()


def test_a_plan_for_no_probability_is_refused() -> None:
    with pytest.raises(EvidenceError, match="not a probability"):
        power(1.5, 0.01, 0.05, cap=10)
    with pytest.raises(EvidenceError, match="whole number"):
        power(0.5, 0.01, 0.05, cap=10.5)  # type: ignore[arg-type]  # the refusal under test
    assert operating(0.5, 0.01, 0.05, cap=0).undecided == 1.0


def test_a_screens_chance_is_the_binomial_sum() -> None:
    expected = sum(math.comb(40, k) * 0.1**k * 0.9 ** (40 - k) for k in range(3))
    found = screen_pass_probability(0.1, episodes=40, allowed=2)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_hundred_attempts_on_bad_policies_release_at_most_at_the_level() -> None:
    """p = .012 against .01: the union over spent attempts, each computed exactly.

    The seventy further attempts are bounded by their levels.
    """
    total = sum(power(0.012, 0.01, spent_level(0.05, j), cap=3000) for j in range(1, 31))
    assert total + sum(spent_level(0.05, j) for j in range(31, 101)) <= 0.05
