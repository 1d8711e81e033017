"""`quantile(f, q) > m`: what it states, its tightened property, and what is refused."""

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from formula_random import formula

from safegym.errors import FormulaError
from safegym.formula.build import (
    all_of,
    always,
    fraction,
    previous,
    prob,
    quantile,
    rising,
)
from safegym.formula.claim import Claim
from safegym.formula.functions import quantity
from safegym.formula.nodes import TRUE, Atom, Comparison, Formula
from safegym.formula.quantile import QuantileBound
from safegym.formula.reading import atoms_of, margin_scale
from safegym.formula.rewrite import nnf
from safegym.formula.terms import Constant, Signal
from safegym.formula.text import parse_statement
from safegym.formula.tighten import least_where, tightened, tightened_atom

X = Signal("x", "m", scale=0.5)
Z = Signal("z", "m", scale=0.5)
Y = Signal("y")
V = Signal("v", "m/s")
FAR = Signal("far", scale=1e10)
A = always(X > 0.25)


def claim_of(statement: object, **more: object) -> Claim:
    return Claim(id="a.claim", statement=statement, **more)  # type: ignore[arg-type]  # on purpose


def test_a_quantile_bounds_the_probability_of_little_margin() -> None:
    claim = claim_of(quantile(A, 0.05) > 0.5)
    assert claim.kind == "quantile"
    assert claim.failure_threshold == 0.05
    assert claim.property is always(X > 0.5)
    assert claim.formula is A
    assert claim_of(quantile(A, 0.05) >= 0.5).property is always(X >= 0.5)


@pytest.mark.parametrize(
    ("formula", "margin", "strict", "wanted"),
    [
        (X > 0.25, 0.5, True, X > 0.5),
        (X >= 0.25, 0.5, True, X > 0.5),
        (X > 0.25, 0.5, False, X >= 0.5),
        (X < 1, 0.5, True, X < 0.75),
        (X <= 1, 0.5, False, X <= 0.75),
        (~(X < 0.25), 0.5, True, ~(X <= 0.5)),
        (X > 0.25, 0.0, True, X > 0.25),
        (X >= 0.25, 0.0, True, X > 0.25),
        (X > 0.25, 0.0, False, X >= 0.25),
        (X > 0.25, -0.25, True, X > 0.125),
        (X < Z, 0.5, True, (Z - X) > 0.25),
        (X >= Z, 0.5, False, (X - Z) >= 0.25),
        (X < Z, 0.0, True, X < Z),
        (X >= Z, 0.0, True, X > Z),
        (abs(X) <= 0.75, 0.5, True, abs(X) < 0.5),
        ((Y > 1).scaled(4), 0.5, True, (Y > 3).scaled(4)),
        (Y > 1, 0.5, True, Y > 1.5),
        (X > quantity(0.25, "m"), 0.5, True, X > quantity(0.5, "m")),
        (TRUE & (X > 0.25), 0.5, True, TRUE & (X > 0.5)),
        (A.implies(X < Z), 1.0, False, always(X > -0.25).implies((Z - X) >= 0.5)),
        ((X > 0).iff(Z > 0), 1.0, True, ((X > 0.5) & (Z > 0.5)) | ((X < -0.5) & (Z < -0.5))),
        (rising(X > 0), 1.0, True, all_of(X > 0.5, ~previous(X >= -0.5))),
    ],
)
def test_every_atom_moves_by_the_margin_times_its_scale(
    formula: Formula, margin: float, strict: bool, wanted: Formula
) -> None:
    assert tightened(formula, margin, strict=strict) is wanted


def test_a_constant_on_the_left_stays_there() -> None:
    flipped = Atom(Constant(0.25), "<", X)
    assert str(tightened_atom(flipped, 0.5, strict=False)) == "0.5 <= x"
    flipped = Atom(Constant(1), ">=", X)
    assert str(tightened_atom(flipped, 0.5, strict=True)) == "0.75 > x"


def test_a_constant_between_two_numbers_is_the_one_that_is_harder_to_meet() -> None:
    assert Fraction(0.7) + Fraction(0.1) < Fraction(0.8)
    assert tightened(Y > 0.7, 0.1, strict=True) is (Y >= 0.8)
    assert Fraction(0.2) + Fraction(0.1) > Fraction(0.3)
    assert tightened(Y > 0.2, 0.1, strict=True) is (Y >= 0.2 + 0.1)


