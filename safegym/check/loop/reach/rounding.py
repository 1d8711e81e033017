"""Outward rounding of binary64 sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UNIT = 2.0**-53
TINY = 2.0**-1000
"""Above everything that underflow can take from the sums here."""


def slack(magnitude: Any, terms: int) -> Any:
    """An upper bound on the rounding error of a sum of `terms` products.

    magnitude: the sum of their absolute values, itself worked out in binary64. Any order of the
    sum is covered: its relative error is below (terms + 1) UNIT / (1 - (terms + 1) UNIT); the rest
    of the factor is for the error of `magnitude` and of this product.
    """
    return magnitude * (2.0 * (terms + 4) * UNIT) + TINY


def down(values: Any) -> Any:
    """The next number below."""
    return np.nextafter(values, -np.inf)


def up(values: Any) -> Any:
    """The next number above."""
    return np.nextafter(values, np.inf)


def midpoint(low: Array, high: Array) -> tuple[Array, Array]:
    """A centre and a radius of boxes, the radius rounded up so that both ends are within it."""
    centre = 0.5 * low + 0.5 * high
    radius = np.maximum(up(high - centre), up(centre - low))
    point = low == high
    return np.where(point, low, centre), np.where(point, 0.0, np.maximum(radius, 0.0))
