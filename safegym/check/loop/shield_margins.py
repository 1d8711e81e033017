"""What a shield asks of the samples to come, as a graph: one output for each part of the claims."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.affine import row_of
from safegym.check.loop.modes import Mode, decided, modes, opposite
from safegym.check.loop.plant import Floats, limits
from safegym.check.loop.shield_intervals import IntervalProgram, Unbounded
from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.property.margins import held
from safegym.check.neural.terms import Entry, atom_node, term_node
from safegym.errors import UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.nodes import And, Atom, Boolean, Or
from safegym.formula.rewrite import nnf

Entries = dict[tuple[str, int], Entry]
PIECES = 64
"""Most pieces of a box that intervals are tried on: some milliseconds at worst."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One output of the graph: positive (or 0, unless strict) where `part` holds at `sample`."""

    part: Formula
    sample: int
    strict: bool


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Bounds on what is asked, for one case of the model's `if`s.

    Input: states, then the disturbances of each step, then the action of the first. quick: the same
    outputs by interval arithmetic, and their registers; None where the graph holds a network.
    """

    bounds: Bounds
    asked: tuple[Asked, ...]
    quick: tuple[IntervalProgram, tuple[int, ...]] | None

    def holds(self, lower: Floats) -> NDArray[np.bool_]:
        """Which outputs hold where these are lower bounds of them."""
        strict = np.array([each.strict for each in self.asked])
        return np.where(strict, lower > 0.0, lower >= 0.0)

    def lower(self, low: Floats, high: Floats) -> Floats:
        """Lower bounds (outputs,) on one box (inputs,).

        By intervals where they settle it, on up to PIECES pieces of the box; else by linear
        relaxations.
        """
        first = self._intervals(low, high)
        if first is not None:
            if self.holds(first[0]).all() or (first[1] < 0.0).any():
                return first[0]
            cut = self._cut(low, high, first[0]) if self.quick is not None else None
            if cut is not None:
                return cut
        found = self._linear(low, high)
        return found if first is None else np.fmax(found, first[0])

    def _cut(self, low: Floats, high: Floats, whole: Floats) -> Floats | None:
        """The same on pieces, None where some stay open; `whole` where one surely does not hold."""
        least = np.full(len(self.asked), np.inf)
        waiting, width, looked = [(low, high)], high - low, 1
        scale = np.where(width > 0.0, width, 1.0)
        while waiting:
            below, above = waiting.pop()
            at = int(((above - below) / scale).argmax())
            middle = 0.5 * below[at] + 0.5 * above[at]
            if looked > PIECES or not below[at] < middle < above[at]:
                return None
            for start, end in ((below[at], middle), (middle, above[at])):
                piece_low, piece_high = below.copy(), above.copy()
                piece_low[at], piece_high[at] = start, end
                found = self._intervals(piece_low, piece_high)
                looked += 1
                if found is None:
                    return None
                if (found[1] < 0.0).any():
                    return whole
                if self.holds(found[0]).all():
                    least = np.minimum(least, found[0])
                else:
                    waiting.append((piece_low, piece_high))
        return np.asarray(np.maximum(least, whole))

    def _intervals(self, low: Floats, high: Floats) -> tuple[Floats, Floats] | None:
        """Lower and upper bounds by interval arithmetic, if there are any."""
        if self.quick is None:
            with np.errstate(all="ignore"):
                below, above = self.bounds.interval(low[None], high[None])[-1]
            return below[0], above[0]
        program, places = self.quick
        try:
            found = program.run(list(zip(low.tolist(), high.tolist(), strict=True)))
        except (Unbounded, OverflowError):
            return None
        ends = np.array([found[at] for at in places])
        return ends[:, 0], ends[:, 1]

    def _linear(self, low: Floats, high: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(self.bounds.linear(low[None], high[None]).lower[0])


def lookahead(
    plant: Dynamics, parts: Sequence[Formula], steps: int, backup: PolicyGraph | None
) -> tuple[Lookahead, ...]:
    """Each part of the claims at samples 1 to `steps`: the given action first, then the backup's.

    Raises UnsupportedError for more than one step of a model with `if` or of a discrete backup.
    """
    cases = modes(plant, None)
    if steps > 1 and (len(cases) > 1 or backup is None or backup.kind != "box"):
        raise UnsupportedError(
            f"A shield looks more than one step ahead only where {plant.name} has no `if` and the "
            "backup is a network with continuous actions; use steps=1, or write the `if` with "
            "minimum and maximum."
        )
    return tuple(_one_case(plant, case, parts, steps, backup) for case in cases)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The formulas whose conjunction this is, negations at the atoms."""
    normal = nnf(formula)
    return normal.arguments if isinstance(normal, And) else (normal,)


