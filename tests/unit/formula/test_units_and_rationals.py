"""Units against hand values, exact rationals against brute force."""

import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction as Rational
from functools import reduce
from operator import mul

import numpy as np
import pytest
from formula_strategies import X
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import FormulaError, UnitError
from safegym.formula import nodes as n
from safegym.formula.build import always
from safegym.formula.functions import (
    convert,
    cos,
    exp,
    maximum,
    minimum,
    norm,
    quantity,
    sin,
    sqrt,
)
from safegym.formula.terms import Apply, Constant, Signal, Term
from safegym.rational import exact, rational_text, simplest_between, simplest_near
from safegym.trace import clock
from safegym.units import BASES, SYMBOLS, unit

law = settings(deadline=None, derandomize=True, max_examples=200)

# unit, exponents of (m, kg, s, rad), size in SI base units by hand
HAND = [
    ("1", (0, 0, 0, 0), 1.0),
    ("%", (0, 0, 0, 0), 0.01),
    ("m", (1, 0, 0, 0), 1.0),
    ("mm", (1, 0, 0, 0), 1e-3),
    ("km", (1, 0, 0, 0), 1e3),
    ("cm^2", (2, 0, 0, 0), 1e-4),
    ("g", (0, 1, 0, 0), 1e-3),
    ("kg", (0, 1, 0, 0), 1.0),
    ("ms", (0, 0, 1, 0), 1e-3),
    ("min", (0, 0, 1, 0), 60.0),
    ("h", (0, 0, 1, 0), 3600.0),
    ("m/s", (1, 0, -1, 0), 1.0),
    ("km/h", (1, 0, -1, 0), 0.2777777777777778),
    ("m/s^2", (1, 0, -2, 0), 1.0),
    ("m/s/s", (1, 0, -2, 0), 1.0),
    ("N", (1, 1, -2, 0), 1.0),
    ("kN", (1, 1, -2, 0), 1e3),
    ("N*m", (2, 1, -2, 0), 1.0),
    ("J", (2, 1, -2, 0), 1.0),
    ("W", (2, 1, -3, 0), 1.0),
    ("kW", (2, 1, -3, 0), 1e3),
    ("Pa", (-1, 1, -2, 0), 1.0),
    ("N/m^2", (-1, 1, -2, 0), 1.0),
    ("bar", (-1, 1, -2, 0), 1e5),
    ("Hz", (0, 0, -1, 0), 1.0),
    ("1/s", (0, 0, -1, 0), 1.0),
    ("s^-1", (0, 0, -1, 0), 1.0),
    ("rad", (0, 0, 0, 1), 1.0),
    ("mrad", (0, 0, 0, 1), 1e-3),
    ("deg", (0, 0, 0, 1), 0.017453292519943295),
    ("rad/s", (0, 0, -1, 1), 1.0),
    ("deg/s", (0, 0, -1, 1), 0.017453292519943295),
    ("rpm", (0, 0, -1, 1), 0.10471975511965977),
    ("rev/min", (0, 0, -1, 1), 0.10471975511965977),
    ("N*m/rad", (2, 1, -2, -1), 1.0),
    ("kg*m^2", (2, 1, 0, 0), 1.0),
    ("N*s/(m*kg)", (0, 0, -1, 0), 1.0),
]


@pytest.mark.parametrize(("text", "powers", "size"), HAND)
def test_units_have_the_dimension_and_size_worked_out_by_hand(
    text: str, powers: tuple[int, ...], size: float
) -> None:
    found = unit(text)
    place = [BASES.index(base) for base in ("m", "kg", "s", "rad")]
    assert tuple(found.dimension[i] for i in place) == powers
    assert float(found.factor) * math.pi**found.pi_power == pytest.approx(size, rel=1e-14)
    assert str(found) == text


def test_electrical_units_agree_with_each_other() -> None:
    assert unit("V*A") == unit("W")
    assert unit("V/A") == unit("ohm")
    assert unit("W*s") == unit("J") == unit("N*m") == unit("C*V")
    assert unit("Wb/s") == unit("V")
    assert unit("H*A") == unit("Wb")
    assert unit("F*V") == unit("C")
    assert unit("S*ohm") == unit("1")


