"""Lines around tanh and the logistic function."""

from functools import cache

import numpy as np

from safegym.check.neural.bounds.relaxations.lines import Lines, chord_slope
from safegym.check.neural.bounds.rounding import LIBRARY, TINY, UNIT, Array

_FARTHEST = 24.0
"""Beyond this |x| binary64's tanh is 1; a tangent point is not sought farther out."""
_CELLS = 8192
"""Cells of the table of touching points."""
_DERIVATIVE = 2.0**-48
"""Above the absolute error of 1 - tanh(x)**2 as computed."""


def tanh(low: Array, high: Array) -> Lines:
    """Chords and tangents; the intercepts hold for whatever slope came out of rounding."""
    upper_slope, upper = _upper(low, high)
    lower_slope, lower = _upper(-high, -low)
    return Lines(lower_slope, -lower, upper_slope, upper)


def sigmoid(low: Array, high: Array) -> Lines:
    """1 / (1 + exp(-x)) = 1/2 + tanh(x / 2) / 2."""
    lines = tanh(0.5 * low, 0.5 * high)
    lower, upper = 0.5 + 0.5 * lines.lower, 0.5 + 0.5 * lines.upper
    # halving x may lose the last bit of a number next to 0; the sums round once.
    slack = 4.0 * UNIT + 4.0 * TINY
    return Lines(
        0.25 * lines.lower_slope,
        lower - slack - np.abs(lower) * 2.0 * UNIT,
        0.25 * lines.upper_slope,
        upper + slack + np.abs(upper) * 2.0 * UNIT,
    )


def _upper(low: Array, high: Array) -> tuple[Array, Array]:
    """Slope and intercept of a line above tanh on [low, high].

    Left of 0 tanh is convex: tanh(x) - s x is largest at an end. Right of 0 it is concave: it lies
    below its tangent at any point, here `touch`, and the tangent minus s x is largest at an end.
    """
    at_low, at_high = np.tanh(low), np.tanh(high)
    middle = 0.5 * low + 0.5 * high
    touch = np.maximum(middle, _tangent_point(low))
    # where the tangent from the low end touches beyond the high end the chord lies above.
    chord = (touch >= high) & (low < 0.0)
    touch = np.maximum(np.where(chord, high, np.minimum(touch, high)), 0.0)
    at_touch = np.tanh(touch)
    tilt = 1.0 - at_touch * at_touch
    straight = chord_slope(at_low, at_high, low, high, 1.0 - at_low * at_low)
    slope = np.where(chord, straight, tilt)
    convex_end, concave_end = np.minimum(high, 0.0), np.maximum(low, 0.0)
    at_convex_end = np.where(high <= 0.0, at_high, 0.0)
    left = np.maximum(_gap(at_low, slope, low), _gap(at_convex_end, slope, convex_end))
    left = np.where(low < 0.0, left, -np.inf)
    right = np.maximum(
        _tangent_gap(at_touch, tilt, touch, slope, concave_end),
        _tangent_gap(at_touch, tilt, touch, slope, high),
    )
    right = np.where(high > 0.0, right, -np.inf)
    both_zero = (low >= 0.0) & (high <= 0.0)
    return slope, np.where(both_zero, TINY, np.maximum(left, right))


def _gap(value: Array, slope: Array, x: Array) -> Array:
    """At least tanh(x) - slope * x, from the library's tanh(x)."""
    moved = slope * x
    slack = np.abs(value) * (LIBRARY + 4.0 * UNIT) + np.abs(moved) * (4.0 * UNIT)
    return value - moved + (slack + 4.0 * TINY)


def _tangent_gap(value: Array, tilt: Array, touch: Array, slope: Array, x: Array) -> Array:
    """At least (the tangent at `touch`) - slope * x, for any derivative within its error."""
    step, moved = x - touch, slope * x
    rise = tilt * step
    slack = (
        np.abs(value) * (LIBRARY + 8.0 * UNIT)
        + (np.abs(rise) + np.abs(moved)) * (8.0 * UNIT)
        + np.abs(step) * _DERIVATIVE
        + 8.0 * TINY
    )
    return value + rise - moved + slack


def _tangent_point(low: Array) -> Array:
    """Where the tangent from (low, tanh(low)), low < 0, touches right of 0; a table's guess."""
    table = _table()
    place = np.clip(low, -_FARTHEST, 0.0) * -(_CELLS / _FARTHEST)
    cell = np.minimum(place.astype(np.intp), _CELLS - 1)
    share = place - cell
    return table.take(cell) * (1.0 - share) + table.take(cell + 1) * share


@cache
def _table() -> Array:
    """The touching points for starts at 0, -_FARTHEST / _CELLS, ..., -_FARTHEST, by bisection."""
    starts = np.linspace(0.0, -_FARTHEST, _CELLS + 1)
    left, right = np.zeros_like(starts), np.full_like(starts, _FARTHEST)
    for _ in range(60):
        point = 0.5 * (left + right)
        height = np.tanh(point)
        # the tangent at `point`, read at the start: above the curve there from the touch on.
        above = height + (1.0 - height * height) * (starts - point) >= np.tanh(starts)
        right, left = np.where(above, point, right), np.where(above, left, point)
    return right
