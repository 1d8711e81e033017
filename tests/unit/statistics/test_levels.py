"""Levels never round up, spend less than they have, and combine as promised."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.check.statistics import (
    EProcess,
    claim_level,
    holm,
    holm_adjusted,
    joint_statement,
    p_value,
    release_level,
    spent_level,
)
from safegym.check.statistics.levels import PI_ABOVE
from safegym.errors import EvidenceError


def test_a_claims_level_is_one_minus_its_confidence_and_never_more() -> None:
    assert Fraction(claim_level(0.99)) <= Fraction(1, 100)
    assert claim_level(0.99) == pytest.approx(0.01, rel=1e-15)
    assert Fraction(claim_level(0.95)) <= Fraction(1, 20)
    assert claim_level(0.5) == 0.5
    for confidence in (0.9, 0.999, 0.123):
        assert Fraction(claim_level(confidence)) <= 1 - Fraction(confidence)


def test_the_gates_level_serves_only_claims_without_one() -> None:
    assert claim_level(None, default=0.05) == 0.05
    assert claim_level(0.99, default=0.5) == claim_level(0.99)
    assert claim_level(0.9, default=0.01) == claim_level(0.9)
    with pytest.raises(EvidenceError, match="names no confidence"):
        claim_level(None)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5, -1.0, float("nan")])
def test_confidences_outside_are_refused(confidence: float) -> None:
    with pytest.raises(EvidenceError, match="confidence"):
        claim_level(confidence)


def test_the_stand_in_for_pi_is_above_pi() -> None:
    """Machin's formula in rationals, cut where the series is below pi by less than 1e-49."""

    def arctan_inverse(x: int) -> tuple[Fraction, Fraction]:
        total, bounds = Fraction(0), []
        for i in range(60):
            total += Fraction((-1) ** i, (2 * i + 1) * x ** (2 * i + 1))
            bounds.append(total)
        return min(bounds[-2:]), max(bounds[-2:])

    (five_low, five_high), (big_low, big_high) = arctan_inverse(5), arctan_inverse(239)
    low, high = 16 * five_low - 4 * big_high, 16 * five_high - 4 * big_low
    assert low < high < PI_ABOVE < low + Fraction(1, 10**49)


def test_spent_levels_are_rounded_down_and_sum_below_the_level() -> None:
    for level in (0.05, 0.01, claim_level(0.99)):
        spent = [spent_level(level, j) for j in range(1, 400)]
        assert all(a > b for a, b in itertools.pairwise(spent))
        for j, a in enumerate(spent, start=1):
            assert a == pytest.approx(level * 6 / (math.pi * j) ** 2, rel=1e-15)
            assert Fraction(a) * (PI_ABOVE * j) ** 2 <= 6 * Fraction(level)
        rest = Fraction(level) * 6 / PI_ABOVE**2 * Fraction(1, 399)
        assert sum(map(Fraction, spent)) + rest < Fraction(level) * Fraction(10001, 10000)
        assert sum(map(Fraction, spent)) < Fraction(level)


@pytest.mark.parametrize("attempt", [0, -1, 1.5, True])
def test_attempts_count_from_one(attempt: int) -> None:
    with pytest.raises(EvidenceError, match=r"count from 1|>= 0|whole number"):
        spent_level(0.05, attempt)


def test_the_release_level_is_the_largest() -> None:
    assert release_level([0.01, 0.05, 0.02]) == 0.05
    with pytest.raises(EvidenceError, match="at least one"):
        release_level([])


def test_holm_on_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == (True, False, False, True)
    assert holm([], 0.05) == ()
    assert holm([0.05], 0.05) == (True,)
    with pytest.raises(EvidenceError, match=r"\[0, 1\]"):
        holm([1.2], 0.05)


