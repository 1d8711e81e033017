"""Converted numbers are the binary64 nearest to the exact product, by any path, against fractions.

The second opinion rounds nothing: it measures with `Fraction` how far a result and its neighbours
lie from the exact product, pi by a hundred decimals known from tables.
"""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import UnitError
from safegym.trace import conversion as module
from safegym.trace.conversion import conversion, nearest_products, rational_factor
from safegym.units import Factor, factor_between

law = settings(deadline=None, derandomize=True, max_examples=300)

PI = Fraction(
    "3.1415926535897932384626433832795028841971693993751058209749445923"
    "078164062862089986280348253421170679"
)
PAIRS = [
    ("m/s", "km/h"),
    ("km/h", "m/s"),
    ("m", "mm"),
    ("mm", "m"),
    ("ft", "m"),
    ("m", "mi"),
    ("kn", "m/s"),
    ("mph", "km/h"),
    ("g0", "m/s^2"),
    ("J", "eV"),
    ("eV", "J"),
    ("pm", "Tm"),
    ("qm", "Qm"),
    ("deg", "rad"),
    ("rad", "deg"),
    ("rpm", "rad/s"),
    ("rad/s", "rpm"),
    ("rad^2", "deg^2"),
    ("1/deg", "1/rad"),
]
FACTORS = [factor_between(*pair) for pair in PAIRS]
finite = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-(2**53), 2**53).map(float)
fifths = st.integers(2**49, 2**53 // 5).map(lambda number: 5.0 * number)
small = st.floats(-1e-300, 1e-300)
values = st.one_of(finite, whole, fifths, small, st.floats(-1e4, 1e4))
LARGEST = Fraction(math.ldexp(2**53 - 1, 971))


def exact_product(value: float, factor: Factor) -> Fraction:
    return Fraction(value) * factor.ratio * PI**factor.pi_power


def is_nearest(result: float, exact: Fraction) -> bool:
    """Whether no binary64 lies nearer, and of two as near it has the even last place."""
    if math.isinf(result):
        half = Fraction(math.ulp(float(LARGEST))) / 2
        return (result > 0) == (exact > 0) and abs(exact) >= LARGEST + half
    error = abs(Fraction(result) - exact)
    for side in (-math.inf, math.inf):
        other = math.nextafter(result, side)
        if math.isinf(other):
            continue
        away = abs(Fraction(other) - exact)
        if away < error or (away == error and not _even(result)):
            return False
    return True


def _even(value: float) -> bool:
    return Fraction(value) / Fraction(math.ulp(value)) % 2 == 0


def many(value: float, factor: Factor) -> float:
    """Through arrays, not through the shorter way of few numbers."""
    return float(nearest_products(np.full(module.FEW + 1, value), factor)[-1])


@law
@given(values, st.sampled_from(FACTORS))
def test_a_converted_number_is_the_nearest_to_the_exact_product(v: float, factor: Factor) -> None:
    result = float(nearest_products(np.array([v]), factor)[0])
    assert is_nearest(result, exact_product(v, factor))
    assert many(v, factor) == result


@law
@given(values, st.integers(1, 2**45), st.integers(1, 2**45))
def test_any_ratio_of_whole_numbers_rounds_to_nearest(v: float, above: int, below: int) -> None:
    factor = Factor(Fraction(above, below))
    assert is_nearest(many(v, factor), exact_product(v, factor))


@law
@given(st.integers(2**52, 2**53 - 1), st.integers(1, 2**20), st.integers(0, 2**20), st.booleans())
def test_products_next_to_the_middle_of_two_numbers_round_to_the_right_side(
    odd: int, below: int, wide: int, up: bool
) -> None:
    """The value is chosen so that its product is a middle of two binary64, or next to it."""
    middle = Fraction(2 * odd + 1, 2)
    above = below + wide
    wanted = middle * below / above
    near = float(wanted)
    v = math.nextafter(near, math.inf) if up else near
    factor = Factor(Fraction(above, below))
    for value in (v, near, math.nextafter(near, 0.0)):
        assert is_nearest(many(value, factor), exact_product(value, factor))


def test_ties_go_to_the_even_last_place() -> None:
    factor = factor_between("m/s", "km/h")
    ties = 0
    for number in range(2**50 + 1, 2**50 + 2000):
        value = 5.0 * number
        exact = exact_product(value, factor)
        result = many(value, factor)
        ties += abs(Fraction(result) - exact) == Fraction(math.ulp(result)) / 2
        assert is_nearest(result, exact)
    assert ties > 500


@law
@given(
    st.floats(1e-200, 1e200) | st.floats(-1e200, -1e-200),
    st.sampled_from([pair for pair in PAIRS if pair[0] != "qm"]),
)
def test_there_and_back_is_within_one_last_place(v: float, pair: tuple[str, str]) -> None:
    there, back = factor_between(*pair), factor_between(*reversed(pair))
    again = float(nearest_products(nearest_products(np.array([v]), there), back)[0])
    assert abs(again - v) <= math.ulp(v)


@law
@given(st.floats(1e-200, 1e200), st.sampled_from(FACTORS))
def test_the_error_is_at_most_half_a_last_place(v: float, factor: Factor) -> None:
    result = float(nearest_products(np.array([v]), factor)[0])
    assert abs(Fraction(result) - exact_product(v, factor)) <= Fraction(math.ulp(result)) / 2


@law
@given(st.lists(values, min_size=2, max_size=40), st.sampled_from(FACTORS))
def test_order_is_kept_and_signs_mirror(numbers: list[float], factor: Factor) -> None:
    array = np.sort(np.array(numbers))
    result = nearest_products(array, factor)
    assert (result[1:] >= result[:-1]).all()
    assert np.array_equal(nearest_products(-array, factor), -result)


def test_any_shape_size_and_layout_gives_the_same_bits() -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=(3 * module.CHUNK, 3)) * 10.0 ** random.integers(-9, 9, (1, 3))
    for factor in FACTORS:
        whole_table = nearest_products(table, factor)
        assert np.array_equal(whole_table[:, 1], nearest_products(table[:, 1], factor))
        assert np.array_equal(
            whole_table[::7], nearest_products(np.asfortranarray(table[::7]), factor)
        )
        assert np.array_equal(whole_table[5], nearest_products(table[5], factor))
        assert whole_table[5, 2] == nearest_products(table[5:6, 2], factor)[0]
        assert nearest_products(table[0, 0], factor).shape == ()
        assert nearest_products(table[:0], factor).shape == (0, 3)


