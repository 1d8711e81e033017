"""Lines around relu, leaky relu, the absolute value and clipping."""

import numpy as np

from safegym.check.neural.bounds.relaxations.lines import (
    Lines,
    above_line,
    below_line,
    chord_slope,
)
from safegym.check.neural.bounds.rounding import UNIT, Array


def relu(low: Array, high: Array, prefer: Array | None = None) -> Lines:
    """Chord above; below 0 or x, whichever loses the smaller area, or as `prefer` (0 to 1) says.

    Source: Singh et al. 2019, "An abstract domain for certifying neural networks".
    """
    active, inactive = low >= 0.0, high <= 0.0
    unstable = ~(active | inactive)
    lower_slope = (high > -low).astype(np.float64) if prefer is None else prefer.copy()
    lower_slope[active], lower_slope[inactive] = 1.0, 0.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slope = np.where(unstable, high / np.where(unstable, high - low, 1.0), lower_slope)
        at_low = above_line(np.zeros_like(low), slope, low)
        at_high = above_line(high, slope, high)
    upper = np.where(unstable, np.maximum(at_low, at_high), 0.0)
    return Lines(lower_slope, np.zeros_like(low), slope, upper)


def leaky_relu(low: Array, high: Array, slope: float, prefer: Array | None = None) -> Lines:
    """Gives x above 0, slope * x below, for any slope: convex up to slope 1, concave beyond."""
    mid_slope = np.where(high > -low, 1.0, slope)
    if prefer is not None:
        mid_slope = slope + (1.0 - slope) * prefer
    tangent = np.where(low >= 0.0, 1.0, np.where(high <= 0.0, slope, mid_slope))
    at_low, at_high = (np.where(x >= 0.0, x, slope * x) for x in (low, high))
    chord = chord_slope(at_low, at_high, low, high, tangent)
    chord = np.where(low >= 0.0, 1.0, np.where(high <= 0.0, slope, chord))
    lower_slope, upper_slope = (tangent, chord) if slope <= 1.0 else (chord, tangent)
    knot = np.clip(0.0, low, high)
    at_knot = np.where(knot >= 0.0, knot, slope * knot)
    points = [(low, at_low), (high, at_high), (knot, at_knot)]
    return _through(points, lower_slope, upper_slope, 2.0 * UNIT)


def absolute(low: Array, high: Array) -> Lines:
    """Chord above; below the slope of the wider side."""
    sign = np.where(high > -low, 1.0, -1.0)
    tangent = np.where(low >= 0.0, 1.0, np.where(high <= 0.0, -1.0, sign))
    chord = chord_slope(np.abs(low), np.abs(high), low, high, tangent)
    chord = np.where(low >= 0.0, 1.0, np.where(high <= 0.0, -1.0, chord))
    knot = np.clip(0.0, low, high)
    points = [(low, np.abs(low)), (high, np.abs(high)), (knot, np.abs(knot))]
    return _through(points, tangent, chord)


def clip(low: Array, high: Array, least: Array, most: Array) -> Lines:
    """Into [least, most], which may be infinite; the lower of two lines at the middle is kept."""
    inside = (low >= least) & (high <= most)
    flat = (high <= least) | (low >= most)
    at_low, at_high = np.clip(low, least, most), np.clip(high, least, most)
    plain = np.where(inside, 1.0, 0.0)
    # below: a line through the high end and the lower knee; above: through the low end and the
    # upper knee; or a flat line, or the diagonal where only one limit is crossed.
    knee_low, knee_high = np.maximum(low, least), np.minimum(high, most)
    rising_low = chord_slope(knee_low, at_high, knee_low, high, plain)
    rising_high = chord_slope(at_low, knee_high, low, knee_high, plain)
    middle = 0.5 * low + 0.5 * high
    below, above = at_high + rising_low * (middle - high), at_low + rising_high * (middle - low)
    lower_slope = np.where(below > at_low, rising_low, 0.0)
    upper_slope = np.where(above < at_high, rising_high, 0.0)
    fixed = inside | flat
    ends = [(low, at_low), (high, at_high)]
    knots = [np.clip(each, low, high) for each in (least, most)]
    points = ends + [(knot, np.clip(knot, least, most)) for knot in knots]
    lower_slope, upper_slope = (
        np.where(fixed, plain, slope) for slope in (lower_slope, upper_slope)
    )
    return _through(points, lower_slope, upper_slope)


def _through(
    points: list[tuple[Array, Array]],
    lower_slope: Array,
    upper_slope: Array,
    relative: float = 0.0,
) -> Lines:
    """Intercepts over (x, value) at the ends and knots, between which the function is linear.

    relative: error of the values, of their size.
    """
    lower = np.full_like(lower_slope, np.inf)
    upper = np.full_like(upper_slope, -np.inf)
    for x, value in points:
        lower = np.minimum(lower, below_line(value, lower_slope, x, relative))
        upper = np.maximum(upper, above_line(value, upper_slope, x, relative))
    return Lines(lower_slope, lower, upper_slope, upper)