@given(p=st.lists(st.floats(0, 1), max_size=6), level=st.floats(0.01, 0.5))
@settings(deadline=None, derandomize=True)
def test_holm_equals_the_closed_test_of_bonferroni(p: list[float], level: float) -> None:
    exact, a = [Fraction(x) for x in p], Fraction(level)
    subsets = [s for r in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), r)]
    expected = tuple(
        all(min(exact[j] for j in s) * len(s) <= a for s in subsets if i in s)
        for i in range(len(p))
    )
    assert holm(p, level) == expected


def test_joint_statements_never_round_up() -> None:
    assert "jointly >= 85 %" in joint_statement([0.05, 0.05, 0.05 - 1e-12], "one at a time") or (
        "jointly >= 84.9999 %" in joint_statement([0.05, 0.05, 0.05], "one at a time")
    )
    assert "jointly >= 0 %" in joint_statement([0.5] * 3, "one at a time")
    assert "every claim passes at its own level" in joint_statement([0.05, 0.01], "release")
    assert "(Holm)" in joint_statement([0.05, 0.05], "holm")
    with pytest.raises(EvidenceError, match="at least one"):
        joint_statement([], "holm")


def test_the_p_value_of_a_process_is_one_over_its_e_value_rounded_up() -> None:
    process = EProcess(0.01, 0.05)
    process.update_each(["safe"] * 325)
    exact = 1 / Fraction(process.e_value("below"))
    found = p_value(process.e_value("below"))
    assert exact <= Fraction(found)
    assert found == pytest.approx(float(exact), rel=1e-15)
    assert found <= 0.05
    assert p_value(Fraction(1, 3)) == p_value(0.0) == p_value(Decimal(1)) == 1.0
    for wrong in (-1.0, math.nan, math.inf, Decimal("Infinity"), Decimal("NaN")):
        with pytest.raises(EvidenceError, match="finite and >= 0"):
            p_value(wrong)


def test_a_process_at_its_decision_has_a_p_value_at_most_its_level() -> None:
    """Exact, over the rational chances of all paths: P(p-value at the stop <= a) <= a at p0."""
    p0 = Fraction(2, 5)
    for level in (Fraction(1, 2), Fraction(2, 5)):
        total = Fraction(0)
        for trail in itertools.product((0, 1), repeat=7):
            process = EProcess(p0, level)
            for x in trail:
                process.update(violations=x)
            if Fraction(p_value(process.e_value("below"))) <= level:
                chance = Fraction(1)
                for x in trail:
                    chance *= p0 if x else 1 - p0
                total += chance
        assert 0 < total <= level


@given(p=st.lists(st.floats(0, 1), max_size=6), level=st.floats(0.01, 0.9))
@settings(deadline=None, derandomize=True)
def test_adjusted_p_values_say_at_every_level_what_holm_says(p: list[float], level: float) -> None:
    adjusted = holm_adjusted(p)
    for found, rejected in zip(adjusted, holm(p, level), strict=True):
        if rejected:
            assert found <= level
        else:
            assert found > level or found == pytest.approx(level, rel=1e-15)
    assert all(a >= x for a, x in zip(adjusted, p, strict=True))


def test_adjusted_p_values_of_a_worked_example() -> None:
    assert holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm_adjusted([]) == ()
    with pytest.raises(EvidenceError, match=r"\[0, 1\]"):
        holm_adjusted([-0.1])


def test_a_conjunction_released_claim_by_claim_errs_at_most_at_the_largest_level() -> None:
    """Exact over shared episodes whose first failure is always a second one too."""
    p0 = (0.3, 0.4)
    for truth in ((0.1, 0.4), (0.3, 0.35), (0.3, 0.4)):
        released = 0.0
        for trail in itertools.product(range(3), repeat=7):
            chance, both = 1.0, [EProcess(p, 0.3) for p in p0]
            for draw in trail:
                first, second = draw == 0, draw <= 1
                chance *= (truth[0], truth[1] - truth[0], 1 - truth[1])[draw]
                both[0].update(violations=int(first))
                both[1].update(violations=int(second))
            released += chance * all(process.decision == "below" for process in both)
        assert released <= release_level([0.3, 0.3])
