"""Points that a deployed program can be given and that lie in the exact region."""

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.problem import Problem, Region
from safegym.check.neural.search.rows import Array

_PROJECTIONS = 12


class Interior:
    """Brings points into a problem's region, and says exactly which are there.

    The numbers kept are binary32 where the problem is about a deployed program and the region has
    such numbers along that input, binary64 otherwise. An input without any number in the region has
    none in the interior either: `empty`.
    """

    def __init__(self, problem: Problem) -> None:
        self.region: Region = problem.region
        self.low, self.high = _inward(problem.region)
        self.single = np.zeros(len(self.low), dtype=np.bool_)
        if problem.semantics == "deployed float32":
            low, high = _single_inward(self.low, self.high)
            self.single = low <= high
            self.low = np.where(self.single, low, self.low)
            self.high = np.where(self.single, high, self.high)
        self.empty = bool((self.low > self.high).any())
        unit = 2.0**-23 if self.single.any() else 2.0**-50
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        self._planes = list[tuple[Array, float, float]]()
        for cut in problem.region.cuts:
            normal, bound = np.array([float(value) for value in cut.coefficients]), float(cut.bound)
            slack = 2.0 * unit * (float(np.abs(normal) @ reach) + abs(bound))  # for the rounding
            self._planes.append((normal, bound - slack, float(normal @ normal)))

    def bring(self, points: Array) -> Array:
        """The nearest points (B, n) in the box, pushed behind the cuts as far as that goes."""
        points = np.clip(points, self.low, self.high)
        for _ in range(_PROJECTIONS if self._planes else 0):
            far = 0.0
            for normal, bound, square in self._planes:
                over = np.maximum(points @ normal - bound, 0.0)
                far = max(far, float(over.max(initial=0.0)))
                if square > 0.0:
                    points = points - (1.5 * over / square)[:, None] * normal
            if far == 0.0:
                break
            points = np.clip(points, self.low, self.high)
        with np.errstate(over="ignore"):
            rounded = points.astype(np.float32).astype(np.float64)
        return np.clip(np.where(self.single, rounded, points), self.low, self.high)

    def holds(self, points: Array) -> NDArray[np.bool_]:
        """Which points lie in the region, decided exactly."""
        if self.empty:
            return np.zeros(len(points), dtype=np.bool_)
        inside: NDArray[np.bool_] = np.asarray(
            ((points >= self.low) & (points <= self.high)).all(axis=1)
        )
        if not self.region.cuts:
            return inside
        exact = [
            bool(near) and self.region.contains([float(value) for value in point])
            for near, point in zip(inside, points, strict=True)
        ]
        return np.array(exact, dtype=np.bool_)


def _inward(region: Region) -> tuple[Array, Array]:
    """The greatest binary64 box inside the exact one; low above high where there is none."""
    low, high = [], []
    for least, most in zip(region.low, region.high, strict=True):
        bottom, top = float(least), float(most)
        low.append(np.nextafter(bottom, np.inf) if bottom < least else bottom)
        high.append(np.nextafter(top, -np.inf) if top > most else top)
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


def _single_inward(low: Array, high: Array) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):
        bottom, top = low.astype(np.float32), high.astype(np.float32)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    bottom = np.where(bottom < low, np.nextafter(bottom, up), bottom)
    top = np.where(top > high, np.nextafter(top, down), top)
    return bottom.astype(np.float64), top.astype(np.float64)
