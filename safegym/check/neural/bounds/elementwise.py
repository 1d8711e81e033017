"""Lines around a unary step of the plan, and what the backward pass needs of them."""

from collections.abc import Callable

import numpy as np

from safegym.check.neural.bounds.entries import Interval
from safegym.check.neural.bounds.plan import Step
from safegym.check.neural.bounds.relaxations import curved, piecewise, sigmoidal, waves
from safegym.check.neural.bounds.relaxations.lines import Lines
from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, gamma, magnitude
from safegym.errors import UnsupportedError


def lines_of(
    step: Step,
    source: Interval,
    result: Interval,
    error: Array,
    source_error: Array | None,
    prefer: Array | None = None,
) -> Lines:
    """Lines around the step's result, each (B, size).

    source, result: interval bounds of the step's input and of itself. error: how far the deployed
    result may be from the exact operation. source_error: the input's error for each unit of
    coefficient if it is a linear step that leaves it to us. prefer: lower slopes of relu, 0 to 1.
    """
    low, high = source
    usable = np.isfinite(low) & np.isfinite(high)
    if not usable.all():
        low, high = np.where(usable, low, 0.0), np.where(usable, high, 0.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        lines = _relaxed(step, low, high, prefer)
        cost = TINY if source_error is None else source_error * (1.0 + 1e-6)
        lower = lines.lower - (np.abs(lines.lower_slope) * cost + error)
        upper = lines.upper + (np.abs(lines.upper_slope) * cost + error)
        lower = lower - (np.abs(lower) * (8.0 * UNIT) + TINY)
        upper = upper + (np.abs(upper) * (8.0 * UNIT) + TINY)
    good = usable & np.isfinite(lower) & np.isfinite(lines.lower_slope)
    good &= np.isfinite(upper) & np.isfinite(lines.upper_slope)
    if good.all():
        return Lines(lines.lower_slope, lower, lines.upper_slope, upper)
    return Lines(
        np.where(good, lines.lower_slope, 0.0),
        np.where(good, lower, result[0]),
        np.where(good, lines.upper_slope, 0.0),
        np.where(good, upper, result[1]),
    )


def sides_of(lines: Lines, source: Interval) -> Array:
    """The lines as means and half differences (B, 4, size): what a row needs whatever its signs.

    With m, d of the slopes and p, q of the intercepts a coefficient a becomes m a - d |a|, and the
    row's constant grows by p a - q |a|; for a > 0 that is the lower line, for a < 0 the upper one,
    up to rounding, which the intercepts pay for here.
    """
    share = gamma(source[0].shape[1] + 12) * 3.0
    found = np.empty((len(source[0]), 4, source[0].shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        cost = (np.abs(lines.lower_slope) + np.abs(lines.upper_slope)) * magnitude(*source)
        cost = cost * (12.0 * UNIT) + (np.abs(lines.lower) + np.abs(lines.upper)) * share
        if not np.isfinite(cost).all():  # a flat line costs nothing on an infinite interval
            flat = (lines.lower_slope == 0.0) & (lines.upper_slope == 0.0)
            sizes = (np.abs(lines.lower) + np.abs(lines.upper)) * share
            cost = np.where(np.isnan(cost) & ~flat, np.inf, np.where(flat, sizes, cost))
        halves = 0.5 * lines.lower_slope, 0.5 * lines.upper_slope
        np.add(halves[0], halves[1], out=found[:, 0])
        np.subtract(halves[1], halves[0], out=found[:, 1])
        halves = 0.5 * (lines.lower - cost), 0.5 * (lines.upper + cost)
        np.add(halves[0], halves[1], out=found[:, 2])
        np.subtract(halves[1], halves[0], out=found[:, 3])
    return found


def _relaxed(step: Step, low: Array, high: Array, prefer: Array | None) -> Lines:
    node = step.node
    if node.kind in _PLAIN:
        return _PLAIN[node.kind](low, high)
    if node.kind == "relu":
        return piecewise.relu(low, high, prefer)
    if node.kind == "leaky_relu":
        return piecewise.leaky_relu(low, high, node.slope, prefer)
    if node.kind == "clip" and node.low is not None and node.high is not None:
        return piecewise.clip(low, high, node.low, node.high)
    if node.kind == "divide" and node.divisor is not None:
        return _quotient(low, high, node.divisor)
    raise UnsupportedError(f"A {node.kind} of a graph has no lines.")


def _identity(low: Array, high: Array) -> Lines:
    zero, one = np.zeros_like(low), np.ones_like(low)
    return Lines(one, zero, one, zero)


def _root(low: Array, high: Array) -> Lines:
    """No line where the argument may be negative: the root is not defined there."""
    defined = low >= 0.0
    lines = curved.square_root(np.where(defined, low, 0.0), np.where(defined, high, 0.0))
    return Lines(
        lines.lower_slope,
        np.where(defined, lines.lower, -np.inf),
        lines.upper_slope,
        np.where(defined, lines.upper, np.inf),
    )


def _quotient(low: Array, high: Array, divisor: Array) -> Lines:
    slope = np.broadcast_to(1.0 / divisor, low.shape)
    away = magnitude(low, high) * (slope * 2.0 * UNIT + TINY) + TINY
    return Lines(slope, -away, slope, away)


_PLAIN: dict[str, Callable[[Array, Array], Lines]] = {
    "abs": piecewise.absolute,
    "tanh": sigmoidal.tanh,
    "sigmoid": sigmoidal.sigmoid,
    "square": curved.square,
    "exp": curved.exponential,
    "sqrt": _root,
    "sin": waves.sine,
    "cos": waves.cosine,
    "cast": _identity,
}
"""Operations that are told by their kind alone."""
