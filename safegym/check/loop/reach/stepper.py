"""One control period of a closed loop on many sets at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.affine import Row, row_of
from safegym.check.loop.compact import compacted
from safegym.check.loop.graph import Step, advanced, begin
from safegym.check.loop.modes import Mode, modes
from safegym.check.loop.plant import Plant, limits
from safegym.check.loop.reach.linearised import Linearised, linearised
from safegym.check.loop.reach.rounding import TINY, Array, down, midpoint, up
from safegym.check.loop.reach.taylor import ORDER, Remainders, coefficient, lie_terms, rest
from safegym.check.loop.reach.zonotopes import Zonotopes
from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import Graph
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.check.neural.terms import term_node
from safegym.errors import UnsupportedError
from safegym.formula.flow import Flow
from safegym.formula.terms import Term

Box = tuple[Array, Array]
Places = NDArray[np.intp]
MOST_SETS = 20_000
"""Sets that one step gives at most; beyond, cases are joined."""


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """B sets of states, each the part of a zonotope that lies in a box (B, n)."""

    shape: Zonotopes
    low: Array
    high: Array

    @classmethod
    def of_boxes(cls, low: Array, high: Array) -> "Sets":
        """The boxes themselves."""
        return cls(Zonotopes.of_boxes(low, high), low, high)

    def chosen(self, at: Places) -> "Sets":
        """Those at the given places."""
        return Sets(self.shape.chosen(at), self.low[at], self.high[at])


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """The sets after one period, boxes that hold the period, and of which set each one came."""

    sets: Sets
    between: Box
    parents: Places


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One mode: bounds of [next, -next, and of a flow action, -action], and of the escapes.

    guards: rows over the states that hold in the mode, where they are linear.
    """

    mode: Mode
    next: Bounds
    escapes: Bounds | None
    strict: NDArray[np.bool_]
    guards: tuple[Row, ...]


class Stepper:
    """Encloses the states of a closed loop one control period later.

    Raises UnsupportedError for a loop that has no bounds.
    """

    def __init__(self, plant: Plant, policy: PolicyGraph, semantics: Semantics) -> None:
        self.plant = plant
        self.size = len(plant.states)
        self.disturbed = limits(plant.disturbances)
        terms = lie_terms(plant) if isinstance(plant, Flow) else ()
        self._remainders = Remainders.of(plant, terms) if isinstance(plant, Flow) else None
        self._cases: list[_Case] = []
        for mode in modes(plant, policy):
            if isinstance(plant, Flow):
                step = begin(plant, policy, mode)
                _taylor(plant, terms, step)
            else:
                step = advanced(plant, policy, mode)
            self._cases.append(_case(step, plant, semantics))

    def step(self, sets: Sets, disturbed: Box | None = None) -> Stepped:
        """The sets one period later, and boxes that hold every state of a flow's period.

        A set on which several modes are possible becomes one for each, up to MOST_SETS in all;
        beyond, the box around them. Of discrete dynamics the boxes hold both ends of the period,
        which are all there is. disturbed: bounds of the disturbances, (k,) each, the declared ones
        by default.
        """
        acting = self.disturbed if disturbed is None else disturbed
        parts: list[Stepped] = []
        for case in self._cases:
            rows, chosen = self._possible(case, sets, acting)
            if rows.size:
                low, high = _with_disturbances(chosen, acting)
                parts.append(Stepped(*self._moved(case, chosen, low, high, acting), rows))
        together = _together(parts, len(sets.low))
        return _joined(together, len(sets.low)) if len(together.parents) > MOST_SETS else together

    def _moved(
        self, case: _Case, sets: Sets, low: Array, high: Array, acting: Box
    ) -> tuple[Sets, Box]:
        line = linearised(case.next, low, high, self.size)
        if self._remainders is None:
            after = _image(sets, line, acting, None)
            return after, (np.minimum(sets.low, after.low), np.maximum(sets.high, after.high))
        half = line.more.shape[1] // 2
        held = (
            np.concatenate([low[:, self.size :], line.more[:, :half]], axis=1),
            np.concatenate([high[:, self.size :], -line.more[:, half:]], axis=1),
        )
        between = self._remainders.hull(sets.low, sets.high, held, (line.low, line.high))
        extra = rest(self._remainders, ORDER, _both(between, held))
        return _image(sets, line, acting, extra), between

    def _possible(self, case: _Case, sets: Sets, acting: Box) -> tuple[Places, Sets]:
        """The sets on which a mode may hold, cut to where its guards may."""
        if case.escapes is None:
            return np.arange(len(sets.low)), sets
        least = case.escapes.interval(*_with_disturbances(sets, acting))[-1][0]
        gone = np.where(case.strict, least > 0.0, least >= 0.0).any(axis=1)
        low, high = sets.low, sets.high
        for row in case.guards:
            low, high = _cut(row, low, high)
        rows = np.flatnonzero(~gone & (low <= high).all(axis=1))
        return rows, Sets(sets.shape.chosen(rows), low[rows], high[rows])


