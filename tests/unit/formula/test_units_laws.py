"""Units obey the laws of a group, print what reads back, and tell what they measure."""

import re
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import UnitError
from safegym.units import (
    BASES,
    ONE,
    SYMBOLS,
    Factor,
    Unit,
    clash,
    factor_between,
    measured,
    same_unit,
    told,
    unit,
)
from safegym.units.symbols import PLAIN, PREFIXED, PREFIXES

law = settings(deadline=None, derandomize=True, max_examples=300)


def moderate(text: str) -> bool:
    """Far enough from the limits of size and power that products stay within them."""
    try:
        found = unit(text)
    except UnitError:
        return False
    small = max(found.factor.numerator, found.factor.denominator) < 10**120
    return small and max(map(abs, (*found.dimension, found.pi_power))) <= 10


symbols = st.sampled_from(sorted(SYMBOLS))
powers = st.integers(-2, 2)
factors = st.one_of(symbols, st.tuples(symbols, powers).map(lambda pair: f"{pair[0]}^{pair[1]}"))
texts = st.recursive(
    factors,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]}*{pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]}/({pair[1]})"),
        st.tuples(inner, powers).map(lambda pair: f"({pair[0]})^{pair[1]}"),
    ),
    max_leaves=3,
).filter(moderate)
units = texts.map(unit)


@law
@given(texts)
def test_a_unit_prints_what_reads_back_as_it(text: str) -> None:
    found = unit(text)
    assert str(found) == text
    assert unit(str(found)) == found
    assert unit(f" ( {text} ) ") == found
    assert same_unit(text, f"({text})")


@law
@given(st.lists(st.tuples(st.sampled_from(BASES), st.integers(-3, 3)), max_size=4))
def test_a_computed_unit_of_base_size_reads_back_from_its_text(
    parts: list[tuple[str, int]],
) -> None:
    found = ONE
    for base, power in parts:
        found = found * unit(base).power(power)
    computed = Unit(found.dimension)
    assert unit(str(computed)) == computed == found


@law
@given(texts, texts)
def test_text_and_arithmetic_make_the_same_products(one: str, other: str) -> None:
    assert unit(f"({one})*({other})") == unit(one) * unit(other)
    assert unit(f"({one})/({other})") == unit(one) / unit(other)


@law
@given(units, units, units, st.integers(0, 4))
def test_units_are_a_commutative_group(a: Unit, b: Unit, c: Unit, power: int) -> None:
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * ONE == a
    assert a / a == ONE
    assert a / b == ONE / (b / a)
    product = ONE
    for _ in range(power):
        product = product * a
    assert a.power(power) == product
    assert a.power(-power) == ONE / product
    assert (a * a).root() == a


def _times(one: Factor, other: Factor) -> Factor:
    return Factor(one.ratio * other.ratio, one.pi_power + other.pi_power)


@law
@given(units, st.lists(st.sampled_from([*PREFIXES.values(), Fraction(18, 5)]), min_size=2))
def test_factors_are_exact_and_compose(base: Unit, sizes: list[Fraction]) -> None:
    """Through any third unit of the dimension, the factor is the same."""
    first, last = base.sized(sizes[0], 1), base.sized(sizes[1], -1)
    there = Factor(first.factor / last.factor, first.pi_power - last.pi_power)
    assert there == Factor(sizes[0] / sizes[1], 2)
    assert _times(there, Factor(sizes[1] / sizes[0], -2)).is_one


SPEEDS = ("m/s", "km/h", "mm/s", "kn", "mph", "ft/min", "cm/h")
ANGLES = ("rad", "deg", "rev", "arcmin", "arcsec", "mrad")


@pytest.mark.parametrize("group", [SPEEDS, ANGLES, ("%", "ppm", "1"), ("rpm", "rad/s", "deg/min")])
def test_factors_between_units_of_one_dimension_compose(group: tuple[str, ...]) -> None:
    for one in group:
        assert factor_between(one, one).is_one
        for other in group:
            for third in group:
                through = _times(factor_between(one, other), factor_between(other, third))
                assert through == factor_between(one, third)


@pytest.mark.parametrize(
    ("recorded", "asked", "factor"),
    [
        ("m/s", "km/h", "18/5"),
        ("km/h", "m/s", "5/18"),
        ("m", "mm", "1000"),
        ("mm", "m", "1/1000"),
        ("deg", "rad", "pi/180"),
        ("rad", "deg", "180/pi"),
        ("rad^2", "deg^2", "32400/pi^2"),
        ("rpm", "rad/s", "pi/30"),
        ("1/rev", "1/rad", "1/(2*pi)"),
        ("rev", "rad", "2*pi"),
        ("Pa", "N/m^2", "1"),
        ("L", "m^3", "1/1000"),
        ("g0", "m/s^2", "196133/20000"),
        ("kn", "m/s", "463/900"),
        ("ft", "m", "381/1250"),
        ("mi", "m", "201168/125"),
        ("nmi", "km", "463/250"),
        ("mph", "km/h", "25146/15625"),
        ("atm", "kPa", "4053/40"),
        ("d", "h", "24"),
        ("t", "kg", "1000"),
        ("mAh", "C", "18/5"),
        ("kWh", "MJ", "18/5"),
        ("eV", "aJ", "801088317/5000000000"),
        ("lx", "lm/m^2", "1"),
        ("Qm", "qm", "1" + "0" * 60),
        ("%", "1", "1/100"),
        ("kohm", "Ohm", "1000"),
        ("mg0", "g0", "1/1000"),
    ],
)
def test_factors_are_those_worked_out_by_hand(recorded: str, asked: str, factor: str) -> None:
    assert str(factor_between(recorded, asked)) == factor


