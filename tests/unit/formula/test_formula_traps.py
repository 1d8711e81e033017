"""Python's grammar may not drop or twist a condition: each way raises with the line that works."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction as Rational
from typing import Any

import numpy as np
import pytest
from formula_strategies import X, Y

from safegym.errors import FormulaError
from safegym.formula import nodes as n
from safegym.formula.build import (
    all_of,
    always,
    any_of,
    between,
    fraction,
    mean,
    near,
    prob,
)
from safegym.formula.claim import Claim
from safegym.formula.terms import Constant, Signal

v: Any = Signal("v", unit="m/s")
c: Any = Signal("c", unit="m")
f: Any = v < 0.5
g: Any = c > 0.2
t: Any = True

TRUTH: list[Callable[[], object]] = [
    lambda: f and g,
    lambda: f or g,
    lambda: not f,
    lambda: bool(f),
    lambda: 1 if f else 2,
    lambda: 0 < v < 1,
    lambda: v and f,
    lambda: not v,
    lambda: min(v, v * 2),
    lambda: max(v, 0.5),
    lambda: all([f, g]),
    lambda: any(iter([f, g])),
    lambda: [x for x in [v] if x > 0],
]


@pytest.mark.parametrize("trap", TRUTH)
def test_truth_of_a_term_or_formula_is_refused_with_the_line_that_works(
    trap: Callable[[], object],
) -> None:
    with pytest.raises(TypeError, match="has no truth value in Python") as caught:
        trap()
    for line in ("& (...)", "| (...)", "`~(", "between(x, a, b)", "minimum(...)", "all_of(...)"):
        assert line in str(caught.value)


CONNECTIVES: list[Callable[[], object]] = [
    lambda: v < 0.5 & c > 0.2,
    lambda: (v < 0.5) & c > 0.2,
    lambda: v < 0.5 | c,
    lambda: f & v,
    lambda: v & f,
    lambda: v | f,
    lambda: 0.5 & f,
    lambda: 0.5 | f,
    lambda: f & t,
    lambda: f | 1,
    lambda: v ^ f,
    lambda: 1 ^ v,
]


@pytest.mark.parametrize("trap", CONNECTIVES)
def test_connectives_with_anything_but_formulas_are_explained(trap: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"binds tighter than `<` and `>`: write `\(v < 0\.5\) "):
        trap()


def test_other_operators_are_explained() -> None:
    with pytest.raises(TypeError, match=r"write `~\(v < 0\.5\)`, not `~v < 0\.5`"):
        _ = ~v < 0.5
    with pytest.raises(TypeError, match=r"Write `\(v < 0\.5\)\.xor\(\.\.\.\)`"):
        _ = f ^ g
    for compare in (lambda: f < 1, lambda: f <= 1, lambda: f > 1, lambda: f >= 1, lambda: f > g):
        with pytest.raises(TypeError, match="compares a formula; only terms compare"):
            compare()
    with pytest.raises(TypeError, match="is a formula, not a term"):
        _ = v + f
    with pytest.raises(TypeError):
        _ = f + 1


def test_equality_is_of_expressions_and_never_builds_an_atom() -> None:
    assert (v == v) is True
    assert (v != c) is True
    assert (f == (v < 0.5)) is True
    assert (v == None) is False  # noqa: E711  # on purpose
    assert v not in (c, f)
    assert {v: 1, f: 2, 3: 4}[v] == 1
    for value in (0.5, 1, True, np.float64(0.5), Decimal("0.5"), 1j, np.array([0.5])):
        for compare in (
            lambda value=value: v == value,
            lambda value=value: value == v,
            lambda value=value: v != value,
        ):
            with pytest.raises(TypeError, match=r"near\(v, .*, tol\)|no truth value"):
                compare()
    with pytest.raises(TypeError, match=r'write `v\.is_\("FAULT"\)`'):
        _ = v == "FAULT"
    with pytest.raises(TypeError, match=r"and `~\(v < 0\.5\)` where it must not"):
        _ = f == True  # noqa: E712  # on purpose


def test_a_bare_truth_value_is_no_formula_and_may_come_from_equality() -> None:
    for build in (
        lambda: f & (v == c),
        lambda: always(v == c),  # type: ignore[arg-type]  # on purpose
        lambda: all_of(f, v == c),
        lambda: prob(v == c),  # type: ignore[arg-type]  # on purpose
        lambda: Claim(id="a.b", statement=(v == c)),  # type: ignore[arg-type]  # on purpose
        lambda: n.Not(True),  # type: ignore[arg-type]  # on purpose
        lambda: n.negation(True),  # type: ignore[arg-type]  # on purpose
        lambda: f.until(v == c),
    ):
        with pytest.raises(TypeError, match=r"near\(x, c, tol\)"):
            build()


def test_a_term_where_a_formula_belongs_is_told_to_compare_it() -> None:
    with pytest.raises(TypeError, match=r"always takes a formula, found v \(Signal\); compare it"):
        always(v)
    with pytest.raises(TypeError, match=r"takes a formula, found 3"):
        any_of(3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="between takes a term"):
        between(0.5, 0, 1)  # type: ignore[arg-type]  # on purpose


def test_near_between_and_labels_say_what_equality_would() -> None:
    assert near(v, 0.5, 0.1) is (abs(v - 0.5) <= 0.1)
    assert between(v, 0, 1) is ((v >= 0) & (v <= 1))
    mode = Signal("mode", labels=("IDLE", "FAULT"))
    assert mode.is_("FAULT") is (abs(mode - 1) <= 0.5)
    with pytest.raises(FormulaError, match=r"no label 'FAIL'; its labels: IDLE, FAULT"):
        mode.is_("FAIL")
    with pytest.raises(FormulaError, match=r"it has none at all: declare them with labels="):
        v.is_("FAULT")
    with pytest.raises(FormulaError, match=r"write between\(x, 0, 1\)"):
        between(v, 1, 0)
    with pytest.raises(FormulaError, match="tolerance must be > 0"):
        near(v, 0.5, 0)


def test_numpy_scalars_on_either_side_build_the_right_atom() -> None:
    for number in (np.float64(0.25), np.float32(0.25), np.float16(0.25)):
        assert (number < v) is (v > 0.25)
        assert (number <= v) is (v >= 0.25)
        assert (number > v) is (v < 0.25)
        assert (number >= v) is (v <= 0.25)
        assert (v < number) is (v < 0.25)
        assert (number + v < 1) is (0.25 + v < 1)
        assert (v * number < 1) is (v * 0.25 < 1)
        assert (number - v < 1) is (0.25 - v < 1)
        assert (number * v < 1) is (0.25 * v < 1)
    assert (np.int64(2) < v) is (v > 2)
    assert (v / np.int32(2) < 1) is (v / 2 < 1)


def test_constants_must_be_finite_real_binary64_numbers() -> None:
    for wrong in (True, np.bool_(True), "0.5", None, [1], np.array([0.5]), Decimal("0.5"), 1j):
        with pytest.raises(TypeError, match="A constant must be a number"):
            _ = v < wrong
    for wrong in (float("nan"), float("inf"), -float("inf"), np.float64("nan"), 10**400):
        with pytest.raises(FormulaError, match="must be finite"):
            _ = v < wrong
    with pytest.raises(FormulaError, match="must be a binary64 number; 9007199254740993 is not"):
        _ = v < 2**53 + 1
    assert (v < Rational(1, 2)) is (v < 0.5)


def test_one_true_and_one_point_zero_are_kept_apart_or_made_one() -> None:
    assert Constant(1) is Constant(1.0)
    assert Constant(0.0) is Constant(-0.0)
    assert str(Constant(-0.0).value) == "0.0"
    assert n.Boolean(True) is not Constant(1.0)
    assert Signal("x", bounds=(-0.0, 1)) is Signal("x", bounds=(0.0, 1.0))


def test_bounds_on_probability_mean_and_share_cannot_be_chained() -> None:
    p, m, s = prob(f), mean(fraction(f)), fraction(f)
    for chain in (
        lambda: 0.1 < p < 0.2,
        lambda: 0.1 < m < 0.2,
        lambda: bool(p),
        lambda: bool(s),
        lambda: not m,
        lambda: (p < 0.2) and f,
        lambda: bool(m < 0.2),
    ):
        with pytest.raises(TypeError, match="State one bound at a time"):
            chain()
    with pytest.raises(TypeError, match=r"has no truth value"):
        _ = 0.1 < s < 0.2
    with pytest.raises(TypeError, match="mean takes fraction"):
        mean(f)


def test_equality_bounds_no_probability_mean_or_share() -> None:
    for waiting in (prob(f), mean(fraction(f)), fraction(f)):
        with pytest.raises(TypeError, match=r"`== 0\.5` bounds nothing; "):
            _ = waiting == 0.5
        assert (waiting == waiting) is True
        assert waiting != prob(g)
        assert len({waiting, waiting}) == 1


def test_a_share_is_a_root_and_nothing_else() -> None:
    share = fraction(f) >= 0.9
    for build in (
        lambda: share & f,
        lambda: f | share,
        lambda: always(share),
        lambda: n.Not(share),
        lambda: f.until(share),
        lambda: f.implies(share),
        lambda: fraction(share),
    ):
        with pytest.raises(FormulaError, match="may only be a whole statement"):
            build()
    assert ~share is (fraction(f) < 0.9)
    assert ~~share is share
    for vacuous in (lambda: fraction(f) >= 0, lambda: fraction(f) > 1, lambda: fraction(f) <= 1):
        with pytest.raises(FormulaError, match="says nothing"):
            vacuous()
    with pytest.raises(FormulaError, match=r"bound in \[0, 1\]"):
        _ = fraction(f) >= 1.5


def test_terms_and_formulas_are_frozen() -> None:
    with pytest.raises(AttributeError, match="Signal is frozen: name cannot be set"):
        X.name = "z"
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del Y.unit
    with pytest.raises(TypeError):
        iter(X)
