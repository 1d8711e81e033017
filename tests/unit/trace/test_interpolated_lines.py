"""Points on a line between two samples: the nearest binary64 number, always."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safegym.trace import lines
from safegym.trace.lines import on_line

number = st.floats(allow_nan=False, allow_infinity=False)
law = settings(deadline=None, derandomize=True, max_examples=400)


def nearest(before, after, ahead, width):
    share = Fraction(ahead, width)
    return float(Fraction(before) * (1 - share) + Fraction(after) * share)


def assert_nearest(before, after, ahead, width):
    found = on_line(
        np.array(before, dtype=np.float64),
        np.array(after, dtype=np.float64),
        np.array(ahead, dtype=np.int64),
        np.array(width, dtype=np.int64),
    )
    wanted = [nearest(*each) for each in zip(before, after, ahead, width, strict=True)]
    assert found.tolist() == wanted
    assert not np.signbit(found[found == 0.0]).any()


@law
@given(number, number, st.integers(2, 2**61), st.data())
def test_a_point_is_the_nearest_number_to_the_exact_one(before, after, width, data):
    ahead = data.draw(st.integers(1, width - 1))
    assert_nearest([before], [after], [ahead], [width])


@law
@given(number, st.integers(-3, 3), st.sampled_from([2, 3, 4, 8, 10**7, 3 * 10**7, 2**40]))
def test_neighbouring_numbers_and_ties_are_rounded_to_even(before, away, width):
    after = before
    for _ in range(abs(away)):
        after = math.nextafter(after, math.inf if away > 0 else -math.inf)
    if math.isfinite(after):
        shares = sorted({1, width // 2, width - 1})
        assert_nearest([before] * len(shares), [after] * len(shares), shares, [width] * len(shares))


def random_lines(draw, count, digits):
    scale = 10.0 ** draw.integers(-digits, digits + 1, count)
    before, after = draw.normal(size=count) * scale, draw.normal(size=count) * scale
    width = draw.choice([2 * 10**7, 10**7, 3 * 10**7, 7, 12_345_678, 2**30], count)
    return before, after, (draw.integers(1, 2**62, count) % (width - 1)) + 1, width


@pytest.mark.parametrize("digits", [0, 12, 300])
def test_many_points_are_nearest(digits):
    assert_nearest(
        *(each.tolist() for each in random_lines(np.random.default_rng(digits), 3000, digits))
    )


@pytest.mark.slow
def test_a_million_points_are_nearest():
    draw = np.random.default_rng(7)
    for digits in (0, 3, 200):
        assert_nearest(*(each.tolist() for each in random_lines(draw, 330_000, digits)))


def nearly_ties(draw, count):
    """Lines whose exact point is 2**-53 units in the last place away from a tie."""
    found = []
    while len(found) < count:
        width = int(draw.integers(2**51, 2**52)) | 1
        ahead = int(draw.integers(1, width))
        if math.gcd(ahead, width) > 1:
            continue
        half = (width + int(draw.choice([-1, 1]))) // 2
        step = half * pow(ahead, -1, width) % width  # step * ahead / width is half an integer
        before = int(draw.integers(2**52, 2**53 - 2**51))
        if step and before + step < 2**53:
            found.append((float(before), float(before + step), ahead, width))
    return found


def test_points_that_are_almost_ties_are_nearest():
    assert_nearest(*zip(*nearly_ties(np.random.default_rng(3), 2000), strict=True))


def test_distances_beyond_what_a_float_counts_are_nearest():
    draw = np.random.default_rng(4)
    width = draw.integers(2**54, 2**61, 2000)
    ahead = draw.integers(1, 2**62, 2000) % (width - 1) + 1
    before, after = draw.normal(size=(2, 2000))
    assert_nearest(before.tolist(), after.tolist(), ahead.tolist(), width.tolist())


def test_zero_crossings_that_cancel_are_nearest():
    x = [1.0, 0.1, 1e-300, 3.0, -1e16]
    y = [-1.0, -0.1 - 1e-17, -1e-300, -1.0, 1e16 + 2]
    assert_nearest(x, y, [5, 5, 5, 3, 5], [10, 10, 10, 4, 10])
    assert_nearest(x, y, [3, 3, 3, 1, 3], [7, 7, 7, 3, 7])


def test_few_points_need_whole_numbers(monkeypatch):
    """Else the result would be right, but slow."""
    worked_out = []
    exactly = lines._exactly
    monkeypatch.setattr(lines, "_exactly", lambda *a: worked_out.append(a) or exactly(*a))
    draw = np.random.default_rng(1)
    before, after = draw.normal(size=(2, 20_000))
    width = np.full(20_000, 10**7)
    on_line(before, after, draw.integers(1, 10**7, 20_000), width)
    assert len(worked_out) < 20
