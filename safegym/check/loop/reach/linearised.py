"""A graph on boxes as a matrix with an error around it."""

from dataclasses import dataclass

import numpy as np

from safegym.check.loop.reach.rounding import Array, down, midpoint, slack, up
from safegym.check.neural.bounds import Bounds


@dataclass(frozen=True, slots=True, eq=False)
class Linearised:
    """f(z) = matrix @ z + centre + r with |r| <= radius, at every z of the box, exactly.

    matrix (B, n, k), centre, radius (B, n). low, high (B, n): bounds of f over the box. more: lower
    bounds (B, r) of the graph's further outputs.
    """

    matrix: Array
    centre: Array
    radius: Array
    low: Array
    high: Array
    more: Array


def linearised(bounds: Bounds, low: Array, high: Array, size: int) -> Linearised:
    """Of a graph whose outputs are f (`size` of them), -f, and any others, over boxes (B, k)."""
    found = bounds.linear(low, high)
    below, above = found.coefficients[:, :size], -found.coefficients[:, size : 2 * size]
    least, most = found.constants[:, :size], -found.constants[:, size : 2 * size]
    matrix = 0.5 * below + 0.5 * above
    middle, reach = midpoint(low, high)
    lowest, _ = _over(below, matrix, least, middle, reach)
    _, highest = _over(above, matrix, most, middle, reach)
    centre, radius = midpoint(lowest, np.maximum(lowest, highest))
    lower = found.lower
    ends = lower[:, :size], -lower[:, size : 2 * size]
    return Linearised(matrix, centre, radius, *ends, lower[:, 2 * size :])


def _over(
    rows: Array, matrix: Array, constants: Array, middle: Array, reach: Array
) -> tuple[Array, Array]:
    """Bounds of (rows - matrix) @ z + constants over middle +- reach."""
    apart = rows - matrix
    at = (apart @ middle[:, :, None])[..., 0] + constants
    spread = (np.abs(apart) @ reach[:, :, None])[..., 0]
    weighed = (np.abs(rows) + np.abs(matrix)) @ (np.abs(middle) + reach)[:, :, None]
    error = slack(weighed[..., 0] + np.abs(constants), rows.shape[2] + 4)
    return down(at - spread - error), up(at + spread + error)
