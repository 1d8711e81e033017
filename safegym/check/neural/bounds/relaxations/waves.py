"""Lines around sine and cosine on intervals of any width."""

import numpy as np

from safegym.check.neural.bounds.relaxations.lines import Lines, chord_slope
from safegym.check.neural.bounds.rounding import LIBRARY, TINY, UNIT, Array

_FARTHEST = 1e6
"""Farther out only the constants -1 and 1 are used."""


def sine(low: Array, high: Array) -> Lines:
    """The better of several lines at the middle of the interval."""
    return _wave(low, high, 0.0)


def cosine(low: Array, high: Array) -> Lines:
    """cos(x) = sin(x + pi/2); critical points are placed accordingly."""
    return _wave(low, high, 0.5 * np.pi)


def _wave(low: Array, high: Array, phase: float) -> Lines:
    upper_slope, upper = _upper(low, high, phase)
    # f(x) >= line is -f(x) <= -line, and -sin(x + p) = sin(x + p + pi).
    lower_slope, lower = _upper(low, high, phase + np.pi)
    return Lines(-lower_slope, -lower, upper_slope, upper)


def _value(x: Array, phase: float) -> Array:
    """sin(x + phase) for a phase of 0, 1, 2 or 3 quarter turns, without rounding x + phase."""
    quarter = round(phase / (0.5 * np.pi)) % 4
    return (np.sin(x), np.cos(x), -np.sin(x), -np.cos(x))[quarter]


def _upper(low: Array, high: Array, phase: float) -> tuple[Array, Array]:
    middle = 0.5 * low + 0.5 * high
    at_low, at_high = _value(low, phase), _value(high, phase)
    turn = phase + 0.5 * np.pi  # the derivative is the wave a quarter turn on
    tangent = _value(middle, turn)
    chord = chord_slope(at_low, at_high, low, high, tangent)
    wide = ~((high - low <= 6.0) & (np.maximum(np.abs(low), np.abs(high)) < _FARTHEST))
    best_slope = np.zeros_like(low)
    best = np.ones_like(low)
    for slope in (np.zeros_like(low), chord, tangent, _value(low, turn), _value(high, turn)):
        slope = np.clip(np.where(np.isfinite(slope) & ~wide, slope, 0.0), -1.0, 1.0)
        intercept = np.where(wide, 1.0, _intercept(slope, low, high, at_low, at_high, phase))
        better = intercept + slope * middle < best + best_slope * middle
        best_slope, best = np.where(better, slope, best_slope), np.where(better, intercept, best)
    return best_slope, best


def _intercept(
    slope: Array, low: Array, high: Array, at_low: Array, at_high: Array, phase: float
) -> Array:
    """At least sin(x + phase) - slope * x on [low, high]: the ends and the local maxima.

    Local maxima are at x + phase = acos(slope) + 2 pi k; with a slope >= 0 the first of them in
    the interval is the largest, else the last. A maximum next to the interval does no harm.
    """
    safe = np.where(np.abs(low) < _FARTHEST, low, 0.0)
    last = np.where(np.abs(high) < _FARTHEST, high, 0.0)
    crest = np.arccos(slope) - phase
    reach = 1e-9
    first_turn = np.ceil((safe - reach - crest) / (2.0 * np.pi))
    last_turn = np.floor((last + reach - crest) / (2.0 * np.pi))
    inside = first_turn <= last_turn
    at = crest + 2.0 * np.pi * np.where(slope >= 0.0, first_turn, last_turn)
    top = _value(at, phase) - slope * at
    # |f''| <= 1 and the crest is within 1e-14 (1 + |at|) of `at`: second order, and rounding.
    away = 1e-14 * (1.0 + np.abs(at))
    top = top + 4.0 * away
    ends = np.maximum(_end(at_low, slope, low), _end(at_high, slope, high))
    return np.where(inside, np.maximum(ends, top), ends)


def _end(value: Array, slope: Array, x: Array) -> Array:
    """At least sin(x + phase) - slope * x; next to a zero a library's error is not relative."""
    moved = slope * x
    slack = (LIBRARY + 4.0 * UNIT) + np.abs(moved) * (4.0 * UNIT)
    return value - moved + (slack + 4.0 * TINY)