def test_a_margin_that_the_monitor_rounds_away_does_not_beat_the_limit() -> None:
    """0.25 - x is 0.25 in binary64 for x = -1e-20, so its margin there is 0.5, not more."""
    found = tightened_atom(Atom(X, "<", Constant(0.25)), 0.5, strict=True)
    assert (0.25 - -1e-20) / 0.5 == 0.5
    assert not _truth(found, -1e-20)
    assert _truth(found, -1e-16)


def _truth(atom: Formula, x: float) -> bool:
    assert isinstance(atom, Atom)
    assert isinstance(atom.right, Constant)
    limit = atom.right.value
    return {"<": x < limit, "<=": x <= limit, ">": x > limit, ">=": x >= limit}[atom.comparison]


def test_a_tightened_atom_holds_exactly_where_both_margins_beat_the_limit() -> None:
    """The monitor's rounded margin and the exact one, at numbers around the moved constant."""
    draw = Random(5)
    disagree = 0
    for _ in range(3000):
        comparison: Comparison = draw.choice([">", ">=", "<", "<="])
        constant = draw.choice([0.0, round(draw.uniform(-2, 2), 1), draw.uniform(-1e6, 1e6)])
        scale = draw.choice([1.0, 0.1, 3.0, 10.0 ** draw.randint(-6, 6)])
        margin = draw.choice([0.0, 0.1, -0.3, draw.uniform(-5, 5), 10.0 ** draw.randint(-9, 9)])
        strict = draw.random() < 0.5
        found = tightened_atom(
            Atom(Y, comparison, Constant(constant), scale), margin, strict=strict
        )
        assert isinstance(found.right, Constant)
        x = found.right.value
        for _ in range(draw.randint(0, 3)):
            x = math.nextafter(x, draw.choice([-math.inf, math.inf]))
        upward = comparison in (">", ">=")
        difference = x - constant if upward else constant - x
        sign = 1 if upward else -1
        exact = sign * (Fraction(x) - Fraction(constant)) / Fraction(scale)
        rounded = difference / scale
        both = (
            rounded > margin and exact > Fraction(margin)
            if strict
            else rounded >= margin and exact >= Fraction(margin)
        )
        assert _truth(found, x) == both, (comparison, constant, scale, margin, strict, x)
        disagree += (rounded > margin) != (exact > Fraction(margin))
    assert disagree > 20  # roundings in which the two margins differ were met


def test_two_signals_are_compared_by_their_difference_with_the_monitors_rounding() -> None:
    draw = Random(6)
    for _ in range(1000):
        scale, margin = draw.choice([0.1, 3.0, 0.7]), draw.choice([0.1, 0.3, 1 / 3, -0.2])
        atom = Atom(X, ">", Z, scale)
        found = tightened_atom(atom, margin, strict=True)
        x, z = round(draw.uniform(-2, 2), 1), round(draw.uniform(-2, 2), 1)
        assert str(found.left) == "x - z"
        assert not _truth(found, x - z) or (x - z) / scale > margin


def test_least_where_finds_the_first_number_of_every_size() -> None:
    for limit in (0.0, 5e-324, -5e-324, 1.5, -2.25e300, 1.7976931348623157e308):
        assert least_where(lambda x, limit=limit: x >= limit) == limit
        assert least_where(lambda x, limit=limit: x > limit) == math.nextafter(limit, math.inf)
    assert least_where(lambda x: x == math.inf) == math.inf


def test_the_text_reads_back_and_so_does_the_json() -> None:
    for bound in (
        quantile(A, 0.05) > 0.5,
        quantile((X > 0) | (Z < 1), 0.25) >= -0.1,
        quantile(Y > 1, 1e-3) > 0,
    ):
        claim = claim_of(bound, confidence=0.95)
        assert parse_statement(str(bound), claim.signals) == bound
        assert Claim.from_json(claim.to_json()) == claim
        assert f"statement: {bound}\n" in claim.canonical_text
    assert str(quantile(A, 0.05) >= -0.5) == "quantile(always(x > 0.25), 0.05) >= -0.5"


def test_quantile_may_still_be_the_name_of_a_signal() -> None:
    named = Signal("quantile")
    assert parse_statement("quantile > 3", [named]) is (named > 3)
    both = parse_statement("quantile(quantile > 3, 0.5) > 1", [named])
    assert both == (quantile(named > 3, 0.5) > 1)


def test_margin_q_and_strictness_are_in_the_digest() -> None:
    bounds = [
        quantile(A, 0.05) > 0.5,
        quantile(A, 0.05) >= 0.5,
        quantile(A, 0.1) > 0.5,
        quantile(A, 0.05) > 0.25,
    ]
    assert len({claim_of(bound).digest for bound in bounds}) == 4


