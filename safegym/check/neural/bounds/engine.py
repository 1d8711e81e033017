"""Sound bounds of a graph on batches of boxes: by intervals, and by linear bounds throughout."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.neural.bounds.backward import Rows, bound_rows
from safegym.check.neural.bounds.entries import Interval
from safegym.check.neural.bounds.plan import Step, plan
from safegym.check.neural.bounds.rounding import Array
from safegym.check.neural.bounds.slopes import better_lower
from safegym.check.neural.bounds.state import State
from safegym.check.neural.graph import Graph
from safegym.check.neural.problem import Semantics
from safegym.errors import UnsupportedError

_FEW_INPUTS = 32
"""Up to here forward linear bounds are cheap against backward ones."""
_AT_ONCE = 1 << 25
"""Numbers that one batch may hold, roughly; more boxes are done one batch after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearBounds:
    """Bounds of m outputs of a graph on B boxes; m rows in the order they were asked in.

    lower (B, m): graph(x)[o] >= lower at every x of the box, under the semantics, with all rounding
    accounted for. coefficients (B, m, n), constants (B, m): and graph(x)[o] >= coefficients . x +
    constants, exactly, for these floats; zeros and -inf where there is none. upper (B, m): above
    every value, if asked for. unstable (B,): entries of relus and the like that bend in the box.
    inner: the bounds ((B, size), (B, size)) of every node that they were computed with.
    """

    lower: Array
    upper: Array | None
    coefficients: Array
    constants: Array
    unstable: NDArray[np.int64]
    inner: tuple[tuple[Array, Array], ...] = ()


