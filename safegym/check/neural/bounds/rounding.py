"""Rounding of binary64, accounted for outward, and of binary32 where a policy is deployed in it."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UNIT = 2.0**-53
"""Unit roundoff of binary64, round to nearest."""
UNIT32 = 2.0**-24
"""Unit roundoff of binary32."""
TINY = 2.0**-1022
"""Above what an operation loses by underflow, whether or not results are flushed to zero."""
TINY32 = 2.0**-149
"""Above what an operation of binary32 loses by gradual underflow."""
LARGEST32 = float(np.finfo(np.float32).max)
LIBRARY = 8.0 * UNIT
"""Relative error of a transcendental function of the numerical library: 4 units in the last place,
each at most 2**-52 of the value."""


def gamma(terms: int, unit: float = UNIT) -> float:
    """Bounds the relative error of a sum of products in any order, fused or not.

    Higham 2002, lemma 3.1: n u / (1 - n u), for n u < 1; rounded up by a relative 1e-6.
    """
    if terms * unit >= 0.5:
        return math.inf
    return terms * unit / (1.0 - terms * unit) * (1.0 + 1e-6)


def up(values: Array) -> Array:
    """Above the exact result of the one operation that gave the values."""
    return values + (np.abs(values) * (2.0 * UNIT) + TINY)


def down(values: Array) -> Array:
    """Below the exact result of the one operation that gave the values."""
    return values - (np.abs(values) * (2.0 * UNIT) + TINY)


def magnitude(low: Array, high: Array) -> Array:
    """The largest absolute value in each interval."""
    return np.maximum(np.abs(low), np.abs(high))


def without_nan(low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds with every NaN replaced by no bound at all, in place."""
    low[np.isnan(low)] = -np.inf
    high[np.isnan(high)] = np.inf
    return low, high
