"""Linear bounds by back substitution (CROWN, DeepPoly), one row for each (box, entry, side).

A row keeps `sum of coefficients * steps + constant`, a lower bound of its target: exactly so,
because whatever rounding loses on the way is taken off the constant.
Sources: Zhang et al. 2018 (CROWN); Singh et al. 2019 (DeepPoly).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds.rounding import TINY, UNIT, Array, gamma
from safegym.check.neural.bounds.state import State

Indices = NDArray[np.intp]
CHUNK = 1 << 16
"""Coefficients handled at once, so that they stay in the cache."""
_WORTH_DROPPING = 16
"""Entries of a relu from which on it pays to leave out those that are 0."""


@dataclass(slots=True, eq=False)
class Rows:
    """Rows of linear bounds over the input: coefficients (R, n), constants (R,), lower (R,)."""

    coefficients: Array
    constants: Array
    lower: Array


def bound_rows(
    state: State,
    target: int,
    box: Indices,
    entry: Indices,
    sign: Array,
    seen: dict[int, Array] | None = None,
) -> Rows:
    """For each row: sign * entry of the target step, bounded below on its box.

    box (R,) in ascending order. seen: is given the coefficients (R, size) that met each relu.
    Both planes of products are tried and the better row is kept.
    """
    found = _with_planes(state, target, box, entry, sign, seen)
    if any(step.role == "product" for step in state.plan.steps[: target + 1]):
        state.second = True
        other = _with_planes(state, target, box, entry, sign, None)
        state.second = False
        better = other.lower > found.lower
        found.coefficients[better] = other.coefficients[better]
        found.constants[better] = other.constants[better]
        found.lower[better] = other.lower[better]
    return found


def _with_planes(
    state: State,
    target: int,
    box: Indices,
    entry: Indices,
    sign: Array,
    seen: dict[int, Array] | None,
) -> Rows:
    inputs = state.low.shape[1]
    total = len(box)
    found = Rows(np.zeros((total, inputs)), np.zeros(total), np.zeros(total))
    widest = max(step.size for step in state.plan.steps[: target + 1])
    size = max(64, CHUNK // widest)
    underflow = state.underflow()
    for start in range(0, total, size):
        part = slice(start, min(start + size, total))
        sweep = _Sweep(state, box[part], None if seen is None else (seen, part, total))
        with np.errstate(invalid="ignore", over="ignore"):
            sweep.seed(target, entry[part], sign[part])
            for at in range(target, -1, -1):
                sweep.substitute(at)
            coefficients, constants, lower = sweep.concretise(underflow)
        found.coefficients[part], found.constants[part] = coefficients, constants
        found.lower[part] = lower
    return found


class _Sweep:
    """One chunk of rows on its way from the target to the input.

    coefficients: rows of a step still to be replaced, and the columns that they have if not all.
    """

    def __init__(
        self, state: State, box: Indices, seen: tuple[dict[int, Array], slice, int] | None
    ) -> None:
        self.state, self.box, self.seen = state, box, seen
        self.boxes = slice(int(box[0]), int(box[-1]) + 1)
        self.within = box - box[0]
        self.coefficients: dict[int, tuple[Array, Indices | None]] = {}
        self.constant = np.zeros(len(box))
        self.moved = np.zeros(len(box))
        self.input = np.zeros((len(box), state.low.shape[1]))
        self.input_size = np.maximum(np.abs(state.low), np.abs(state.high))

    def seed(self, target: int, entry: Indices, sign: Array) -> None:
        """Coefficient `sign` on one entry of the target."""
        step = self.state.plan.steps[target]
        if step.role == "linear":
            self._pay(-self.state.errors[target][self.box, entry])
            if step.node.bias is not None:
                self._pay(sign * step.node.bias[entry])
            for source, matrix in zip(step.inputs, step.node.weights, strict=True):
                alive = self._alive(source)
                rows = (matrix if alive is None else matrix[:, alive]).take(entry, axis=0)
                rows *= sign[:, None]
                self._add(source, rows, alive)
            return
        rows = np.zeros((len(self.box), step.size))
        rows[np.arange(len(self.box)), entry] = sign
        self._add(target, rows)

    def substitute(self, at: int) -> None:
        """Replace a step by what bounds it in terms of its inputs."""
        found = self.coefficients.pop(at, None)
        if found is None:
            return
        rows, columns = found
        step = self.state.plan.steps[at]
        match step.role:
            case "unary":
                self._unary(at, rows, columns)
            case "linear":
                self._linear(at, rows, columns)
            case "input":
                self._arrive(self._whole(at, rows, columns), step.node.first)
            case "product":
                self._product(at, self._whole(at, rows, columns))
            case "difference":
                rows = self._whole(at, rows, columns)
                self._add(step.inputs[0], rows.copy())
                self._add(step.inputs[1], -rows)
            case "choice":
                rows = self._whole(at, rows, columns)
                greater = step.node.kind == "max"
                self._add(step.inputs[1] if greater else step.inputs[0], rows.copy())
                self._add(step.inputs[2], rows if greater else -rows)

    def _alive(self, at: int) -> Indices | None:
        """Entries of a relu that are not 0 throughout these boxes, if they are few enough."""
        step = self.state.plan.steps[at]
        if step.role != "unary" or step.node.kind != "relu" or step.size < _WORTH_DROPPING:
            return None
        high = self.state.bounds[step.inputs[0]][1][self.boxes]
        alive = np.flatnonzero(~(high <= 0.0).all(axis=0))
        return alive if len(alive) <= 0.85 * step.size else None

    def _whole(self, at: int, rows: Array, columns: Indices | None) -> Array:
        """Rows with a column for each entry of the step; the others' are 0."""
        if columns is None:
            return rows
        whole = np.zeros((len(rows), self.state.plan.steps[at].size))
        whole[:, columns] = rows
        return whole

    def _linear(self, at: int, rows: Array, columns: Indices | None) -> None:
        step = self.state.plan.steps[at]
        kept = slice(None) if columns is None else columns
        if not step.folded:
            errors = self.state.errors[at][self.boxes][:, kept]
            self._pay(-np.einsum("rj,rj->r", np.abs(rows), errors.take(self.within, axis=0)))
        if step.node.bias is not None:
            self._pay(rows @ step.node.bias[kept])
        for source, matrix in zip(step.inputs, step.node.weights, strict=True):
            alive = self._alive(source)
            part = matrix if columns is None else matrix[columns]
            self._add(source, rows @ (part if alive is None else part[:, alive]), alive)

    def _unary(self, at: int, rows: Array, columns: Indices | None) -> None:
        if self.seen is not None and self.state.plan.steps[at].node.kind == "relu":
            every, part, total = self.seen
            whole = self._whole(at, rows, columns)
            every.setdefault(at, np.zeros((total, whole.shape[1])))[part] = whole
        sides = self.state.sides_at(at)[self.boxes]
        if columns is not None:
            sides = sides[:, :, columns]
        wide = sides.reshape(len(sides), -1).take(self.within, axis=0)
        count = rows.shape[1]
        size = np.abs(rows)
        self._pay(
            np.einsum("rj,rj->r", rows, wide[:, 2 * count : 3 * count])
            - np.einsum("rj,rj->r", size, wide[:, 3 * count :])
        )
        rows *= wide[:, :count]
        size *= wide[:, count : 2 * count]
        rows -= size
        self._add(self.state.plan.steps[at].inputs[0], rows, columns)

    def _product(self, at: int, rows: Array) -> None:
        planes = self.state.planes_at(at)
        plus = np.maximum(rows, 0.0)
        minus = rows - plus
        self._pay(np.einsum("rj,rj->r", plus, planes.lower[self.box]))
        self._pay(np.einsum("rj,rj->r", minus, planes.upper[self.box]))
        left, right = self.state.plan.steps[at].inputs
        box = self.box
        self._add(left, plus * planes.lower_left[box] + minus * planes.upper_left[box])
        self._add(right, plus * planes.lower_right[box] + minus * planes.upper_right[box])

    def _pay(self, amount: Array) -> None:
        """Add to the constant, and note what the addition may have rounded."""
        self.constant = self.constant + amount
        self.moved = self.moved + (np.abs(self.constant) + np.abs(amount))

    def _add(self, source: int, rows: Array, columns: Indices | None = None) -> None:
        """Add coefficients on a step; a second arrival is a sum that was rounded."""
        known = self.coefficients.get(source)
        if known is None:
            self.coefficients[source] = rows, columns
            return
        together = self._whole(source, *known) + self._whole(source, rows, columns)
        low, high = self.state.bounds[source]
        size = np.maximum(np.abs(low), np.abs(high))[self.box]
        self._pay(np.einsum("rj,rj->r", np.abs(together), size) * (-2.0 * UNIT))
        self.coefficients[source] = together, None

    def _arrive(self, rows: Array, first: int) -> None:
        entries = slice(first, first + rows.shape[1])
        self.input[:, entries] += rows
        size = self.input_size[:, entries][self.box]
        self._pay(np.einsum("rj,rj->r", np.abs(self.input[:, entries]), size) * (-2.0 * UNIT))

    def concretise(self, underflow: Array) -> tuple[Array, Array, Array]:
        """Coefficients and constant of each row, and the least value on its box, outward."""
        box, terms = self.box, self.input.shape[1]
        constant = self.constant - (self.moved * (8.0 * UNIT) + underflow[box] + TINY)
        plus = np.maximum(self.input, 0.0)
        least = np.einsum("rj,rj->r", plus, self.state.low[box])
        least += np.einsum("rj,rj->r", self.input - plus, self.state.high[box])
        size = np.einsum("rj,rj->r", np.abs(self.input), self.input_size[box])
        lower = least + constant
        lower -= size * gamma(2 * terms + 8) + (np.abs(lower) + np.abs(constant)) * (8.0 * UNIT)
        lower -= TINY
        bad = ~np.isfinite(lower) | ~np.isfinite(self.input).all(axis=1)
        lower[bad], constant[bad], self.input[bad] = -np.inf, -np.inf, 0.0
        return self.input, constant, lower
