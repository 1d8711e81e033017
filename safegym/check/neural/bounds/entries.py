"""Interval bounds of operations on each entry, outward."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds.deployed import elementwise_error
from safegym.check.neural.bounds.plan import Step
from safegym.check.neural.bounds.rounding import (
    LIBRARY,
    TINY,
    UNIT,
    Array,
    down,
    magnitude,
    up,
    without_nan,
)
from safegym.check.neural.graph import Precision
from safegym.errors import UnsupportedError

Interval = tuple[Array, Array]
"""Lower and upper ends, each (B, size)."""


def unary_interval(step: Step, source: Interval, deployed: bool) -> tuple[Array, Array, Array]:
    """Bounds (B, size) of an operation on each entry, and the deployed result's error (B, size).

    What has no bound on either side may be no number (an overflow, the root of a negative number):
    no operation bounds it, not even a clip.
    """
    node, (low, high) = step.node, source
    with np.errstate(invalid="ignore", over="ignore"):
        exact_low, exact_high = _exact(step, low, high)
        if not deployed or node.precision == "exact":
            nothing = (low == -np.inf) & (high == np.inf)
            return *_without(nothing, *without_nan(exact_low, exact_high)), np.zeros_like(low)
        error = elementwise_error(node, low, high, up(magnitude(exact_low, exact_high)))
        if node.kind == "cast":  # rounding to nearest keeps the order of its arguments
            least, most = (_rounded(x, node.precision) for x in (low, high))
        else:
            least, most = without_nan(down(exact_low - error), up(exact_high + error))
    if node.kind in ("square", "sqrt", "exp", "sigmoid"):
        least = np.maximum(least, 0.0)
    nothing = ~(np.isfinite(low) & np.isfinite(high) & np.isfinite(error)) | (exact_low == -np.inf)
    return *_without(nothing, least, most), error


def _without(nothing: NDArray[np.bool_], low: Array, high: Array) -> Interval:
    """The same bounds but none at all where told."""
    if not nothing.any():
        return low, high
    return np.where(nothing, -np.inf, low), np.where(nothing, np.inf, high)


def _rounded(values: Array, precision: Precision) -> Array:
    return values.astype(np.float32).astype(np.float64) if precision == "float32" else values


def _exact(step: Step, low: Array, high: Array) -> Interval:
    node = step.node
    if node.kind in _PLAIN:
        return _PLAIN[node.kind](low, high)
    if node.kind == "leaky_relu":
        return _leaky(low, high, node.slope)
    if node.kind == "clip" and node.low is not None and node.high is not None:
        return np.clip(low, node.low, node.high), np.clip(high, node.low, node.high)
    if node.kind == "divide" and node.divisor is not None:
        return down(low / node.divisor), up(high / node.divisor)
    raise UnsupportedError(f"A {node.kind} of a graph has no bounds.")


def _relu(low: Array, high: Array) -> Interval:
    return np.maximum(low, 0.0), np.maximum(high, 0.0)


def _absolute(low: Array, high: Array) -> Interval:
    across = (low <= 0.0) & (high >= 0.0)
    return np.where(across, 0.0, np.minimum(np.abs(low), np.abs(high))), magnitude(low, high)


def _square(low: Array, high: Array) -> Interval:
    inner, outer = _absolute(low, high)
    return np.maximum(down(inner * inner), 0.0), up(outer * outer)


def _root(low: Array, high: Array) -> Interval:
    """No bounds where the argument may be negative: the root is not defined there."""
    defined = low >= 0.0
    least = np.maximum(down(np.sqrt(np.where(defined, low, 0.0))), 0.0)
    most = up(np.sqrt(np.where(defined, high, 0.0)))
    return np.where(defined, least, -np.inf), np.where(defined, most, np.inf)


def _logistic(low: Array, high: Array) -> Interval:
    least, most = (0.5 + 0.5 * np.tanh(0.5 * x) for x in (low, high))
    return np.maximum(least - 8.0 * UNIT, 0.0), np.minimum(most + 8.0 * UNIT, 1.0)


def _leaky(low: Array, high: Array, slope: float) -> Interval:
    """Increasing for slopes from 0 on, else with its least value at 0."""
    least = [np.where(x >= 0.0, x, down(slope * x)) for x in (low, high)]
    most = [np.where(x >= 0.0, x, up(slope * x)) for x in (low, high)]
    if slope >= 0.0:
        return least[0], most[1]
    across = (low < 0.0) & (high > 0.0)
    lower = np.minimum(*least)
    return np.where(across, np.minimum(lower, 0.0), lower), np.maximum(*most)


def _bounded(at_low: Array, at_high: Array, least: float, most: float) -> Interval:
    """An increasing library function's values, widened, within its own range."""
    low = at_low - (np.abs(at_low) * LIBRARY + TINY)
    high = at_high + (np.abs(at_high) * LIBRARY + TINY)
    return np.maximum(low, least), np.minimum(high, most)


def _wave(low: Array, high: Array, at_low: Array, at_high: Array, crest: float) -> Interval:
    """A wave with a crest at `crest`, period 2 pi, and its trough half a period on."""
    far = ~(magnitude(low, high) < 1e6)
    safe_low, safe_high = np.where(far, 0.0, low), np.where(far, 0.0, high)
    reach = 1e-9
    crests, troughs = (
        np.floor((safe_high + reach - at) / (2.0 * np.pi))
        >= np.ceil((safe_low - reach - at) / (2.0 * np.pi))
        for at in (crest, crest + np.pi)
    )
    least = np.minimum(at_low, at_high) - LIBRARY
    most = np.maximum(at_low, at_high) + LIBRARY
    return (
        np.where(far | troughs, -1.0, np.maximum(least, -1.0)),
        np.where(far | crests, 1.0, np.minimum(most, 1.0)),
    )


_PLAIN: dict[str, Callable[[Array, Array], Interval]] = {
    "relu": _relu,
    "abs": _absolute,
    "square": _square,
    "sqrt": _root,
    "sigmoid": _logistic,
    "tanh": lambda low, high: _bounded(np.tanh(low), np.tanh(high), -1.0, 1.0),
    "exp": lambda low, high: _bounded(np.exp(low), np.exp(high), 0.0, np.inf),
    "sin": lambda low, high: _wave(low, high, np.sin(low), np.sin(high), 0.5 * np.pi),
    "cos": lambda low, high: _wave(low, high, np.cos(low), np.cos(high), 0.0),
    "cast": lambda low, high: (low, high),
}
"""Operations that are told by their kind alone."""
