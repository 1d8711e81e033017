"""Sets of states as formulas of one instant: boxes, polytopes, unions, and anything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from safegym.check.loop.affine import row_of
from safegym.check.loop.plant import Plant
from safegym.check.loop.polytope import Polytope
from safegym.check.loop.unfolding import unfolded
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import postorder
from safegym.formula.nodes import Always, And, Atom, Boolean, Or, all_of, any_of
from safegym.formula.rewrite import nnf, signals_of
from safegym.formula.terms import UNBOUNDED, Constant, Signal, Term

Box = Mapping[str, tuple[float, float]]
StateSet = Formula | Box | Sequence[Box]
"""A formula over the states, a box (state -> (lowest, highest), both included), or several."""

MOST_PIECES = 64


def as_formula(given: Any, plant: Plant, what: str) -> Formula:
    """The set as a formula of one instant over the plant's states.

    A box may leave states out; numbers mean their binary64 value. `always(f)` counts as f.
    Raises UnsupportedError for anything else, naming `what`.
    """
    if isinstance(given, Mapping):
        return _box(cast("Box", given), plant, what)
    if isinstance(given, Formula):
        found = given
        if isinstance(found, Always) and found.window == UNBOUNDED:
            found = found.argument
        return _checked(found, plant, what)
    if isinstance(given, (list, tuple)) and given:
        return any_of(as_formula(each, plant, what) for each in cast("Sequence[Any]", given))
    raise UnsupportedError(
        f"{what} is {given!r:.60}; give a formula over the states such as abs(x) <= 1, or a box "
        'such as {"x": (-1, 1)}.'
    )


def polytope(plant: Plant, rows: ArrayLike, bounds: ArrayLike) -> Formula:
    """Rows @ state <= bounds as a formula; rows (r, n), bounds (r,), binary64 values."""
    matrix, limits = np.asarray(rows, dtype=np.float64), np.asarray(bounds, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape != (limits.size, len(plant.states)):
        raise UnsupportedError(
            f"A polytope of rows {matrix.shape} and bounds {limits.shape}; {plant.name} has "
            f"{len(plant.states)} states, so rows (r, {len(plant.states)}) and bounds (r,)."
        )
    return all_of(_row_atom(plant, row, float(b)) for row, b in zip(matrix, limits, strict=True))


@dataclass(frozen=True, slots=True)
class Case:
    """One part of a union: a polytope, cut by the comparisons that are not linear."""

    piece: Polytope
    bent: tuple[Atom, ...]


def cases_of(formula: Formula, plant: Plant, what: str) -> tuple[Case, ...]:
    """The closed union that the formula is. Raises UnsupportedError for too many parts.

    Parts whose polytope is surely empty are left out.
    """
    names = [signal.name for signal in plant.states]
    found: dict[object, list[frozenset[Atom]]] = {}
    root = unfolded(formula)
    for part in postorder(root):
        match part:
            case Atom():
                found[part] = [frozenset((part,))]
            case Boolean():
                found[part] = [frozenset()] if part.value else []
            case Or():
                listed = [case for each in part.arguments for case in found[each]]
                found[part] = list(dict.fromkeys(listed))
            case And():
                sides = [found[each] for each in part.arguments]
                _check_count(formula, prod(len(side) for side in sides), what)
                joined = [frozenset[Atom]().union(*picked) for picked in product(*sides)]
                found[part] = list(dict.fromkeys(joined))
            case _:
                pass
    _check_count(formula, len(found[root]), what)
    cases = [_case(sorted(each, key=str), names) for each in found[root]]
    return tuple(case for case in cases if not case.piece.is_surely_empty)


def check_some(formula: Formula, plant: Plant, what: str) -> None:
    """Raises UnsupportedError where a set is empty, so that a claim about it would be hollow."""
    if not cases_of(formula, plant, what):
        raise UnsupportedError(nothing_in(what))


def nothing_in(what: str) -> str:
    """What is said of an empty set."""
    return f"{what[:1].upper()}{what[1:]} is empty: nothing would be claimed. Check its limits."


def pieces_of(formula: Formula, plant: Plant, what: str) -> tuple[Polytope, ...]:
    """Polytopes that together hold the set: comparisons that are not linear are left out."""
    return tuple(case.piece for case in cases_of(formula, plant, what))


def _case(atoms: Sequence[Atom], names: Sequence[str]) -> Case:
    rows = [(atom, row_of(atom, names)) for atom in atoms]
    straight = tuple(row for _, row in rows if row is not None)
    bent = tuple(atom for atom, row in rows if row is None)
    return Case(Polytope(straight, len(names)), bent)


def region_box(piece: Polytope, what: str) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The piece's box. Raises UnsupportedError where it is not bounded."""
    found = piece.box()
    if found is None:
        raise UnsupportedError(
            f"{what} is not bounded in every state; add limits, such as abs(x) <= 10 for each."
        )
    return found


def _box(given: Box, plant: Plant, what: str) -> Formula:
    states = {signal.name: signal for signal in plant.states}
    atoms: list[Formula] = []
    for name, ends in given.items():
        if name not in states:
            raise UnsupportedError(f"{what} limits {name}; the states are {', '.join(states)}.")
        low, high = (float(end) for end in ends)
        if low > high:
            raise UnsupportedError(f"{what} has {name} from {low} to {high}, which is empty.")
        atoms += [states[name] >= low, states[name] <= high]
    return all_of(atoms)


def _checked(formula: Formula, plant: Plant, what: str) -> Formula:
    states = set(plant.states)
    for signal in signals_of(formula):
        if signal not in states:
            known = ", ".join(signal.name for signal in plant.states)
            raise UnsupportedError(
                f"{what} reads {signal.name}, which is no state of {plant.name} as declared "
                f"there; the states are {known}."
            )
    for part in postorder(nnf(formula)):
        if isinstance(part, Formula) and not isinstance(part, (Atom, Boolean, And, Or)):
            raise UnsupportedError(
                f"`{short(part)}` in {what} speaks of other instants; {what} is a set of states."
            )
    return formula


def _row_atom(plant: Plant, row: Any, bound: float) -> Formula:
    """One row as an atom; units are left to the coefficients, so states count as plain numbers."""
    total: Term | None = None
    for signal, weight in zip(plant.states, row, strict=True):
        if weight:
            part = _plain(signal, float(weight))
            total = part if total is None else total + part
    if total is None:
        raise UnsupportedError("A row of a polytope has only zeros.")
    return total <= Constant(bound)


def _plain(signal: Signal, weight: float) -> Term:
    unit = signal.unit
    if unit in ("1", ""):
        return Constant(weight) * signal
    return Constant(weight, f"1/({unit})") * signal


def _check_count(formula: Formula, count: int, what: str) -> None:
    if count > MOST_PIECES:
        raise UnsupportedError(
            f"{what} `{short(formula)}` has {count} pieces; at most {MOST_PIECES} are looked at."
        )
