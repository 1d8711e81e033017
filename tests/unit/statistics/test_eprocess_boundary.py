"""The integer boundary against rational arithmetic done the slow way."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_eprocess import slow_above, slow_below

from safegym.check.statistics.boundary import (
    AboveBoundary,
    BelowBoundary,
    Boundary,
    above_boundary,
    below_boundary,
    least_true,
)
from safegym.check.statistics.directed import directed, power
from safegym.check.statistics.grid import RATIOS, above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture

thresholds = st.floats(min_value=0.002, max_value=0.998)
levels = st.floats(min_value=1e-4, max_value=0.5)


def test_the_grid_is_twelve_log_spaced_points_rounded_to_nearest() -> None:
    with localcontext() as context:
        context.prec = 60
        for j, ratio in enumerate(RATIOS):
            exact = Decimal("28.8") ** (Decimal(j) / 11) / 32
            assert ratio == float(exact)


@pytest.mark.parametrize("make", [below_mixture, above_mixture])
def test_weights_sum_to_one_and_every_factor_has_mean_one_at_the_boundary(make) -> None:  # type: ignore[no-untyped-def]  # either mixture
    for p0 in (Fraction(0.01), Fraction(1, 2), Fraction(0.97)):
        mixture: Mixture = make(p0)
        assert sum(mixture.weights) == 1
        for bad, good in zip(mixture.on_violation, mixture.on_safe, strict=True):
            assert p0 * bad + (1 - p0) * good == 1
            if make is below_mixture:
                assert bad < 1 < good
            else:
                assert good < 1 < bad


@given(p0=thresholds, level=levels, n=st.integers(0, 150))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_kmax_is_the_largest_count_whose_rational_e_value_reaches_the_goal(
    p0: float, level: float, n: int
) -> None:
    goal = 1 / Fraction(level)
    passing = [k for k in range(n + 1) if slow_below(k, n, Fraction(p0)) >= goal]
    boundary = BelowBoundary(Fraction(p0), Fraction(level))
    assert boundary.kmax(n) == max(passing, default=-1)
    assert passing == list(range(len(passing)))


@given(p0=thresholds, level=levels, n=st.integers(0, 150))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_kmin_is_the_smallest_count_whose_rational_e_value_reaches_the_goal(
    p0: float, level: float, n: int
) -> None:
    goal = 1 / Fraction(level)
    passing = [k for k in range(n + 1) if slow_above(k, n, Fraction(p0)) >= goal]
    boundary = AboveBoundary(Fraction(p0), Fraction(level))
    assert boundary.kmin(n) == min(passing, default=None)
    assert passing == list(range(n + 1 - len(passing), n + 1))


@pytest.mark.parametrize("p0", [0.003, 0.01, 0.08, 0.5])
def test_every_crossing_of_the_boundary_is_exact_in_rationals(p0: float) -> None:
    level = 0.03
    goal = 1 / Fraction(level)
    boundary = below_boundary(Fraction(p0), Fraction(level))
    for k in (0, 1, 2, 5, 11):
        n = boundary.episodes_needed(k)
        assert slow_below(k, n, Fraction(p0)) >= goal > slow_below(k, n - 1, Fraction(p0))


def test_kmax_never_falls_and_rises_by_at_most_one() -> None:
    for p0, level in ((0.01, 0.05), (0.2, 0.01), (0.9, 0.05)):
        table = below_boundary(Fraction(p0), Fraction(level)).table(4000)
        assert set(np.diff(table).tolist()) <= {0, 1}
        assert table[0] == -1


def test_tables_equal_single_answers() -> None:
    below = below_boundary(Fraction(0.03), Fraction(0.02))
    above = above_boundary(Fraction(0.03), Fraction(0.02))
    least, most = above.table(600), below.table(600)
    for n in range(0, 601, 7):
        assert most[n] == below.kmax(n)
        found = above.kmin(n)
        assert least[n] == (601 if found is None else found)


def test_mirror_boundary_lies_above_the_boundary() -> None:
    below, above = (
        below_boundary(Fraction(0.05), Fraction(0.4)),
        above_boundary(Fraction(0.05), Fraction(0.4)),
    )
    most, least = below.table(3000), above.table(3000)
    n = np.arange(3001)
    assert np.all(most < n * 0.05 + 1e-9)
    assert np.all(least > n * 0.05 - 1e-9)


def test_known_numbers_of_clean_episodes() -> None:
    p0 = Fraction(0.01)
    spent = 6 / math.pi**2
    needed = [
        below_boundary(p0, Fraction(level)).episodes_needed(0)
        for level in (0.05, 0.01, 0.05 * spent, 0.01 * spent)
    ]
    assert needed == [325, 492, 377, 543]


def test_an_exact_tie_counts_as_reaching_the_goal_and_is_decided_by_rationals() -> None:
    p0 = Fraction(0.01)
    mixture = below_mixture(p0)
    value = mixture.exact(2, 698)
    assert abs(value / slow_below(2, 700, p0) - 1) < Fraction(1, 10**100)
    assert mixture.reaches(2, 698, value)
    assert not mixture.reaches(2, 698, value * (1 + Fraction(1, 10**1500)))
    boundary = Boundary(mixture, 1 / value, rising=True)
    assert boundary.row(2) == 698
    hair_more = Boundary(mixture, 1 / (value * (1 + Fraction(1, 10**900))), rising=True)
    assert hair_more.row(2) == 699


def test_enclosures_hold_the_rational_value_at_every_precision() -> None:
    for mixture in (below_mixture(Fraction(0.07)), above_mixture(Fraction(0.07))):
        for violations, safe in ((0, 0), (0, 5), (3, 200), (150, 40)):
            exact = mixture.exact(violations, safe)
            for digits in (5, 50, 200):
                low, high = mixture.enclosure(violations, safe, digits)
                assert Fraction(low) <= exact <= Fraction(high)


@given(v=st.integers(0, 400), s=st.integers(0, 3000), p0=thresholds)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_float_values_are_within_their_stated_slack(v: int, s: int, p0: float) -> None:
    for make in (below_mixture, above_mixture):
        mixture = make(Fraction(p0))
        low, _ = mixture.enclosure(v, s, 60)
        with localcontext() as context:
            context.prec = 60
            exact = float(low.ln())
        value, _ = mixture.log_value(v, s)
        assert abs(float(value) - exact) <= float(mixture.log_slack(v, s)) / 8


def test_directed_powers_enclose_the_exact_power() -> None:
    arithmetic = directed(6)
    base = Decimal("1.00123")
    exact = Fraction(base) ** 777
    assert Fraction(power(base, 777, arithmetic.down)) < exact
    assert exact < Fraction(power(base, 777, arithmetic.up))
    assert power(Decimal(0), 0, arithmetic.down) == 1


@given(answer=st.integers(0, 10**6), guess=st.integers(-5, 10**6))
@settings(deadline=None, derandomize=True)
def test_search_finds_the_first_true_from_any_guess(answer: int, guess: int) -> None:
    assert least_true(lambda n: n >= answer, guess) == answer


def test_far_rows_and_huge_counts_are_answered_alone_and_quickly() -> None:
    boundary = BelowBoundary(Fraction(0.01), Fraction(0.05))
    k = 10**9
    n = boundary.episodes_needed(k)
    mixture = below_mixture(Fraction(0.01))
    goal = 1 / Fraction(0.05)
    assert mixture.reaches(k, n - k, goal)
    assert not mixture.reaches(k, n - k - 1, goal)
    assert boundary.kmax(n) == k
    assert boundary.kmax(n - 1) == k - 1


def test_threads_that_grow_one_shared_boundary_do_not_repeat_its_rows() -> None:
    """A repeated block would claim "below" with the evidence of 256 fewer violations."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(8):
            level = Fraction(1, 20 + number)
            shared = BelowBoundary(Fraction(1, 50), level)
            with ThreadPoolExecutor(6) as pool:
                found = list(pool.map(shared.episodes_needed, [900] * 6))
            alone = BelowBoundary(Fraction(1, 50), level)
            assert found == [alone.episodes_needed(900)] * 6
            assert [shared.episodes_needed(k) for k in range(0, 900, 60)] == [
                alone.episodes_needed(k) for k in range(0, 900, 60)
            ]
    finally:
        sys.setswitchinterval(before)
