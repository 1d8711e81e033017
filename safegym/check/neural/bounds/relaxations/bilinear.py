"""Planes around a product (McCormick 1976)."""

from typing import NamedTuple

import numpy as np

from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, magnitude


class Planes(NamedTuple):
    """lower_left * x + lower_right * y + lower <= x y <= upper_left * x + ..., exactly."""

    lower_left: Array
    lower_right: Array
    lower: Array
    upper_left: Array
    upper_right: Array
    upper: Array


def product(
    left_low: Array, left_high: Array, right_low: Array, right_high: Array, second: bool = False
) -> Planes:
    """The product x y, x and y in their intervals; the slopes are ends, not rounded.

    Of the two planes on each side, which lose the same volume, `second` takes the other one.
    From (x - a)(y - b) >= 0: x y >= b x + a y - a b.
    """
    a, b = (left_high, right_high) if second else (left_low, right_low)
    c, d = (left_low, right_high) if second else (left_high, right_low)
    lower, upper = -(a * b), -(c * d)
    return Planes(
        b,
        a,
        lower - (np.abs(lower) * 2.0 * UNIT + TINY),
        d,
        c,
        upper + (np.abs(upper) * 2.0 * UNIT + TINY),
    )


def product_interval(
    left_low: Array, left_high: Array, right_low: Array, right_high: Array
) -> tuple[Array, Array]:
    """The least and greatest product of two intervals, outward."""
    corners = np.stack(
        [left_low * right_low, left_low * right_high, left_high * right_low, left_high * right_high]
    )
    slack = magnitude(corners.min(axis=0), corners.max(axis=0)) * 2.0 * UNIT + TINY
    return corners.min(axis=0) - slack, corners.max(axis=0) + slack