def test_no_symbol_has_two_readings_that_differ_silently() -> None:
    assert unit("min") == unit("min") != unit("m") * unit("1")
    assert unit("cd").dimension[BASES.index("cd")] == 1
    assert unit("Pa") == unit("N/m^2")
    assert unit("T") == unit("V*s/m^2")
    assert unit("h") == unit("min") * unit("min") / unit("s")
    assert all(not s.isspace() and s for s in SYMBOLS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must be text such as"),
        (" ", "must be text such as"),
        ("m" * 65, "must be text such as"),
        ("furlong", "'furlong' in 'furlong' is not known"),
        ("meters", "not known; near it: "),
        ("m/", "expected a unit symbol, found the end"),
        ("m s", "expected the end, found 's'"),
        ("m^", "cannot be read at"),
        ("m^2.5", "cannot be read at"),
        ("m^100", "cannot be read at"),
        ("m^99", "power 99 of unit m is out of range"),
        ("(m", "parenthesis is not closed"),
        ("m)", r"expected the end, found '\)'"),
        ("2*m", "cannot be read at"),
        ("10", "cannot be read at"),
        ("m\n{", "cannot be read at"),
        ("m^60*m", "beyond 60 is out of range"),
    ],
)
def test_a_malformed_unit_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnitError, match=problem):
        unit(text)


@law
@given(st.text(alphabet="mskgNrad1%*/^()-2 ", max_size=12))
def test_any_unit_text_is_answered(text: str) -> None:
    with suppress(UnitError):
        assert unit(text) == unit(text)


def test_powers_products_and_roots_compute() -> None:
    assert unit("m").power(2) / unit("m") == unit("m")
    assert unit("mm^2").root() == unit("mm")
    assert str(unit("kg") * unit("m") / unit("s").power(2)) == "m*kg/s^2"
    assert str(unit("km") / unit("s")) == "1000 m/s"
    assert str(unit("deg") / unit("s") / unit("m")) == "1/180 pi rad/(m*s)"
    with pytest.raises(UnitError, match="take it of a square"):
        unit("m^3").root()
    with pytest.raises(UnitError, match="take it of a square"):
        (unit("km") * unit("m")).root()
    with pytest.raises(UnitError, match="take it of a square"):
        (unit("deg") * unit("rad")).root()
    with pytest.raises(UnitError, match="needs more than 1000 digits"):
        reduce(mul, [unit("pm") / unit("m")] * 400)


V, K, D, A = Signal("v", "m/s"), Signal("k", "km/h"), Signal("d", "m"), Signal("a", "rad")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (V + 1, "m/s"),
        (V * 2, "m/s"),
        (2 * V / 3, "m/s"),
        (V * quantity(2, "s") + D, "m"),
        (D / quantity(2, "s"), "m/s"),
        (V * V, "m^2/s^2"),
        (sqrt(V * V), "m/s"),
        (abs(-V), "m/s"),
        (minimum(V, 1, quantity(2, "m/s")), "m/s"),
        (norm(D, 1), "m"),
        (sin(A), "1"),
        (cos(A / quantity(1, "rad")), "1"),
        (exp(V / quantity(1, "m/s")), "1"),
        (A * D / quantity(1, "rad"), "m"),
        (Signal("t", "N*m") + Signal("e", "J"), "J"),
        (convert(K, "m/s"), "m/s"),
    ],
)
def test_terms_have_the_unit_that_arithmetic_gives_them(term: Term, text: str) -> None:
    assert term.unit_or_none == unit(text)


