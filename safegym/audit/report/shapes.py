"""Which claims can be drawn over a signal: comparisons of one signal with a constant.

A claim that is always(body) or eventually(body), body a Boolean mix of such comparisons, says at
which samples the body must hold, so that the samples at which it fails can be shaded. Of other
shapes the signals and constants are drawn, and nothing is shaded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.errors import FormulaError, UnitError
from safegym.formula.claim import Claim, MeanBound
from safegym.formula.interning import postorder
from safegym.formula.nodes import Always, And, Atom, Eventually, Formula, Or
from safegym.formula.rewrite import nnf
from safegym.formula.terms import Apply, Component, Constant, Signal, Term
from safegym.trace.conversion import conversion
from safegym.trace.model import Trace

Must = Literal["always", "eventually", "other"]
Truth = NDArray[np.bool_]
MOST_PANELS = 3
COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True, slots=True)
class Panel:
    """One term over time with the limits that the claim puts on it. unit: of the term."""

    term: Term
    unit: str
    limits: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """How a claim is drawn. body: what must hold in the window [lo, hi], seconds; hi None: on."""

    must: Must
    body: Formula
    lo: Fraction
    hi: Fraction | None
    panels: tuple[Panel, ...]


def shape_of(claim: Claim) -> Shape | None:
    """The shape of the claim's episode property; None if no comparison in it can be drawn."""
    if isinstance(claim.statement, MeanBound):
        return None
    try:
        wanted = nnf(claim.property)
    except FormulaError:
        return None
    panels = _panels(wanted)
    if not panels:
        return None
    if isinstance(wanted, Always | Eventually) and _simple(wanted.argument):
        must: Must = "always" if isinstance(wanted, Always) else "eventually"
        return Shape(must, wanted.argument, wanted.window.lo, wanted.window.hi, panels)
    return Shape("other", wanted, Fraction(0), None, panels)


def _panels(wanted: Formula) -> tuple[Panel, ...]:
    found: dict[Term, list[tuple[str, float]]] = {}
    for node in postorder(wanted):
        limit = _limit(node) if isinstance(node, Atom) else None
        if limit is not None:
            term, comparison, value = limit
            limits = found.setdefault(term, [])
            if (comparison, value) not in limits:
                limits.append((comparison, value))
    return tuple(
        Panel(term, str(term.unit_or_none or "1"), tuple(limits))
        for term, limits in list(found.items())[:MOST_PANELS]
    )


TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _limit(atom: Atom) -> tuple[Term, str, float] | None:
    """(term, comparison, constant) of a comparison that can be drawn."""
    if isinstance(atom.right, Constant) and _drawable(atom.left):
        return atom.left, atom.comparison, atom.right.value
    if isinstance(atom.left, Constant) and _drawable(atom.right):
        return atom.right, TURNED[atom.comparison], atom.left.value
    return None


def _drawable(term: Term) -> bool:
    """A scalar signal, a component, or the absolute value, negative or length of signals."""
    if isinstance(term, Signal):
        return term.shape == ()
    if isinstance(term, Apply):
        small = term.operation in ("abs", "neg") or term.operation == "norm"
        return small and all(_drawable(argument) for argument in term.arguments)
    return isinstance(term, Component)


def _simple(body: Formula) -> bool:
    return all(
        _limit(node) is not None if isinstance(node, Atom) else isinstance(node, And | Or)
        for node in postorder(body)
        if isinstance(node, Formula)
    )


def values_of(term: Term, trace: Trace) -> NDArray[np.float64] | None:
    """The drawable term at every sample, float64 (T+1,); None if the trace lacks its signal.

    In the claim's unit.
    """
    if isinstance(term, Apply):
        parts = [values_of(argument, trace) for argument in term.arguments]
        arrays = [part for part in parts if part is not None]
        if len(arrays) < len(parts):
            return None
        if term.operation == "norm":
            return np.asarray(np.sqrt(np.sum(np.square(np.stack(arrays)), axis=0)))
        return np.abs(arrays[0]) if term.operation == "abs" else -arrays[0]
    signal = term.signal if isinstance(term, Component) else term
    found = _in_unit(signal, trace) if isinstance(signal, Signal) else None
    if found is None:
        return None
    if isinstance(term, Component):
        return found[:, term.index] if found.ndim == 2 and term.index < found.shape[1] else None
    return found if found.ndim == 1 else None


def _in_unit(signal: Signal, trace: Trace) -> NDArray[np.float64] | None:
    """The signal's numbers in the unit that the claim reads them in, as the verdict did."""
    found = trace.signals.get(signal.name)
    if found is None:
        return None
    recorded = trace.units.get(signal.name, signal.unit)
    try:
        change = conversion(signal.name, recorded, signal.unit)
    except UnitError:
        return None
    return found if change is None else change(found)


def holds(body: Formula, trace: Trace) -> Truth | None:
    """Whether a simple body holds at each sample, (T+1,); None if a signal is missing."""
    if isinstance(body, Atom):
        limit = _limit(body)
        values = None if limit is None else values_of(limit[0], trace)
        if limit is None or values is None:
            return None
        return np.asarray(COMPARE[limit[1]](values, limit[2]), dtype=np.bool_)
    parts = [holds(argument, trace) for argument in _arguments(body)]
    arrays = [part for part in parts if part is not None]
    if not arrays or len(arrays) < len(parts):
        return None
    joined = np.all if isinstance(body, And) else np.any
    return np.asarray(joined(np.stack(arrays), axis=0), dtype=np.bool_)


def _arguments(body: Formula) -> tuple[Formula, ...]:
    return body.arguments if isinstance(body, And | Or) else ()


def window_samples(shape: Shape, trace: Trace) -> range:
    """Samples of the trace inside the claim's window from sample 0.

    A window without end stops at the horizon, so the tail past it does not count.
    """
    dt, last = trace.clock.dt, trace.steps
    first = -((-shape.lo) // dt)
    if shape.hi is not None:
        last = min(last, int(shape.hi // dt))
    elif trace.horizon is not None:
        last = min(last, trace.horizon)
    return range(int(first), last + 1)


def on_grid(shape: Shape, trace: Trace) -> bool:
    """Whether the window's bounds are whole numbers of samples of this trace."""
    dt = trace.clock.dt
    return shape.lo % dt == 0 and (shape.hi is None or shape.hi % dt == 0)


def runs(failing: Truth) -> Iterator[tuple[int, int]]:
    """(first, last) sample of each stretch of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], failing.astype(np.int8), [0]))))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        yield int(start), int(stop) - 1
