"""Formulas over time on tubes: three-valued truth of every cell."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.reach.tube import Truths, Tube, truths
from safegym.check.monitor import satisfaction
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Always, And, Atom, Boolean, Or
from safegym.formula.rewrite import atoms_of, nnf
from safegym.formula.terms import Signal
from safegym.trace.batch import TraceBatch

Bools = NDArray[np.bool_]
Instants = Literal["instants", "throughout"]


def judged(formula: Formula, tube: Tube, when: Instants) -> tuple[Bools, Bools]:
    """(holds on every trajectory of the cell, fails on every one), (B,) each.

    when: "instants" judges the samples as a monitor would, any formula; "throughout" judges all
    of the time between as well, `always` of a state formula and conjunctions of those.
    """
    form = nnf(formula)
    atoms = tuple(atoms_of(form))
    if not atoms:
        # Truth that hangs on no signal: any atom will do in its place.
        anything = tube.plant.states[0]
        atoms = (anything >= anything,)
    if when == "throughout":
        return _throughout(form, atoms, tube)
    must, may = truths(tube.margins(atoms), atoms)
    return _on(form, atoms, must, tube)[0], ~_on(form, atoms, may, tube)[1]


def _on(form: Formula, atoms: tuple[Atom, ...], truth: Bools, tube: Tube) -> tuple[Bools, Bools]:
    """(must, may) at the start where the atoms have that truth (K + 1, B, atoms) at the samples.

    In negation normal form a formula only gains where an atom does, so that pessimistic truths
    of the atoms give a pessimistic truth of it.
    """
    patterns, place = np.unique(
        truth.transpose(1, 0, 2).reshape(truth.shape[1], -1), axis=0, return_inverse=True
    )
    shaped = patterns.reshape(len(patterns), truth.shape[0], truth.shape[2])
    names = [f"atom_{at}" for at in range(len(atoms))]
    stand_in: Mapping[Atom, Formula] = {
        atom: Signal(name) >= 0.5 for atom, name in zip(atoms, names, strict=True)
    }
    batch = TraceBatch.from_arrays(
        {name: shaped[:, :, at].astype(np.float64) for at, name in enumerate(names)}
        or {"nothing": np.zeros(shaped.shape[:2])},
        dt=tube.plant.dt,
        end="horizon",
        horizon=tube.steps,
    )
    must, may = satisfaction(replaced(form, stand_in), batch)
    rows = place.reshape(-1)
    return must[rows, 0], may[rows, 0]


def replaced(form: Formula, stand_in: Mapping[Atom, Formula]) -> Formula:
    """The formula with each atom replaced."""
    done: dict[Interned, Any] = {}
    for part in postorder(form):
        if isinstance(part, Atom):
            done[part] = stand_in[part]
        elif isinstance(part, Formula):
            done[part] = type(part)(*(_field(each, done) for each in part.fields))
    found: Formula = done[form]
    return found


def _field(value: Any, done: Mapping[Interned, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_field(each, done) for each in value)
    return done.get(value, value) if isinstance(value, Interned) else value


def _throughout(form: Formula, atoms: tuple[Atom, ...], tube: Tube) -> tuple[Bools, Bools]:
    at = truths(tube.margins(atoms), atoms)
    during = truths(tube.margins_between(atoms), atoms)
    cells = len(tube.sets[0].low)
    must, fails = np.ones(cells, dtype=np.bool_), np.zeros(cells, dtype=np.bool_)
    for part in form.arguments if isinstance(form, And) else (form,):
        if isinstance(part, Boolean):
            must &= part.value
            fails |= not part.value
            continue
        first, last, state = _span(part, tube)
        places = {atom: place for place, atom in enumerate(atoms)}
        instant = _state(state, places, at)
        inside = _state(state, places, during)
        must &= instant[0][first : last + 1].all(axis=0) & inside[0][first:last].all(axis=0)
        fails |= ~(instant[1][first : last + 1].all(axis=0) & inside[1][first:last].all(axis=0))
    return must, fails


def _span(part: Formula, tube: Tube) -> tuple[int, int, Formula]:
    """First and last instant of an `always`, and what holds throughout."""
    if not isinstance(part, Always):
        raise UnsupportedError(
            f"`{short(part)}` cannot be judged between the control instants; there, always(f) of a "
            'state formula can. With when="instants" any formula can.'
        )
    window, dt = part.window, tube.plant.dt
    first = window.lo / dt
    last = tube.steps if window.hi is None else window.hi / dt
    for end in (first, last):
        if end != int(end) or end > tube.steps:
            raise UnsupportedError(
                f"`{short(part)}` has an end that is no control instant 0, {dt}, ... up to "
                f"{tube.steps * dt} s; change steps= or the window."
            )
    return int(first), int(last), part.argument


def _state(state: Formula, places: Mapping[Atom, int], truth: Truths) -> Truths:
    """(must, may) of a state formula, (samples, B) each."""
    done: dict[Interned, Truths] = {}
    for part in postorder(state):
        match part:
            case Atom():
                done[part] = truth[0][:, :, places[part]], truth[1][:, :, places[part]]
            case And() | Or():
                rule = np.logical_and if isinstance(part, And) else np.logical_or
                sides = [done[each] for each in part.arguments]
                done[part] = (
                    rule.reduce([side[0] for side in sides]),
                    rule.reduce([side[1] for side in sides]),
                )
            case Formula():
                raise UnsupportedError(
                    f"`{short(part)}` cannot be judged between the control instants; there, "
                    "always(f) of a state formula can."
                )
            case _:
                pass
    return done[state]