class Bounds:
    """Bounds of one graph under one semantics; holds no state between calls.

    Raises UnsupportedError for a box that is not finite, has a low end above its high one, or a
    shape that does not fit.
    """

    def __init__(self, graph: Graph, semantics: Semantics) -> None:
        self.graph = graph
        self.semantics: Semantics = semantics
        self._plan = plan(graph)
        self._symbolic = graph.inputs <= _FEW_INPUTS and self._plan.piecewise

    def interval(self, low: ArrayLike, high: ArrayLike) -> list[tuple[Array, Array]]:
        """Bounds ((B, size), (B, size)) of every node of the graph on boxes (B, n), forward only.

        By intervals, and where the graph has operations that may not bend by forward linear bounds
        as well.
        """
        parts = [self._forward(*piece) for piece in self._pieces(low, high)]
        return _joined([[state.bounds[at] for at in self._plan.place] for state in parts])

    def best(self, low: ArrayLike, high: ArrayLike) -> Array:
        """A cheap lower bound (B, m) of every output: forward inside, back from the output once."""
        found: list[Array] = []
        for piece in self._pieces(low, high):
            state = self._forward(*piece)
            rows = self._rows(state, range(self.graph.outputs), 1.0)
            least = state.bounds[self._plan.output][0]
            found.append(np.maximum(rows.lower.reshape(least.shape), least))
        return np.concatenate(found)

    def linear(
        self,
        low: ArrayLike,
        high: ArrayLike,
        *,
        outputs: Sequence[int] | None = None,
        upper: bool = False,
        climb: int = 0,
    ) -> LinearBounds:
        """Linear bounds of the outputs (all by default) on boxes (B, n).

        The bounds inside the graph are tightened the same way, for the entries that bend. upper:
        also bound from above. climb: steps of slope search on each box for the greatest lower bound
        that is not positive; only `lower` gains by it, the coefficients stay as they were.
        """
        wanted = list(range(self.graph.outputs) if outputs is None else outputs)
        parts = [self._linear(*piece, wanted, upper, climb) for piece in self._pieces(low, high)]
        return parts[0] if len(parts) == 1 else _together(parts)

    def _linear(
        self, low: Array, high: Array, wanted: list[int], upper: bool, climb: int
    ) -> LinearBounds:
        state = self._state(low, high)
        unstable = np.zeros(len(state.low), dtype=np.int64)
        for step in self._plan.steps:
            at = state.advance()
            if step.role == "unary":
                unstable += _bending(step, *state.bounds[step.inputs[0]]).sum(axis=1)
            if step.tighten:
                self._tighten(state, at)
        found = self._result(state, wanted, unstable, upper)
        return self._climbed(found, state, np.asarray(wanted, dtype=np.intp), climb)

    def _forward(self, low: Array, high: Array) -> State:
        state = self._state(low, high)
        for _ in self._plan.steps:
            state.advance()
        return state

    def _pieces(self, low: ArrayLike, high: ArrayLike) -> list[tuple[Array, Array]]:
        """The boxes, checked, in batches whose work fits into memory."""
        least, most = self._checked(low, high)
        each = sum(step.size for step in self._plan.steps) * (self.graph.inputs + 16)
        count = max(1, _AT_ONCE // each)
        starts = range(0, max(1, len(least)), count)
        return [(least[at : at + count], most[at : at + count]) for at in starts]

    def _result(
        self, state: State, wanted: list[int], unstable: NDArray[np.int64], upper: bool
    ) -> LinearBounds:
        shape = (len(state.low), len(wanted))
        least, most = (each[:, wanted] for each in state.bounds[self._plan.output])
        rows = self._rows(state, wanted, 1.0)
        lower = np.maximum(rows.lower.reshape(shape), least)
        above = None
        if upper:
            above = np.minimum(-self._rows(state, wanted, -1.0).lower.reshape(shape), most)
        return LinearBounds(
            lower,
            above,
            rows.coefficients.reshape(*shape, self.graph.inputs),
            rows.constants.reshape(shape),
            unstable,
            tuple(state.bounds[at] for at in self._plan.place),
        )

    def _climbed(
        self, found: LinearBounds, state: State, wanted: NDArray[np.intp], steps: int
    ) -> LinearBounds:
        if steps == 0 or not self._plan.piecewise or len(wanted) == 0:
            return found
        missing = np.where(found.lower > 0.0, -np.inf, found.lower)
        column = missing.argmax(axis=1)
        boxes = np.flatnonzero(np.isfinite(missing.max(axis=1)) & (found.unstable > 0))
        if len(boxes) == 0:
            return found
        entry = wanted[column[boxes]]
        better = better_lower(state.part(boxes), self._plan.output, entry, steps)
        lower = found.lower.copy()
        lower[boxes, column[boxes]] = np.maximum(lower[boxes, column[boxes]], better)
        return replace(found, lower=lower)

    def _rows(self, state: State, wanted: Sequence[int], sign: float) -> Rows:
        boxes, count = len(state.low), len(wanted)
        box = np.repeat(np.arange(boxes), count)
        entry = np.tile(np.asarray(wanted, dtype=np.intp), boxes)
        return bound_rows(state, self._plan.output, box, entry, np.full(boxes * count, sign))

    def _tighten(self, state: State, at: int) -> None:
        """Bounds of a step by back substitution, for the entries that bend in their box."""
        low, high = state.bounds[at]
        needed = np.zeros(low.shape, dtype=np.bool_)
        for consumer in self._plan.steps[at].consumers:
            needed |= _bending(self._plan.steps[consumer], low, high)
        box, entry = np.nonzero(needed)
        if len(box) == 0:
            return
        found = bound_rows(
            state,
            at,
            np.repeat(box, 2),
            np.repeat(entry, 2),
            np.tile([1.0, -1.0], len(box)),
        )
        least, most = np.full_like(low, -np.inf), np.full_like(high, np.inf)
        least[box, entry], most[box, entry] = found.lower[0::2], -found.lower[1::2]
        state.tighten(at, least, most)

    def _checked(self, low: ArrayLike, high: ArrayLike) -> tuple[Array, Array]:
        least, most = (np.array(end, dtype=np.float64, ndmin=2) for end in (low, high))
        if least.shape != most.shape or least.shape[1:] != (self.graph.inputs,):
            raise UnsupportedError(
                f"Boxes of shapes {least.shape} and {most.shape} do not fit a graph of "
                f"{self.graph.inputs} inputs; pass low and high of shape (B, {self.graph.inputs})."
            )
        if not (np.isfinite(least).all() and np.isfinite(most).all()):
            raise UnsupportedError("A box has an end that is not finite; bounds need finite boxes.")
        if not (least <= most).all():
            at = int(np.argwhere(least > most)[0][1])
            raise UnsupportedError(f"A box has its low end above its high one in input {at}.")
        return least, most

    def _state(self, low: Array, high: Array) -> State:
        deployed = self.semantics == "deployed float32"
        return State(self._plan, deployed, low, high, symbolic=self._symbolic)


def _joined(parts: Sequence[Sequence[Interval]]) -> list[Interval]:
    """The bounds of each node on several batches of boxes, one batch after the other."""
    if len(parts) == 1:
        return list(parts[0])
    return [
        (np.concatenate([low for low, _ in node]), np.concatenate([high for _, high in node]))
        for node in zip(*parts, strict=True)
    ]


def _together(parts: list[LinearBounds]) -> LinearBounds:
    uppers = [each.upper for each in parts if each.upper is not None]
    return LinearBounds(
        np.concatenate([each.lower for each in parts]),
        np.concatenate(uppers) if uppers else None,
        np.concatenate([each.coefficients for each in parts]),
        np.concatenate([each.constants for each in parts]),
        np.concatenate([each.unstable for each in parts]),
        tuple(_joined([each.inner for each in parts])),
    )


def _bending(step: Step, low: Array, high: Array) -> NDArray[np.bool_]:
    """Which entries of a step's input may lie where the step is not a line."""
    if step.role == "product":
        return high > low
    if step.role != "unary":
        return np.zeros(low.shape, dtype=np.bool_)
    match step.node.kind:
        case "relu" | "leaky_relu" | "abs":
            return (low < 0.0) & (high > 0.0)
        case "clip" if step.node.low is not None and step.node.high is not None:
            least, most = step.node.low, step.node.high
            return ((low < least) & (high > least)) | ((low < most) & (high > most))
        case "cast" | "divide":
            return np.zeros(low.shape, dtype=np.bool_)
        case _:
            return high > low
