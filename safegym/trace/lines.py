"""Points on the line between two samples, each rounded once.

The point is computed with twice the digits of binary64 (error-free products and sums: Dekker 1971,
Knuth 1969), and kept where a bound on what is left of the error shows that the nearest binary64
number is found (Ziv's test); the few others are worked out in whole numbers.
"""

import numpy as np
from numpy.typing import NDArray

from safegym.trace.grid import Ticks
from safegym.trace.products import lost

Floats = NDArray[np.float64]
_EXACT_INTEGERS = 2**53
_SMALLEST = 1e-200
_LEFT = 2.0**-98
"""Bound on the error of `_close`, relative to the larger of its two products."""


def on_line(before: Floats, after: Floats, ahead: Ticks, width: Ticks) -> Floats:
    """The points before + (after - before) * ahead / width, each the nearest binary64 number.

    All of shape (m,), finite, 0 < ahead < width. Ties go to even, and 0.0 stands for -0.0. The
    result lies between the two samples.
    """
    behind = width - ahead
    with np.errstate(all="ignore"):
        found, sure = _close(before, after, behind, ahead, width)
    middle = ahead == behind
    sure |= middle & _halves_exactly(before) & _halves_exactly(after)
    found[middle] = 0.5 * before[middle] + 0.5 * after[middle]
    left = np.flatnonzero(~sure)
    found[left] = [
        _exactly(*numbers)
        for numbers in zip(
            before[left].tolist(),
            after[left].tolist(),
            behind[left].tolist(),
            ahead[left].tolist(),
            strict=True,
        )
    ]
    return found + 0.0


def _halves_exactly(x: Floats) -> NDArray[np.bool_]:
    """Where half a number loses no digit to underflow."""
    exactly: NDArray[np.bool_] = (x == 0.0) | (np.abs(x) > _SMALLEST)
    return exactly


def _close(
    before: Floats, after: Floats, behind: Ticks, ahead: Ticks, width: Ticks
) -> tuple[Floats, NDArray[np.bool_]]:
    """(before * behind + after * ahead) / width, and where it is surely the nearest.

    What overflows becomes NaN, and what underflows beside a result above `_SMALLEST` is far below
    the bound on the error.
    """
    first, first_rest = _product(before, behind.astype(np.float64))
    second, second_rest = _product(after, ahead.astype(np.float64))
    total, rest = _sum(first, second)
    total, rest = _sum(total, rest + (first_rest + second_rest))
    whole = width.astype(np.float64)
    quotient = total / whole
    back, back_rest = _product(quotient, whole)
    correction = ((total - back) - back_rest + rest) / whole
    found, low = _sum(quotient, correction)
    error = np.maximum(np.abs(first), np.abs(second)) / whole * _LEFT + np.abs(low) * 2.0**-50
    sure = (found + (low + error) == found) & (found + (low - error) == found)
    sure &= (width < _EXACT_INTEGERS) & (
        (np.abs(found) > _SMALLEST) | ((before == 0) & (after == 0))
    )
    return found, sure


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The sum, and what rounding left off it, exactly."""
    total: Floats = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The product, and what rounding left off it, exactly."""
    product: Floats = a * b
    return product, lost(a, b, product)


def _exactly(before: float, after: float, behind: int, ahead: int) -> float:
    """The point in whole numbers; Python divides two of them to the nearest float."""
    p, q = before.as_integer_ratio()
    r, s = after.as_integer_ratio()
    return (p * s * behind + r * q * ahead) / (q * s * (behind + ahead))