def test_numpy_numbers_are_numbers() -> None:
    assert (quantile(A, np.float64(0.05)) > np.float64(0.5)) == (quantile(A, 0.05) > 0.5)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (lambda: quantile(A, 0), FormulaError, "quantile's q must lie strictly between 0 and 1"),
        (lambda: quantile(A, 1), FormulaError, "found 1.0"),
        (lambda: quantile(A, math.nan), FormulaError, "must be finite"),
        (lambda: quantile(A, "0.05"), TypeError, "must be a number, found '0.05'"),
        (lambda: quantile(X, 0.05), TypeError, "quantile takes a formula, found x"),
        (lambda: quantile(prob(A), 0.05), TypeError, "quantile takes a formula"),
        (lambda: quantile(A, 0.05) < 0.5, FormulaError, r"write `quantile\(f, 0.05\) > 0.5`"),
        (lambda: quantile(A, 0.05) <= 0.5, FormulaError, r"write `prob\(f\) < 0.95`"),
        (lambda: 0.5 > quantile(A, 0.05), FormulaError, "claim that episodes come close"),
        (lambda: quantile(A, 0.05) > math.inf, FormulaError, "must be finite"),
        (lambda: quantile(A, 0.05) > "1", TypeError, "The threshold of quantile must be a number"),
        (lambda: 0.1 < quantile(A, 0.05) <= 0.2, TypeError, "State one bound at a time"),
        (lambda: bool(quantile(A, 0.05)), TypeError, "no truth value"),
        (lambda: bool(quantile(A, 0.05) > 1), TypeError, "no truth value"),
        (lambda: quantile(A, 0.05) == 1, TypeError, "== 1` bounds nothing"),
        (lambda: quantile(TRUE, 0.05), FormulaError, "reads no signal, so it has no margin"),
        (lambda: quantile(X + Y > 1, 0.05), FormulaError, "different things"),
        (lambda: quantile((Y > 1) & (V > 1), 0.05), FormulaError, "their margins do not compare"),
        (lambda: quantile((X > 1) & (V > 1), 0.05), FormulaError, "Give every signal a scale"),
        (lambda: quantile(fraction(A) >= 0.9, 0.05), FormulaError, r"prob\(fraction\(f\) >= 0.9\)"),
        (lambda: quantile(FAR > 1, 0.05) > 1e305, FormulaError, "beyond binary64"),
        (lambda: claim_of(quantile(A, 0.05)), TypeError, r"quantile\(\.\.\.\) has no bound yet"),
        (lambda: QuantileBound(A, 0.05, "<", 1), FormulaError, "compared by > >="),  # type: ignore[arg-type]
    ],
)
def test_a_malformed_bound_is_refused(
    bad: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bad()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("quantile(x > 0) > 1", r"quantile takes 2 argument\(s\), found 1"),
        ("quantile(x, 0.5) > 1", "quantile takes formulas, found a term"),
        ("quantile(x > 0, y) > 1", "quantile's q takes a plain number"),
        ("quantile(x > 0, 1.5) > 1", "strictly between 0 and 1, found 1.5"),
        ("quantile(x > 0, 0.5) < 1", r"write `quantile\(f, 0.5\) > 1.0`"),
        ("quantile(x > 0, 0.5) > y", "takes a plain number"),
        ("quantile(x > 0, 0.5)", r"expected a formula, found quantile"),
        ("1 < quantile(x > 0, 0.5)", r"write quantile\(\.\.\.\) first"),
        ("always(quantile(x > 0, 0.5) > 1)", "always takes formulas"),
    ],
)
def test_text_that_states_nothing_is_refused_at_its_place(text: str, problem: str) -> None:
    with pytest.raises(FormulaError, match=problem) as caught:
        parse_statement(text)
    assert "line 1, column" in str(caught.value)


def test_tightening_keeps_signals_and_scales() -> None:
    found = tightened(always((X < Z) | (X > 0.3)), 0.1, strict=True)
    assert {signal.name for signal in found.signals} == {"x", "z"}
    assert all(atom.scale is None for atom in atoms_of(found))


def test_the_property_is_written_as_the_formula_is_and_means_the_same_in_normal_form() -> None:
    compared = 0
    for seed in range(300):
        draw = Random(seed)
        found = formula(draw, 3)
        if not margin_scale(found).ok or not atoms_of(found):
            continue
        margin, strict = draw.choice([0.0, 0.5, -1.0]), draw.random() < 0.5
        normal = tightened(nnf(found), margin, strict=strict)
        assert nnf(tightened(found, margin, strict=strict)) is normal
        compared += 1
    assert compared > 30
