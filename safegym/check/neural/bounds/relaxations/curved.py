"""Lines around convex and concave functions: square, exp, square root."""

import numpy as np

from safegym.check.neural.bounds.relaxations.lines import (
    Lines,
    above_line,
    below_line,
    chord_slope,
)
from safegym.check.neural.bounds.rounding import LIBRARY, TINY, UNIT, Array, magnitude


def square(low: Array, high: Array) -> Lines:
    """Chord above; below the tangent at the middle: x*x - s x >= -s*s/4 for every x."""
    middle = 0.5 * low + 0.5 * high
    lower_slope = 2.0 * middle
    lower = -0.25 * lower_slope * lower_slope
    upper_slope = low + high
    upper = np.maximum(
        above_line(low * low, upper_slope, low, 2.0 * UNIT),
        above_line(high * high, upper_slope, high, 2.0 * UNIT),
    )
    return Lines(lower_slope, lower - (np.abs(lower) * 4.0 * UNIT + TINY), upper_slope, upper)


def exponential(low: Array, high: Array) -> Lines:
    """Chord above; below the tangent near the middle, exp(t) (1 + x - t) <= exp(x)."""
    at_low, at_high = np.exp(low), np.exp(high)
    chord = chord_slope(at_low, at_high, low, high, at_low)
    upper = np.maximum(
        above_line(at_low, chord, low, LIBRARY), above_line(at_high, chord, high, LIBRARY)
    )
    # the tangent at t is positive at low for t < low + 1: no worse than the constant there.
    touch = np.minimum(0.5 * low + 0.5 * high, low + 0.99)
    slope = np.exp(touch)
    # exp(x) >= v + v (x - t) for the true v = exp(t), within a relative error of `slope`.
    height = slope - slope * touch
    reach = 1.0 + np.abs(touch) + magnitude(low, high)
    error = (slope * (LIBRARY + 8.0 * UNIT) + 4.0 * TINY) * reach
    return Lines(slope, height - error, chord, upper)


def square_root(low: Array, high: Array) -> Lines:
    """Chord below; above the tangent at the middle: sqrt(x) - s x <= 1 / (4 s). Needs low >= 0."""
    at_low, at_high = np.sqrt(low), np.sqrt(high)
    middle = 0.5 * low + 0.5 * high
    flat = middle <= 0.0
    upper_slope = np.where(flat, 0.0, 0.5 / np.sqrt(np.where(flat, 1.0, middle)))
    upper = np.where(flat, at_high, 0.25 / np.where(flat, 1.0, upper_slope))
    chord = chord_slope(at_low, at_high, low, high, upper_slope)
    lower = np.minimum(
        below_line(at_low, chord, low, 2.0 * UNIT), below_line(at_high, chord, high, 2.0 * UNIT)
    )
    return Lines(chord, lower, upper_slope, upper + (upper * 4.0 * UNIT + TINY))
