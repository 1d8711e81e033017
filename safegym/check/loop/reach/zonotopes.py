"""Many zonotopes side by side: centre + generators @ e, every entry of e in [-1, 1]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.reach.rounding import Array, down, midpoint, slack, up

MOST_GENERATORS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Zonotopes:
    """B zonotopes in n dimensions: centre (B, n), generators (B, n, m)."""

    centre: Array
    generators: Array

    @classmethod
    def of_boxes(cls, low: Array, high: Array) -> "Zonotopes":
        """One for each box (B, n)."""
        centre, radius = midpoint(low, high)
        return cls(centre, _diagonal(radius))

    def box(self) -> tuple[Array, Array]:
        """The boxes (B, n) that hold them, rounded outward."""
        return self.along(np.eye(self.centre.shape[1])[None], np.zeros((1, self.centre.shape[1])))

    def along(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Bounds (B, r) of rows @ x + constants over each; rows (B or 1, r, n), constants alike.

        Sound for exactly these floats.
        """
        middle = (rows @ self.centre[:, :, None])[..., 0]
        spread = np.abs(rows @ self.generators).sum(axis=2)
        sizes = np.abs(self.generators).sum(axis=2)
        weighed = np.abs(rows)
        total = (weighed @ (np.abs(self.centre) + sizes)[:, :, None])[..., 0] + np.abs(constants)
        terms = self.generators.shape[2] * self.centre.shape[1] + self.centre.shape[1] + 2
        error = slack(total, terms)
        return (
            down(middle + constants - spread - error),
            up(middle + constants + spread + error),
        )

    def mapped(
        self, matrix: Array, more: Array, middle: Array, centre: Array, radius: Array
    ) -> "Zonotopes":
        """Matrix @ x + more @ w + centre, and anything within `radius` of it.

        matrix (B, n, n); more (B, n, k) are generators with their own entries of e; middle (B, n)
        is what `more` is about; centre, radius (B, n).
        """
        moved = (matrix @ self.centre[:, :, None])[..., 0]
        turned = matrix @ self.generators
        weighed = np.abs(matrix)
        sizes = np.abs(self.centre) + np.abs(self.generators).sum(axis=2)
        total = (weighed @ sizes[:, :, None])[..., 0] + np.abs(middle) + np.abs(centre)
        terms = self.generators.shape[2] + 2 * self.centre.shape[1] + 4
        loose = up(radius + slack(total, terms))
        generators = np.concatenate([turned, more, _diagonal(loose)], axis=2)
        return Zonotopes(moved + middle + centre, generators).reduced()

    def reduced(self, most: int = MOST_GENERATORS) -> "Zonotopes":
        """With at most `most` generators: the smallest are put into one box (order reduction)."""
        count = self.generators.shape[2]
        if count <= most:
            return self
        n = self.centre.shape[1]
        order = np.argsort(np.abs(self.generators).sum(axis=1), axis=1)
        placed = np.take_along_axis(self.generators, order[:, None, :], axis=2)
        small, kept = placed[:, :, : count - most + n], placed[:, :, count - most + n :]
        total = np.abs(small).sum(axis=2)
        boxed = up(total + slack(total, small.shape[2]))
        return Zonotopes(self.centre, np.concatenate([kept, _diagonal(boxed)], axis=2))

    def chosen(self, at: NDArray[np.intp]) -> "Zonotopes":
        """Those at the given places."""
        return Zonotopes(self.centre[at], self.generators[at])


def _diagonal(values: Array) -> Array:
    rows, size = values.shape
    out = np.zeros((rows, size, size))
    out[:, np.arange(size), np.arange(size)] = values
    return out
