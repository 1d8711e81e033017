"""The states that a closed loop can reach, step by step."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.compact import compacted
from safegym.check.loop.graph import Entries
from safegym.check.loop.plant import Plant, as_policy_graph
from safegym.check.loop.polytope import Polytope
from safegym.check.loop.reach.cells import grid, outward, touching
from safegym.check.loop.reach.linearised import linearised
from safegym.check.loop.reach.rounding import Array
from safegym.check.loop.reach.stepper import Box, Places, Sets, Stepped, Stepper
from safegym.check.loop.sets import StateSet, as_formula, nothing_in, pieces_of, region_box
from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.problem import Semantics
from safegym.check.neural.terms import atom_node
from safegym.errors import UnsupportedError
from safegym.formula.flow import Flow
from safegym.formula.nodes import Atom

FARTHEST = 1e9
"""A state beyond which an enclosure says nothing useful, and is given up."""


@dataclass(frozen=True, slots=True, eq=False)
class Tube:
    """Boxes and zonotopes that hold every trajectory of a loop from a set of initial states.

    sets: one `Sets` of B cells for each control instant 0..K. between: of a flow, boxes that hold
    every state between instants k and k + 1, K pairs of (B, n). origins: (B,), which cell of the
    initial set each came from; those that met an undecided `if` became several.
    """

    plant: Plant
    sets: tuple[Sets, ...]
    between: tuple[Box, ...]
    origins: Places
    seconds: float

    @property
    def steps(self) -> int:
        """K."""
        return len(self.sets) - 1

    @property
    def low(self) -> Array:
        """The least each state can be at instants 0..K, (K + 1, n)."""
        return np.array([each.low.min(axis=0) for each in self.sets])

    @property
    def high(self) -> Array:
        """The greatest each state can be at instants 0..K, (K + 1, n)."""
        return np.array([each.high.max(axis=0) for each in self.sets])

    @property
    def low_between(self) -> Array:
        """The least each state can be from instant k to k + 1, (K, n)."""
        return np.array([low.min(axis=0) for low, _ in self.between])

    @property
    def high_between(self) -> Array:
        """The greatest each state can be from instant k to k + 1, (K, n)."""
        return np.array([high.max(axis=0) for _, high in self.between])

    def margins(self, atoms: Sequence[Atom]) -> Box:
        """Bounds (K + 1, B, atoms) of what is positive where each atom holds, at the instants."""
        found = _atom_bounds(self.plant, atoms)
        rows = [_margins(found, each, len(atoms)) for each in self.sets]
        return np.array([low for low, _ in rows]), np.array([high for _, high in rows])

    def margins_between(self, atoms: Sequence[Atom]) -> Box:
        """The same from each instant to the next, (K, B, atoms). Raises UnsupportedError.

        Of discrete dynamics there is nothing between, which is refused.
        """
        if not isinstance(self.plant, Flow):
            raise UnsupportedError(
                f"{self.plant.name} is in discrete time and has no states between its instants; "
                "declare a Flow."
            )
        found = _atom_bounds(self.plant, atoms)
        rows = [_margins(found, Sets.of_boxes(*ends), len(atoms)) for ends in self.between]
        return np.array([low for low, _ in rows]), np.array([high for _, high in rows])


def reach(
    plant: Plant,
    policy: Any,
    initial: StateSet,
    steps: int,
    *,
    cells: int = 400,
    semantics: Semantics = "deployed float32",
) -> Tube:
    """The states that the loop can be in at each of `steps` control instants after the start.

    initial: a formula over the states or boxes, bounded; it is cut into at most `cells` cells a
    piece. Every step keeps how the states depend on the initial ones (zonotopes), so that what the
    policy contracts stays contracted. Sound in real arithmetic for the plant, with all rounding
    accounted for. Raises UnsupportedError where the enclosure grows past all use.
    """
    formula = as_formula(initial, plant, "initial")
    pieces = pieces_of(formula, plant, "initial")
    low, high = initial_cells(pieces, cells)
    return tube(Stepper(plant, as_policy_graph(policy, plant), semantics), low, high, steps)


def initial_cells(pieces: Sequence[Polytope], cells: int) -> Box:
    """Boxes (B, n) that cover all pieces, at most `cells` for each. Raises UnsupportedError."""
    if cells < 1:
        raise UnsupportedError(f"cells is {cells}; at least 1 is needed.")
    if not pieces:
        raise UnsupportedError(nothing_in("the initial set"))
    lows: list[Array] = []
    highs: list[Array] = []
    for piece in pieces:
        low, high = grid(*outward(*region_box(piece, "initial")), cells)
        kept = touching(piece, low, high)
        lows.append(low[kept])
        highs.append(high[kept])
    if not any(map(len, lows)):
        raise UnsupportedError(nothing_in("the initial set"))
    return np.concatenate(lows), np.concatenate(highs)


def tube(
    stepper: Stepper, low: Array, high: Array, steps: int, disturbances: Array | None = None
) -> Tube:
    """The tube from cells (B, n). disturbances: (steps, k), fixed; any of theirs by default."""
    if not isinstance(steps, (int, np.integer)) or steps < 1:  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise UnsupportedError(
            f"A tube of {steps!r:.40} steps; a whole number, at least 1, is needed."
        )
    began = time.perf_counter()
    sets, taken = [Sets.of_boxes(low, high)], list[Stepped]()
    for at in range(steps):
        held = None if disturbances is None else (disturbances[at], disturbances[at])
        with np.errstate(invalid="ignore", over="ignore"):  # what has no bound is refused next
            taken.append(stepper.step(sets[-1], held))
        _check(taken[-1].sets, at + 1, stepper.plant)
        sets.append(taken[-1].sets)
    origins = np.arange(len(sets[-1].low))
    lined, between = [sets[-1]], list[Box]()
    for each, before in zip(reversed(taken), reversed(sets[:-1]), strict=True):
        between.append((each.between[0][origins], each.between[1][origins]))
        origins = each.parents[origins]
        lined.append(before.chosen(origins))
    flows = isinstance(stepper.plant, Flow)
    seconds = time.perf_counter() - began
    inside = tuple(reversed(between)) if flows else ()
    return Tube(stepper.plant, tuple(reversed(lined)), inside, origins, seconds)


def _check(sets: Sets, step: int, plant: Plant) -> None:
    ends = np.maximum(np.abs(sets.low), np.abs(sets.high))
    if not (np.isfinite(ends).all() and ends.max() < FARTHEST):
        raise UnsupportedError(
            f"The reach sets of {plant.name} grew past {FARTHEST:g} at step {step}; cut the "
            "initial set into more cells (cells=), or ask for fewer steps."
        )


def _atom_bounds(plant: Plant, atoms: Sequence[Atom]) -> Bounds:
    """Bounds of [margins, -margins] over the states."""
    builder = GraphBuilder(len(plant.states))
    source = builder.input()
    entries: Entries = {(signal.name, 0): (source, at) for at, signal in enumerate(plant.states)}
    stacked = builder.stack([atom_node(atom, builder, entries)[0] for atom in atoms])
    count = len(atoms)
    both = builder.linear([(stacked, np.concatenate([np.eye(count), -np.eye(count)]))])
    return Bounds(compacted(builder.graph(both)), "real")


def _margins(bounds: Bounds, sets: Sets, count: int) -> Box:
    with np.errstate(invalid="ignore", over="ignore"):
        line = linearised(bounds, sets.low, sets.high, count)
        low, high = sets.shape.along(line.matrix, line.centre)
        least = np.maximum(np.nextafter(low - line.radius, -np.inf), line.low)
        most = np.minimum(np.nextafter(high + line.radius, np.inf), line.high)
    return least, most


Truths = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def truths(margins: Box, atoms: Sequence[Atom]) -> Truths:
    """(must, may) of each atom, from bounds of its margin; NaN where there is no bound."""
    strict = np.array([atom.comparison in ("<", ">") for atom in atoms])
    low, high = margins
    return (
        np.where(strict, low > 0.0, low >= 0.0),
        ~np.where(strict, high <= 0.0, high < 0.0),
    )
