"""Two lines that enclose a function of one number on an interval."""

from typing import NamedTuple

import numpy as np

from safegym.check.neural.bounds.rounding import TINY, UNIT, Array


class Lines(NamedTuple):
    """lower_slope * x + lower <= f(x) <= upper_slope * x + upper for each x in [l, u], exactly."""

    lower_slope: Array
    lower: Array
    upper_slope: Array
    upper: Array


def above_line(value: Array, slope: Array, x: Array, relative: float = 0.0) -> Array:
    """At least f(x) - slope * x, where `value` is f(x) up to a relative error.

    The product and the difference are rounded once each; 4 units cover both.
    """
    moved = slope * x
    slack = (np.abs(value) + np.abs(moved)) * (4.0 * UNIT) + (np.abs(value) * relative + 4.0 * TINY)
    return value - moved + slack


def below_line(value: Array, slope: Array, x: Array, relative: float = 0.0) -> Array:
    """At most f(x) - slope * x, where `value` is f(x) up to a relative error."""
    moved = slope * x
    slack = (np.abs(value) + np.abs(moved)) * (4.0 * UNIT) + (np.abs(value) * relative + 4.0 * TINY)
    return value - moved - slack


def chord_slope(at_low: Array, at_high: Array, low: Array, high: Array, otherwise: Array) -> Array:
    """Slope between the ends, or `otherwise` where the interval is a point; no accuracy claimed."""
    width = high - low
    wide = width > 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        rise = (at_high - at_low) / np.where(wide, width, 1.0)
    return np.where(wide & np.isfinite(rise), rise, otherwise)


def mirrored(lines: Lines) -> Lines:
    """Lines of x -> -f(-x) on [-u, -l], from lines of f on [l, u]."""
    return Lines(lines.upper_slope, -lines.upper, lines.lower_slope, -lines.lower)