def test_a_plain_number_takes_the_unit_of_what_it_meets() -> None:
    assert (Constant(2) * 3 + 1).unit_or_none is None
    assert (V < Constant(2) * 3).left is V
    assert sqrt(2).unit_or_none is None
    assert sin(1).unit_or_none is None


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (
            lambda: V + D,
            r"\+ needs one unit\. m/s \(speed\) and m \(length\) measure different things",
        ),
        (lambda: V < D, "`v` is in m/s but `d` is in m; < needs one unit"),
        (lambda: V < quantity(5, "km/h"), r"Inside a formula nothing is converted: .* convert\("),
        (lambda: V < K, "is in km/h"),
        (lambda: A < quantity(1, "deg"), "is in deg"),
        (lambda: A < quantity(1, "1"), r"is in rad but `1\{1\}` is in 1"),
        (lambda: D * A < D, "is in m rad|is in m"),
        (lambda: Signal("w", "rad/s") < quantity(1, "Hz"), "different things"),
        (lambda: Signal("r", "%") < quantity(1, "1"), "Inside a formula nothing is converted"),
        (lambda: Signal("t", "K") < quantity(1, "degC"), "have different zeros, 273.15 K apart"),
        (lambda: minimum(V, D), "min needs one unit"),
        (lambda: exp(V), r"takes a quantity in 1, found m/s"),
        (
            lambda: sin(Signal("b", "deg")),
            r"takes a quantity in 1 or rad, found deg; .* turns deg into rad",
        ),
        (lambda: sqrt(V), "take it of a square"),
        (lambda: quantity(1, "parsec"), "'parsec' is not known|Unit symbol 'parsec'"),
        (lambda: quantity(1, 2), "unit must be text"),
        (lambda: Signal("v", "speed"), "Signal 'v': Unit symbol 'speed'"),
        (
            lambda: convert(V, "m"),
            r"`v` cannot be read in m: m/s \(speed\) and m \(length\) measure",
        ),
        (lambda: convert(Signal("b", "deg"), "rad"), r"irrational.*math\.pi / 180"),
        (lambda: convert(Constant(1), "m"), "is a plain number"),
        (lambda: convert(Signal("z", "pm"), "Tm"), r"beyond 2\^53"),
    ],
)
def test_units_that_do_not_fit_raise_naming_both(build: object, problem: str) -> None:
    assert callable(build)
    with pytest.raises(UnitError, match=problem):
        build()


def test_conversion_is_an_explicit_exact_factor() -> None:
    found = convert(K, "m/s")
    assert str(found) == "(k * 5{m/s}) / 18{km/h}"
    assert str(convert(Signal("x", "mm"), "m")) == "(x * 1{m}) / 1000{mm}"
    assert convert(V, "m/s") is V
    by_hand = Signal("b", "deg") * quantity(math.pi / 180, "rad/deg")
    assert (by_hand < 1).left.unit_or_none == unit("rad")


def test_signals_are_validated() -> None:
    p = Signal("p", "m", shape=(3,))
    assert [c.index for c in p] == [0, 1, 2]
    assert p[-1] is p[2]
    assert norm(p) is norm(p[0], p[1], p[2])
    assert maximum(p) is maximum(*p)
    for name in ("", "2x", "a.b", "a b", "é", "x\n", "x" * 101, 3):
        with pytest.raises(FormulaError, match="must be an ASCII identifier"):
            Signal(name)  # type: ignore[arg-type]  # on purpose
    for word in ("always", "abs", "true", "inf", "prob", "and"):
        with pytest.raises(FormulaError, match="is a word of the predicate language"):
            Signal(word)
    for scale in (0, -1):
        with pytest.raises(FormulaError, match="Signal 'x': scale must be > 0"):
            Signal("x", scale=scale)
    with pytest.raises(FormulaError, match="scale must be finite"):
        Signal("x", scale=math.nan)
    with pytest.raises(FormulaError, match="max_rate must be > 0"):
        Signal("x", max_rate=0)
    for bounds in ((1, 1), (2, 1), (1,), "ab", 3):
        with pytest.raises((FormulaError, TypeError), match="Signal 'x': bounds must be"):
            Signal("x", bounds=bounds)  # type: ignore[arg-type]  # on purpose
    for shape in ((0,), (-2,), (2, 2), 3, ("a",), (True,)):
        with pytest.raises(FormulaError, match="shape must be"):
            Signal("x", shape=shape)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(FormulaError, match='hold must be "sample"'):
        Signal("x", hold="mean")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(FormulaError, match="labels must be distinct"):
        Signal("x", labels=("A", "A"))
    with pytest.raises(FormulaError, match="labels must be"):
        Signal("x", shape=(2,), labels=("A",))


def test_vectors_and_components_are_not_mixed_up() -> None:
    p = Signal("p", shape=(3,))
    for build in (
        lambda: Apply("abs", (p,)),
        lambda: Apply("min", (X, p)),
        lambda: n.Atom(p, ">", X),
    ):
        with pytest.raises(FormulaError, match=r"is a vector of 3; .* Write p\[0\]"):
            build()
    for index in (3, -4):
        with pytest.raises(FormulaError, match="has components 0 to 2, not"):
            p[index]
    with pytest.raises(FormulaError, match="is a scalar; declare it with shape"):
        X[0]
    with pytest.raises(FormulaError, match="must be an integer"):
        p[0:2]  # type: ignore[index]  # on purpose
    with pytest.raises(FormulaError, match="must be an integer"):
        p[True]