def _cut(row: Row, low: Array, high: Array) -> Box:
    """Boxes cut to where a row over the states may hold, rounded outward."""
    weights, bound = row.floats()
    if not np.isfinite(bound):
        return low, high
    ends = np.minimum(weights * low, weights * high)
    total = ends.sum(axis=1, keepdims=True)
    size = (np.abs(weights) * np.maximum(np.abs(low), np.abs(high))).sum(axis=1, keepdims=True)
    room = bound - (total - ends) + 1e-12 * (size + abs(bound)) + TINY
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(weights != 0.0, room / weights, 0.0)
    limit = limit + 1e-12 * np.abs(limit) * np.sign(weights)
    return (
        np.where(weights < 0.0, np.maximum(low, limit), low),
        np.where(weights > 0.0, np.minimum(high, limit), high),
    )


def _with_disturbances(sets: Sets, acting: Box) -> Box:
    least, most = (np.broadcast_to(end, (len(sets.low), end.size)) for end in acting)
    return np.concatenate([sets.low, least], axis=1), np.concatenate([sets.high, most], axis=1)


def _taylor(flow: Flow, terms: tuple[tuple[Term, ...], ...], step: Step) -> None:
    """Puts the Taylor polynomials without their remainders in as the next states."""
    builder = step.builder
    for at, signal in enumerate(flow.states):
        node, entry = step.entries[signal.name, 0]
        parts = [(builder.select(node, [entry]), [[1.0]])]
        for power in range(1, ORDER):
            near, _ = coefficient(flow, power)
            parts.append((term_node(terms[power - 1][at], builder, step.entries), [[near]]))
        step.next[signal.name, 0] = (builder.linear(parts), 0)


def _case(step: Step, plant: Plant, semantics: Semantics) -> _Case:
    builder, size, held = step.builder, len(plant.states), isinstance(plant, Flow)
    stacked = builder.stack(step.next_nodes())
    outputs = [builder.linear([(stacked, np.concatenate([np.eye(size), -np.eye(size)]))])]
    if held and step.action is not None:
        same = np.eye(builder.nodes[step.action].size)
        outputs.append(builder.linear([(step.action, np.concatenate([same, -same]))]))
    escapes: Graph | None = None
    if step.escapes:
        escapes = builder.graph(builder.stack([node for node, _ in step.escapes]))
    names = [signal.name for signal in plant.states]
    rows = [row_of(guard, names) for guard in step.mode.guards]
    return _Case(
        step.mode,
        Bounds(compacted(builder.graph(builder.stack(outputs))), semantics),
        None if escapes is None else Bounds(compacted(escapes), semantics),
        np.array([strict for _, strict in step.escapes], dtype=np.bool_),
        tuple(row for row in rows if row is not None),
    )


def _image(sets: Sets, line: Linearised, disturbed: Box, extra: Box | None) -> Sets:
    size = sets.low.shape[1]
    matrix, more = line.matrix[:, :, :size], line.matrix[:, :, size:]
    middle, reach = midpoint(*disturbed)
    pushed = (more @ middle[None, :, None])[..., 0]
    slots = more * reach
    centre, radius = line.centre, line.radius
    low, high = line.low, line.high
    if extra is not None:
        about, around = midpoint(*extra)
        moved = centre + about
        radius = up(radius + around + 2.0**-52 * (np.abs(centre) + np.abs(about)))
        centre = moved
        low, high = down(low + extra[0]), up(high + extra[1])
    size_of_more = (np.abs(more) * (np.abs(middle) + reach)).sum(axis=2)
    radius = up(radius + 2.0**-50 * size_of_more * (1 + more.shape[2]))
    shape = sets.shape.mapped(matrix, slots, pushed, centre, radius)
    least, most = shape.box()
    return Sets(shape, np.maximum(low, least), np.minimum(high, most))


def _both(first: Box, second: Box) -> Box:
    return (
        np.concatenate([first[0], second[0]], axis=1),
        np.concatenate([first[1], second[1]], axis=1),
    )


def _together(parts: list[Stepped], rows: int) -> Stepped:
    """All parts one after the other. Every set has a part, since in every state a mode holds."""
    if len(parts) == 1:
        found = parts[0]
    else:
        centres = np.concatenate([each.sets.shape.centre for each in parts])
        most = max(each.sets.shape.generators.shape[2] for each in parts)
        generators = [_padded(each.sets.shape.generators, most) for each in parts]
        found = Stepped(
            Sets(
                Zonotopes(centres, np.concatenate(generators)),
                np.concatenate([each.sets.low for each in parts]),
                np.concatenate([each.sets.high for each in parts]),
            ),
            (
                np.concatenate([each.between[0] for each in parts]),
                np.concatenate([each.between[1] for each in parts]),
            ),
            np.concatenate([each.parents for each in parts]),
        )
    if len(np.unique(found.parents)) < rows:
        raise UnsupportedError("A set was left without any case; this is a fault of safegym.")
    return found


def _padded(generators: Array, most: int) -> Array:
    rows, size, count = generators.shape
    return np.concatenate([generators, np.zeros((rows, size, most - count))], axis=2)


def _joined(found: Stepped, rows: int) -> Stepped:
    """One set for each that there was: the box around those that came of it."""
    size = found.sets.low.shape[1]
    low, first = np.full((rows, size), np.inf), np.full((rows, size), np.inf)
    high, last = np.full((rows, size), -np.inf), np.full((rows, size), -np.inf)
    np.minimum.at(low, found.parents, found.sets.low)
    np.maximum.at(high, found.parents, found.sets.high)
    np.minimum.at(first, found.parents, found.between[0])
    np.maximum.at(last, found.parents, found.between[1])
    return Stepped(Sets.of_boxes(low, high), (first, last), np.arange(rows))
