"""Whether a region with cuts holds any point."""

from fractions import Fraction

import numpy as np

from safegym.check.neural.problem import Region
from safegym.errors import UnsupportedError


def check_not_empty(region: Region) -> None:
    """Raises UnsupportedError for a region in which no point is found.

    A proof over an empty region would say nothing. A point is found by linear programming and
    checked exactly; a region that is thinner than binary64 can tell is refused with the empty ones.
    """
    if region.cuts and inside(region) is None:
        raise UnsupportedError(
            f"The region is empty, or too thin to find a point in: no observation of its box meets "
            f"its {len(region.cuts)} linear constraints. Widen the box or drop a constraint."
        )


def inside(region: Region) -> list[Fraction] | None:
    """A point of the region, as far from its cuts as can be; None where none was found."""
    middle = [(low + high) / 2 for low, high in zip(region.low, region.high, strict=True)]
    if region.contains(middle):
        return middle
    from scipy.optimize import linprog

    low, high = region.outward()
    size = len(low)
    rows = np.array([[float(c) for c in cut.coefficients] for cut in region.cuts])
    norms = np.linalg.norm(rows, axis=1)
    bounds = [float(cut.bound) for cut in region.cuts]
    for slack in (True, False):
        matrix = np.column_stack([rows, norms if slack else np.zeros(len(rows))])
        solved = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=matrix,
            b_ub=bounds,
            bounds=[*zip(low, high, strict=True), (0.0, 1.0 if slack else 0.0)],
        )
        if solved.x is not None:
            ends = zip(region.low, solved.x[:size], region.high, strict=True)
            point = [min(max(Fraction(float(x)), a), b) for a, x, b in ends]
            if region.contains(point):
                return point
    return None
