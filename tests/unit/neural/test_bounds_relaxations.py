"""Laws of each relaxation: its lines enclose the function, at any ends, decided in rationals."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from soundness_battery import EXACT, LIBRARY, interesting, plain_kit, relaxation, wrong_points

from safegym.check.neural.bounds.relaxations.bilinear import product, product_interval
from safegym.check.neural.bounds.relaxations.piecewise import clip, leaky_relu, relu

KIT = plain_kit()
LIMITS = {"exponential": 60.0, "sine": 1e5, "cosine": 1e5, "tanh": 300.0, "sigmoid": 300.0}


def ends(limit: float) -> st.SearchStrategy[tuple[float, float]]:
    """Two ends in order, of any size up to the limit, often near each other or near 0."""
    anywhere = st.floats(-limit, limit, allow_nan=False)
    near = st.floats(-4.0, 4.0)
    either = st.one_of(anywhere, near)
    apart = st.tuples(either, either)
    close = st.tuples(near, st.sampled_from([0.0, 1e-300, 1e-16, 1e-9, 1e-3])).map(
        lambda pair: (pair[0], pair[0] + pair[1])
    )
    return st.one_of(apart, close).map(lambda pair: (min(pair), max(pair)))


def check(name: str, low: float, high: float) -> None:
    lines = relaxation(KIT, name)(np.array([[low]]), np.array([[high]]))
    assert all(np.isfinite(each).all() for each in lines)
    slopes = [float(lines[0][0, 0]), float(lines[2][0, 0])]
    assert wrong_points(name, lines, low, high, interesting(low, high, slopes)) == []


@pytest.mark.parametrize("name", EXACT)
@given(ends=ends(1e30))
@example(ends=(0.0, 0.0))
@example(ends=(-0.0, 5e-324))
@example(ends=(-5e-324, 5e-324))
@example(ends=(-1e30, 1e30))
@example(ends=(-1e-310, 1e30))
@settings(max_examples=60, deadline=None)
def test_the_lines_of_a_rational_function_enclose_it(name: str, ends: tuple[float, float]) -> None:
    check(name, *ends)


@pytest.mark.parametrize("name", LIBRARY)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_lines_of_a_library_function_enclose_it(name: str, data: Any) -> None:
    low, high = data.draw(ends(LIMITS.get(name, 1e12)))
    if name == "square_root":
        low, high = sorted((abs(low), abs(high)))
    check(name, low, high)


@given(
    left=ends(1e12),
    right=ends(1e12),
    second=st.booleans(),
    shares=st.tuples(*[st.floats(0, 1)] * 2),
)
@settings(max_examples=200, deadline=None)
def test_the_planes_of_a_product_enclose_it(
    left: tuple[float, float],
    right: tuple[float, float],
    second: bool,
    shares: tuple[float, float],
) -> None:
    boxes = [np.array([[end]]) for end in (*left, *right)]
    a, b, c, d, e, f = (Fraction(float(each[0, 0])) for each in product(*boxes, second))
    spans = [Fraction(float(each[0, 0])) for each in product_interval(*boxes)]
    for u in (0.0, 1.0, shares[0]):
        for v in (0.0, 1.0, shares[1]):
            x, y = (
                Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(share)
                for (low, high), share in ((left, u), (right, v))
            )
            assert a * x + b * y + c <= x * y <= d * x + e * y + f
            assert spans[0] <= x * y <= spans[1]


@given(ends=ends(1e9), prefer=st.floats(0.0, 1.0))
@settings(max_examples=100, deadline=None)
def test_any_lower_slope_between_0_and_1_encloses_relu(
    ends: tuple[float, float], prefer: float
) -> None:
    low, high = np.array([[ends[0]]]), np.array([[ends[1]]])
    lines = relu(low, high, np.array([[prefer]]))
    assert wrong_points("relu", lines, *ends, interesting(*ends, [])) == []


@given(ends=ends(1e6), slope=st.floats(-3.0, 3.0))
@settings(max_examples=100, deadline=None)
def test_leaky_relu_of_any_slope_is_enclosed(ends: tuple[float, float], slope: float) -> None:
    low, high = np.array([[ends[0]]]), np.array([[ends[1]]])
    a, b, c, d = (Fraction(float(each[0, 0])) for each in leaky_relu(low, high, slope))
    for end in (*ends, 0.5 * ends[0] + 0.5 * ends[1], 0.0):
        if ends[0] <= end <= ends[1]:
            x = Fraction(end)
            value = x if x >= 0 else Fraction(slope) * x
            assert a * x + b <= value <= c * x + d


@given(ends=ends(1e6), limits=ends(10.0))
@settings(max_examples=100, deadline=None)
def test_a_clip_to_any_limits_is_enclosed(
    ends: tuple[float, float], limits: tuple[float, float]
) -> None:
    low, high, least, most = (np.array([[end]]) for end in (*ends, *limits))
    a, b, c, d = (Fraction(float(each[0, 0])) for each in clip(low, high, least, most))
    for end in (*ends, *limits, 0.5 * ends[0] + 0.5 * ends[1]):
        if ends[0] <= end <= ends[1]:
            x = Fraction(end)
            value = min(max(x, Fraction(limits[0])), Fraction(limits[1]))
            assert a * x + b <= value <= c * x + d


def test_a_clip_without_limits_is_the_identity() -> None:
    low, high = np.array([[-3.0]]), np.array([[5.0]])
    lines = clip(low, high, np.array([[-np.inf]]), np.array([[np.inf]]))
    assert [float(each[0, 0]) for each in lines] == pytest.approx([1.0, 0.0, 1.0, 0.0], abs=1e-14)


@pytest.mark.parametrize("name", [*EXACT, *LIBRARY])
def test_lines_are_tight_on_narrow_intervals(name: str) -> None:
    low, high = np.array([[0.4]]), np.array([[0.4 + 1e-5]])
    a, b, c, d = relaxation(KIT, name)(low, high)
    middle = 0.5 * (low + high)
    assert float(((c - a) * middle + d - b)[0, 0]) < 1e-9


@pytest.mark.parametrize("name", ["tanh", "sine", "cosine", "sigmoid"])
def test_lines_are_at_most_as_far_apart_as_the_function_reaches(name: str) -> None:
    random = np.random.default_rng(0)
    low = random.normal(size=(200, 1)) * 3.0
    high = low + np.abs(random.normal(size=(200, 1))) * 2.0
    a, b, c, d = relaxation(KIT, name)(low, high)
    middle = 0.5 * (low + high)
    assert ((c - a) * middle + d - b <= 2.0 + 1e-9).all()
