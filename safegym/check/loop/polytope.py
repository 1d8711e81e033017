"""Sets of states: formulas of linear atoms as unions of polytopes, with exact bounds.

A linear programme in binary64 only proposes which rows bind; what is said is then worked out in
rationals from those rows (weak duality), so that a wrong proposal costs an answer, never a truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from safegym.check.loop.affine import Row, Vector
from safegym.check.neural.problem import HalfSpace, Region


@dataclass(frozen=True, slots=True)
class Polytope:
    """All points on which every row holds; strict rows count as closed where it is a region."""

    rows: tuple[Row, ...]
    dimensions: int

    def contains(self, point: Sequence[Fraction | float]) -> bool:
        """Whether a point lies in it, strictness included."""
        exact = [Fraction(value) for value in point]
        return all(row.holds(exact) for row in self.rows)

    def greatest(self, direction: Vector) -> Fraction | None:
        """An upper bound on direction . x over the closed set, the least that was found.

        None where there is none, or where the set is empty.
        """
        axis = self._by_axes(direction)
        if axis is not None and self._is_box:
            return axis
        dual = _dual_bound(self.rows, direction)
        known = [each for each in (axis, dual) if each is not None]
        return min(known) if known else None

    def box(self) -> tuple[Vector, Vector] | None:
        """A box that holds it, exact; None where it was not found to be bounded."""
        low: list[Fraction] = []
        high: list[Fraction] = []
        for at in range(self.dimensions):
            axis = tuple(Fraction(int(each == at)) for each in range(self.dimensions))
            above = self.greatest(axis)
            below = self.greatest(tuple(-each for each in axis))
            if above is None or below is None:
                return None
            low.append(-below)
            high.append(above)
        return tuple(low), tuple(high)

    def region(self, more: Sequence[tuple[Fraction, Fraction]] = ()) -> Region | None:
        """It as a search's region, further dimensions added; None where it has no box or is empty.

        more: (low, high) of each dimension that comes after the states.
        """
        found = self.box()
        if found is None:
            return None
        low, high = found
        if any(a > b for a, b in zip(low, high, strict=True)):
            return None
        tail = (Fraction(0),) * len(more)
        cuts = tuple(
            HalfSpace((*row.coefficients, *tail), row.bound)
            for row in self.rows
            if sum(map(bool, row.coefficients)) > 1
        )
        return Region(
            (*low, *(each[0] for each in more)), (*high, *(each[1] for each in more)), cuts
        )

    @property
    def is_surely_empty(self) -> bool:
        """Whether it is empty, by its box or a sum of rows that is absurd; False says nothing."""
        if any(row.bound < 0 and not any(row.coefficients) for row in self.rows):
            return True
        found = self.box()
        if found is not None and any(a > b for a, b in zip(*found, strict=True)):
            return True
        return not self._is_box and _contradicted(self.rows, self.dimensions)

    @property
    def _is_box(self) -> bool:
        return all(sum(map(bool, row.coefficients)) <= 1 for row in self.rows)

    def _by_axes(self, direction: Vector) -> Fraction | None:
        """The bound that rows of one coefficient give."""
        total = Fraction(0)
        for at, weight in enumerate(direction):
            if not weight:
                continue
            limits = [
                row.bound / row.coefficients[at]
                for row in self.rows
                if row.coefficients[at] * weight > 0 and sum(map(bool, row.coefficients)) == 1
            ]
            if not limits:
                return None
            total += weight * (min(limits) if weight > 0 else max(limits))
        return total


def _dual_bound(rows: Sequence[Row], direction: Vector) -> Fraction | None:
    """Min b.y with A'y = direction, y >= 0, by the rows that a linear programme names."""
    from scipy.optimize import linprog

    if not rows:
        return None
    scaled = [row.floats() for row in rows]
    matrix = np.array([weights for weights, _ in scaled])
    bounds = np.array([bound for _, bound in scaled])
    target, _ = Row(direction, Fraction(0)).floats()
    if not np.isfinite(bounds).all():
        return None
    answer: Any = linprog(bounds, A_eq=matrix.T, b_eq=target, bounds=(0, None), method="highs")
    if answer.status != 0:
        return None
    chosen = _binding(answer.x)
    weights = _solved([rows[at].coefficients for at in chosen], direction)
    if weights is None or any(weight < 0 for weight in weights):
        return None
    return sum(
        (weight * rows[at].bound for weight, at in zip(weights, chosen, strict=True)), Fraction(0)
    )


def _contradicted(rows: Sequence[Row], dimensions: int) -> bool:
    """Whether some y >= 0 has A'y = 0 and b.y < 0, exactly: then there is no point (Farkas)."""
    from scipy.optimize import linprog

    scaled = [row.floats() for row in rows]
    bounds = np.array([bound for _, bound in scaled])
    if not np.isfinite(bounds).all():
        return False
    matrix = np.array([[*weights, 1.0] for weights, _ in scaled])
    target = np.array([*[0.0] * dimensions, 1.0])
    answer: Any = linprog(bounds, A_eq=matrix.T, b_eq=target, bounds=(0, None), method="highs")
    if answer.status != 0 or answer.fun >= 0.0:
        return False
    chosen = _binding(answer.x)
    columns = [(*rows[at].coefficients, Fraction(1)) for at in chosen]
    weights = _solved(columns, (*[Fraction(0)] * dimensions, Fraction(1)))
    if weights is None or any(weight < 0 for weight in weights):
        return False
    pairs = zip(weights, chosen, strict=True)
    return sum((weight * rows[at].bound for weight, at in pairs), Fraction(0)) < 0


def _binding(weights: Any) -> list[int]:
    """The rows that a programme in binary64 gave a weight, the heaviest first."""
    order = np.argsort(-np.asarray(weights))
    return [int(at) for at in order if weights[at] > 1e-12]


def _solved(columns: Sequence[Vector], target: Vector) -> list[Fraction] | None:
    """Weights with the sum of weight * column = target, exactly; None where there are none."""
    size = len(columns)
    table = [[*(column[at] for column in columns), target[at]] for at in range(len(target))]
    pivots: list[int] = []
    row = 0
    for at in range(size):
        pivot = next((each for each in range(row, len(table)) if table[each][at]), None)
        if pivot is None:
            continue
        table[row], table[pivot] = table[pivot], table[row]
        scale = table[row][at]
        table[row] = [value / scale for value in table[row]]
        for other in range(len(table)):
            if other != row and table[other][at]:
                factor = table[other][at]
                pairs = zip(table[other], table[row], strict=True)
                table[other] = [a - factor * b for a, b in pairs]
        pivots.append(at)
        row += 1
    if any(line[-1] for line in table[row:]):
        return None
    found = [Fraction(0)] * size
    for place, at in enumerate(pivots):
        found[at] = table[place][-1]
    return found