def test_operations_check_their_arguments() -> None:
    with pytest.raises(FormulaError, match="'pow' is no operation"):
        Apply("pow", (X, X))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(FormulaError, match="abs takes 1 arguments, found 2"):
        Apply("abs", (X, X))
    with pytest.raises(FormulaError, match="min takes one or more arguments, found 0"):
        minimum()
    with pytest.raises(FormulaError, match="Division by zero"):
        _ = X / 0
    with pytest.raises(FormulaError, match="only a constant number may divide"):
        _ = 1 / X
    with pytest.raises(TypeError, match="abs takes terms"):
        Apply("abs", (3,))  # type: ignore[arg-type]  # on purpose


@law
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_the_simplest_rational_is_the_first_that_a_search_finds(
    a: int, b: int, c: int, d: int
) -> None:
    low, high = sorted((Rational(a, b), Rational(c, d)))
    found = simplest_between(low, high)
    denominator = next(q for q in range(1, 4000) if -(-low * q // 1) <= high * q)
    assert found == Rational(-(-low * denominator // 1), denominator)


@law
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_become_rationals_within_the_tolerance(value: float) -> None:
    found = simplest_near(value)
    assert abs(found - Rational(value)) <= abs(Rational(value)) / 10**12


@law
@given(st.integers(1, 10**6), st.integers(1, 2000))
def test_a_float_of_a_short_rational_is_that_rational(above: int, below: int) -> None:
    wanted = Rational(above, below)
    if wanted < 5000:
        assert exact(above / below) == wanted
        assert clock.exact(above / below) == wanted  # traces and formulas agree on dt


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("0.1", Rational(1, 10)),
        (" 1/240 ", Rational(1, 240)),
        ("1e-3", Rational(1, 1000)),
        (".5", Rational(1, 2)),
        ("3.", Rational(3)),
        (0.1, Rational(1, 10)),
        (1 / 3, Rational(1, 3)),
        (0.1 + 0.2, Rational(3, 10)),
        (1e15, Rational(10**15)),
        (2, Rational(2)),
        (Rational(1, 7), Rational(1, 7)),
        (Decimal("0.02"), Rational(1, 50)),
        (np.float64(0.02), Rational(1, 50)),
        (np.int64(3), Rational(3)),
        (0.0, Rational(0)),
        (-0.25, Rational(-1, 4)),
    ],
)
def test_times_are_read_as_written(value: float, wanted: Rational) -> None:
    assert exact(value) == wanted


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "1/0", "0x1", "1e1000", "1" * 90, "1/2/3", "nan", "inf", "1_0", "٣"),
        *(True, None, float("nan"), float("inf"), 1j, [1], 10**31, "1e40", Decimal("NaN")),
        Decimal("1e500"),
    ],
)
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(FormulaError, match=r"A time must be|found the truth value"):
        exact(value)  # type: ignore[arg-type]  # on purpose


@law
@given(st.fractions(-(10**6), 10**6, max_denominator=10**5))
def test_rational_text_reads_back_exactly(value: Rational) -> None:
    assert Rational(rational_text(value)) == value
    assert exact(rational_text(value)) == value


def test_rational_text_is_a_plain_decimal_where_that_is_exact() -> None:
    table = {"0.3": "3/10", "10": "10", "0.005": "1/200", "1/3": "1/3", "-0.25": "-1/4", "0": "0"}
    for text, value in table.items():
        assert rational_text(Rational(value)) == text


def test_conversion_of_a_computed_unit_without_a_symbol_says_what_to_do() -> None:
    speed, hours = Signal("v", "km/h"), Signal("t", "h")
    with pytest.raises(UnitError, match="a unit without a symbol; convert the terms"):
        convert(speed * hours, "m")
    assert str(convert(speed, "m/s")) == "(v * 5{m/s}) / 18{km/h}"
    with pytest.raises(UnitError, match="unit must be text"):
        convert(speed, 3)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("window", [5, {1, 2}, "ab", (1, 2, 3), (None, 1)])
def test_a_window_that_is_no_pair_is_refused(window: object) -> None:
    with pytest.raises(FormulaError, match=r"window must be a pair \(a, b\)"):
        always(X > 0, window=window)  # type: ignore[arg-type]  # on purpose