def _one_case(
    plant: Dynamics, case: Mode, parts: Sequence[Formula], steps: int, backup: PolicyGraph | None
) -> Lookahead:
    n, k, m = len(plant.states), len(plant.disturbances), len(plant.actions)
    builder = GraphBuilder(n + steps * k + m)
    source = builder.input()
    states: Entries = {(s.name, 0): (source, at) for at, s in enumerate(plant.states)}
    acting: Entries = {
        (s.name, 0): (source, n + steps * k + at) for at, s in enumerate(plant.actions)
    }
    outputs: list[int] = []
    asked: list[Asked] = []
    lines = {} if case.guards else _lines(parts, [signal.name for signal in plant.states])
    parts = [*lines, *(part for part in parts if part not in lines)]
    for step in range(steps):
        if step and backup is not None:
            acting = _acted(plant, backup, builder, states)
        pushed: Entries = {
            (s.name, 0): (source, n + step * k + at) for at, s in enumerate(plant.disturbances)
        }
        entries = states | pushed | acting
        escapes = [atom_node(opposite(guard), builder, entries) for guard in case.guards]
        sides = dict(case.sides)
        states = {
            (s.name, 0): (term_node(decided(each, sides), builder, entries), 0)
            for s, each in zip(plant.states, plant.next, strict=True)
        }
        if lines:
            after = builder.stack([node for node, _ in states.values()])
            rows = np.array([line.row for line in lines.values()])
            bound = np.array([line.bound for line in lines.values()])
            outputs.append(builder.linear([(after, -rows)], bound))
            asked += [Asked(part, step + 1, line.strict) for part, line in lines.items()]
        for part in parts[len(lines) :]:
            node, strict = margin_node(part, builder, states)
            for escape, open_end in escapes:
                node, strict = builder.pair("max", node, escape), strict or open_end
            outputs.append(node)
            asked.append(Asked(part, step + 1, strict))
    graph = builder.graph(builder.stack(outputs))
    quick = _quick(plant, case, parts) if steps == 1 else None
    return Lookahead(Bounds(graph, "deployed float32"), tuple(asked), quick)


def _quick(
    plant: Dynamics, case: Mode, parts: Sequence[Formula]
) -> tuple[IntervalProgram, tuple[int, ...]]:
    given = (*plant.states, *plant.disturbances, *plant.actions)
    program, sides = IntervalProgram(len(given)), dict(case.sides)
    known = {signal.name: at for at, signal in enumerate(given)}
    escapes = [program.margin(opposite(guard), known, sides) for guard in case.guards]
    after = {
        signal.name: program.term(each, known, sides)
        for signal, each in zip(plant.states, plant.next, strict=True)
    }
    places: list[int] = []
    for part in parts:
        at = program.margin(part, after, {})
        for escape in escapes:
            at = program.greater(at, escape)
        places.append(at)
    return program, tuple(places)


@dataclass(frozen=True, slots=True)
class _Line:
    """Row . states <= bound (< if strict), in numbers that binary64 holds exactly."""

    row: tuple[float, ...]
    bound: float
    strict: bool


def _lines(parts: Sequence[Formula], names: Sequence[str]) -> dict[Formula, _Line]:
    """The parts that are one linear comparison of the states: many share one node."""
    found: dict[Formula, _Line] = {}
    for part in parts:
        row = row_of(part, names) if isinstance(part, Atom) else None
        if row is None:
            continue
        numbers = [held(value) for value in (*row.coefficients, row.bound)]
        exact = [number for number in numbers if number is not None]
        if len(exact) == len(numbers):
            found[part] = _Line(tuple(exact[:-1]), exact[-1], row.strict)
    return found


def _acted(plant: Dynamics, backup: PolicyGraph, builder: GraphBuilder, states: Entries) -> Entries:
    seen = builder.stack([term_node(each, builder, states) for each in plant.observation])
    out = builder.append(backup.graph, builder.apply("cast", seen, precision="float64"))
    low, high = limits(plant.actions)
    if np.isfinite(low).any() or np.isfinite(high).any():
        out = builder.clip(out, low, high)
    return {(s.name, 0): (out, at) for at, s in enumerate(plant.actions)}


def margin_node(formula: Formula, builder: GraphBuilder, entries: Entries) -> tuple[int, bool]:
    """A node of one entry that is positive where the formula holds, and whether 0 does not do."""
    match formula:
        case Atom():
            return atom_node(formula, builder, entries)
        case Boolean():
            anything = builder.input(0, 1)
            side = 1.0 if formula.value else -1.0
            return builder.linear([(anything, np.zeros((1, 1)))], [side]), False
        case And() | Or():
            both = isinstance(formula, And)
            node, strict = margin_node(formula.arguments[0], builder, entries)
            for each in formula.arguments[1:]:
                other, also = margin_node(each, builder, entries)
                node = builder.pair("min" if both else "max", node, other)
                strict = strict or also
            return node, strict
        case _:
            raise UnsupportedError(f"`{short(formula)}` is no condition on one instant.")
