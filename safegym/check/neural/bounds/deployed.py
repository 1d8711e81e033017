"""How far a node's deployed result may lie from its exact operation on its deployed inputs."""

import numpy as np

from safegym.check.neural.bounds.rounding import (
    LARGEST32,
    TINY,
    TINY32,
    UNIT,
    UNIT32,
    Array,
    gamma,
)
from safegym.check.neural.graph import Node, Precision

_LIBRARY_ULPS = 4.0
"""Units in the last place that a deployed tanh, exp, sin or cos may be off."""
_LOGISTIC_ULPS = 8.0
"""The same of a logistic function, which divides by 1 + exp(-x)."""
_LOGISTIC_TAIL = 2.0**-21
"""And its absolute error: ONNX Runtime's is a rational function, off by 1.7e-7 next to 0."""


def unit(precision: Precision) -> tuple[float, float]:
    """Unit roundoff of a precision, and what underflow may lose; zeros where it is exact."""
    if precision == "float32":
        return UNIT32, TINY32
    if precision == "float64":
        return UNIT, TINY
    return 0.0, 0.0


def linear_error(node: Node, weighted: Array, sizes: Array) -> Array:
    """Of a sum in any order, fused or not, of products with stored weights.

    weighted (B, size): above the sum of |weight| |input| + |bias|. sizes (B, 1): above the sum of
    all |input|. One rounding more is allowed for an input and for a weight or bias that the
    precision cannot hold; a weight too small for it may lose TINY32, an input too large overflows.
    """
    roundoff, tiny = unit(node.precision)
    if roundoff == 0.0:
        return np.zeros_like(weighted)
    terms = sum(matrix.shape[1] for matrix in node.weights) + 4
    lost = 4.0 * tiny * (terms + sum(np.abs(matrix).sum(axis=1) for matrix in node.weights))
    error = weighted * gamma(terms, roundoff) + (lost + tiny) + 2.0 * tiny * sizes
    return _overflowing(node, error, np.maximum(weighted, sizes))


def elementwise_error(node: Node, low: Array, high: Array, value: Array) -> Array:
    """Of an operation on each entry; value (B, size): above |result| of the exact operation."""
    roundoff, tiny = unit(node.precision)
    if roundoff == 0.0 or node.kind in ("relu", "abs", "clip", "max", "min", "input"):
        return np.zeros_like(value)
    ulp = 2.0 * roundoff
    match node.kind:
        case "cast" | "sqrt":
            error = roundoff * value
        case "square":
            error = roundoff * value
        case "leaky_relu" | "divide":  # the constant may be rounded too
            error = 3.0 * roundoff * value
            if node.kind == "leaky_relu":
                error = error + tiny * (1.0 + np.maximum(np.abs(low), np.abs(high)))
            else:
                error = error + 2.0 * tiny
        case "sigmoid":
            tail = _LOGISTIC_TAIL if node.precision == "float32" else 2.0**-1000
            error = _LOGISTIC_ULPS * ulp * value + tail
        case "sin" | "cos":  # absolute: next to a zero the reduced argument decides
            error = np.full_like(value, _LIBRARY_ULPS * ulp)
        case _:
            error = _LIBRARY_ULPS * ulp * value
    return _overflowing(node, error * (1.0 + 1e-6) + 8.0 * tiny, value)


def _overflowing(node: Node, error: Array, value: Array) -> Array:
    """No bound at all where a binary32 result may overflow."""
    if node.precision != "float32":
        return error
    return np.where(value * (1.0 + 1e-3) < LARGEST32, error, np.inf)