def test_all_prefixes_of_the_si_are_there_on_every_symbol_that_takes_them() -> None:
    powers = (30, 27, 24, 21, 18, 15, 12, 9, 6, 3, 2, 1)
    wanted = {Fraction(10) ** sign * 1 for sign in (*powers, *(-power for power in powers))}
    assert set(PREFIXES.values()) == wanted
    for prefix, size in PREFIXES.items():
        for symbol in PREFIXED:
            assert factor_between(prefix + symbol, symbol).ratio == size


def test_no_symbol_can_be_read_in_two_ways() -> None:
    """A prefix before a symbol is never a symbol of its own, nor another prefix before another."""
    made = [prefix + symbol for prefix in PREFIXES for symbol in PREFIXED]
    assert len(set(made)) == len(made)
    assert not set(made) & (set(PREFIXED) | set(PLAIN))
    assert not set(PREFIXED) & set(PLAIN)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("km/h", "speed"),
        ("m", "length"),
        ("%", "a plain number"),
        ("rpm", "angular speed"),
        ("deg", "angle"),
        ("N*m", "energy or torque"),
        ("Hz", "frequency"),
        ("mbar", "pressure"),
        ("g0", "acceleration"),
        ("m/s^3", "jerk"),
        ("kN*mm/deg", "torsional stiffness"),
        ("uT", "magnetic flux density"),
        ("mAh", "electric charge"),
        ("L/min", "flow rate"),
        ("degC", "Celsius temperature"),
        ("m^5/kg", "m^5/kg"),
    ],
)
def test_a_unit_tells_what_it_measures(text: str, words: str) -> None:
    assert measured(unit(text)) == words
    assert told(unit(text)) == f"{text} ({words})"


def test_every_symbol_measures_something_that_has_a_name() -> None:
    for symbol in SYMBOLS:
        assert "^" not in measured(unit(symbol)), symbol


def test_units_of_two_dimensions_name_both() -> None:
    assert clash(unit("km/h"), unit("m")) == (
        "km/h (speed) and m (length) measure different things"
    )
    assert not clash(unit("km/h"), unit("m/s"))
    with pytest.raises(UnitError, match=r"rad/s \(angular speed\) and Hz \(frequency\) measure"):
        factor_between("rad/s", "Hz")
    with pytest.raises(UnitError, match=r"different zeros, 273\.15 K apart, so no factor"):
        factor_between("degC", "K")
    with pytest.raises(UnitError, match=r"degC/s .* and K/s .* differ in degC for K, whose zeros"):
        factor_between("degC/s", "K/s")
    with pytest.raises(UnitError, match="measure different things"):
        factor_between("degC/s", "K")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("meters", "near it: m"),
        ("metre/second", "near it: m"),
        ("kmh", "near it: km/h"),
        ("kph", "near it: km/h"),
        ("Nm", r"near it: N\*m"),
        ("newton", "near it: N"),
        ("Newtons", "near it: N"),
        ("hz", "near it: Hz"),
        ("KM", "near it: km"),
        ("Mpa", "near it: MPa"),
        ("kpa", "near it: kPa"),
        ("degrees", "near it: deg"),
        ("rads/s", "near it: rad"),
        ("sec", "near it: s"),
        ("hrs", "near it: h"),
        ("ohms", "near it: ohm"),
        ("knots", "near it: kn"),
        ("percent", "near it: %"),
        ("celsius", "near it: degC"),
        ("\u03a9", "near it: ohm"),
        ("\u00b5m", "near it: um"),
        ("\u00b0", "near it: deg"),
        ("\u00b0C", "near it: degC"),
        ("rmp", "near it: rpm"),
        ("N m", r"expected the end, found 'm'; write a product with \*, as in N\*m"),
        ("dB", "is a logarithm; record the ratio itself, in 1"),
        ("degF", "no factor leads to them; record in degC or K"),
    ],
)
def test_a_symbol_that_is_not_known_is_told_the_nearest(text: str, told: str) -> None:
    with pytest.raises(UnitError, match=told):
        unit(text)


@law
@given(st.text(max_size=12))
def test_any_text_is_a_unit_or_told_why_not(text: str) -> None:
    with suppress(UnitError):
        assert unit(text) == unit(text)


def test_the_page_on_units_lists_every_symbol_and_prefix() -> None:
    page = Path(__file__).parents[3].joinpath("docs/reference/units.md").read_text("utf-8")
    listed = {word for part in re.findall(r"`([^`\n]+)`", page) for word in part.split()}
    assert {*PREFIXED, *PLAIN} <= listed
    prefixes = next(part for part in re.findall(r"`([^`]+)`", page) if part.startswith("Q R"))
    assert prefixes.split() == list(PREFIXES)
