"""A quick look at one sample: whether it may violate a claim that must hold at every sample.

Compiled to plain functions for claims of the form always(f) or always[a,b](f), f over the present
sample without norms or division, and conjunctions of these. Other claims have no trigger.
"""

import operator
from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from safegym.formula.claim import Claim
from safegym.formula.nodes import Always, And, Atom, Boolean, Eventually, Formula, Or
from safegym.formula.operations import Apply, Constant, Term
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Component, Signal
from safegym.trace.model import Clock

Row = tuple[Any, ...]
"""What a scenario's reader returns for one sample, in the layout's order."""
Trigger = Callable[[Row, int], bool]
"""Whether a sample may violate the claim; the sample's number counts from 0."""
Keeps = Callable[[Row], bool]
Number = Callable[[Row], float]
Places = Mapping[str, int]
"""Signal name -> its place in a row."""

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ONE: dict[str, Callable[[float], float]] = {"abs": abs, "neg": operator.neg}
_TWO: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def trigger_of(claim: Claim, clock: Clock, places: Places) -> Trigger | None:
    """The trigger of a claim, None where it has none. places: where a row holds each signal."""
    formula = to_steps(claim.property, clock.dt, rounding=claim.rounding)
    return _everywhere(formula, places)


def earliest(claim: Claim, clock: Clock) -> float:
    """No violation of the claim settles before this sample; inf where only the end settles one."""
    return _earliest(to_steps(claim.property, clock.dt, rounding=claim.rounding))


def _earliest(formula: Formula) -> float:
    if isinstance(formula, And):
        return min((_earliest(part) for part in formula.arguments), default=0.0)
    if isinstance(formula, Or):
        return max((_earliest(part) for part in formula.arguments), default=0.0)
    if isinstance(formula, Always):
        return float(formula.window.lo) + _earliest(formula.argument)
    if isinstance(formula, Eventually):
        high = formula.window.hi
        return inf if high is None else float(high) + _earliest(formula.argument)
    return 0.0


def _everywhere(formula: Formula, places: Places) -> Trigger | None:
    """Whether a sample breaks what must hold at every sample of a window."""
    if isinstance(formula, And):
        parts = [_everywhere(part, places) for part in formula.arguments]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        return lambda row, step: any(part(row, step) for part in found)
    keeps = _present(formula.argument, places) if isinstance(formula, Always) else None
    if keeps is None or not isinstance(formula, Always):
        return None
    low, high = float(formula.window.lo), formula.window.hi
    last = inf if high is None else float(high)
    return lambda row, step: low <= step <= last and not keeps(row)


def _present(formula: Formula, places: Places) -> Keeps | None:
    if isinstance(formula, Boolean):
        value = formula.value
        return lambda row: value
    if isinstance(formula, (And, Or)):
        how = all if isinstance(formula, And) else any
        parts = [_present(part, places) for part in formula.arguments]
        found = [part for part in parts if part is not None]
        return (lambda row: how(part(row) for part in found)) if len(found) == len(parts) else None
    return _atom(formula, places) if isinstance(formula, Atom) else None


def _atom(atom: Atom, places: Places) -> Keeps | None:
    """Whether the comparison holds; a number that was not seen (NaN) violates nothing."""
    left, right = _number(atom.left, places), _number(atom.right, places)
    if left is None or right is None:
        return None
    compare = _COMPARISONS[atom.comparison]

    def holds(row: Row) -> bool:
        one, other = left(row), right(row)
        return compare(one, other) or not (isfinite(one) and isfinite(other))

    return holds


def _number(term: Term, places: Places) -> Number | None:
    if isinstance(term, Constant):
        value = term.value
        return lambda row: value
    if isinstance(term, Signal) and not term.shape:
        place = places[term.name]
        return lambda row: _seen(row[place])
    if isinstance(term, Component):
        place, index = places[term.signal.name], term.index
        return lambda row: _seen(row[place][index])
    return _applied(term, places) if isinstance(term, Apply) else None


def _applied(term: Apply, places: Places) -> Number | None:
    parts = [_number(part, places) for part in term.arguments]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    if len(found) == 1 and term.operation in _ONE:
        one, first = _ONE[term.operation], found[0]
        return lambda row: one(first(row))
    if len(found) == 2 and term.operation in _TWO:
        two, (left, right) = _TWO[term.operation], found
        return lambda row: two(left(row), right(row))
    if term.operation in ("min", "max"):
        choose: Callable[[Any], float] = min if term.operation == "min" else max
        return lambda row: choose(part(row) for part in found)
    return None


def _seen(value: Any) -> float:
    return float("nan") if value is None else float(value)
