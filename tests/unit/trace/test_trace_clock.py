"""Exact time from text and floats."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.errors import TraceError
from safegym.rational import simplest_between
from safegym.trace.clock import Clock, exact

law = settings(deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/240", Fraction(1, 240)),
        (" 2.5e-3 ", Fraction(1, 400)),
        (0.1, Fraction(1, 10)),
        (1 / 240, Fraction(1, 240)),
        (1 / 3, Fraction(1, 3)),
        (0.02, Fraction(1, 50)),
        (-0.3, Fraction(-3, 10)),
        (0.0, Fraction(0)),
        (7, Fraction(7)),
        (999999999999.0, Fraction(999999999999)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (np.float64(0.1), Fraction(1, 10)),
        (Fraction(22, 7), Fraction(22, 7)),
    ],
)
def test_a_number_of_seconds_is_read_exactly(value, meant):
    assert exact(value) == meant


@pytest.mark.parametrize("value", ["", "abc", "1/0", "0x10", "1_000", "nan", "inf", "1e9999"])
def test_text_that_is_no_number_is_refused(value):
    with pytest.raises(TraceError, match="dt must be a number such as"):
        exact(value)


@pytest.mark.parametrize("value", [True, None, [0.1], 1j, np.float32(0.1)])
def test_other_types_are_refused_with_a_line_that_works(value):
    with pytest.raises(TraceError, match=r'write text such as dt="0\.1"'):
        exact(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_float_that_is_not_finite_is_refused(value):
    with pytest.raises(TraceError, match="dt must be a finite number such as"):
        exact(value)


@pytest.mark.parametrize("dt", ["0", "-0.1", "1e-13", "1e10"])
def test_a_clock_refuses_steps_out_of_range(dt):
    with pytest.raises(TraceError, match="1e-12 <= dt <= 1e9 seconds"):
        Clock.parse(dt)


def test_a_clock_converts_what_it_is_given():
    assert Clock("0.1") == Clock.parse(0.1) == Clock(Fraction(1, 10))  # type: ignore[arg-type]  # text at run time


def test_sample_times_are_rounded_once():
    clock = Clock.parse("0.1", start="0.3")
    assert [clock.time(k) for k in range(5)] == [0.3, 0.4, 0.5, 0.6, 0.7]


def slow_simplest(low, high):
    """Second opinion: try every denominator."""
    for q in range(1, 10**4):
        p = -((-low.numerator * q) // low.denominator)
        if Fraction(p, q) <= high:
            return Fraction(p, q)
    raise ValueError


@law
@given(
    st.fractions(min_value=Fraction(1, 500), max_value=50, max_denominator=500),
    st.integers(1, 10**6),
)
def test_the_simplest_rational_is_the_one_found_by_trying_all_denominators(low, inverse_width):
    high = low * (1 + Fraction(1, inverse_width))
    assert simplest_between(low, high) == slow_simplest(low, high)


@law
@given(st.floats(min_value=1e-15, max_value=1e25))
def test_a_float_is_within_1e_12_of_its_rational(value):
    assert abs(exact(value) / Fraction(value) - 1) <= Fraction(1, 10**12)


@law
@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000))
def test_a_simple_rational_survives_the_way_through_a_float(value):
    assert exact(float(value)) == value