@pytest.mark.parametrize("factor", FACTORS)
def test_zero_stays_zero_and_what_is_not_finite_stays_so(factor: Factor) -> None:
    row = np.array([0.0, -0.0, math.nan, math.inf, -math.inf])
    for array in (row, np.tile(row, 20)):
        result = nearest_products(array, factor)[:5]
        assert (result[:2] == 0.0).all()
        assert math.isnan(result[2])
        assert result[3:].tolist() == [math.inf, -math.inf]


def test_what_is_too_large_becomes_infinite_and_what_is_tiny_rounds_once() -> None:
    wide = factor_between("km", "mm")
    assert nearest_products(np.array([1e303, -1e303]), wide).tolist() == [math.inf, -math.inf]
    for value in (5e-324, 3e-323, 1.7e-308, 4.4e-320):
        for factor in FACTORS:
            assert is_nearest(many(value, factor), exact_product(value, factor))


def test_a_factor_of_one_gives_the_array_itself() -> None:
    array = np.array([1.0, 2.0])
    assert nearest_products(array, Factor()) is array
    assert conversion("p", "Pa", "N/m^2") is None
    assert conversion("p", "Pa", "Pa") is None


def test_pi_is_enclosed_by_what_stands_for_it() -> None:
    for bits in (64, 256):
        low, high = module._pi(bits)
        assert low < PI + Fraction(1, 10**99)
        assert high > PI - Fraction(1, 10**99)
        assert high - low < Fraction(1, 2**bits)
    near = rational_factor(factor_between("deg", "rad"))
    assert abs(near / (PI / 180) - 1) < Fraction(1, 2**250)
    assert rational_factor(factor_between("m/s", "km/h")) == Fraction(18, 5)


def test_a_conversion_tells_what_it_does_and_is_picklable() -> None:
    made = conversion("speed", "m/s", "km/h")
    assert made is not None
    assert str(made) == "speed: recorded in m/s, read in km/h (x 18/5)"
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again(np.array([10.0])).tolist() == [36.0]
    with pytest.raises(UnitError, match=r"m/s \(speed\) and m \(length\)"):
        conversion("speed", "m/s", "m")
