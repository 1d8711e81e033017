"""Linear constraints of a region, written in the language."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from safegym.check.neural.problem import HalfSpace
from safegym.check.neural.property.clauses import clauses
from safegym.check.neural.property.layout import OBSERVATION, Layout, places_of
from safegym.check.neural.property.margins import margin_of
from safegym.check.neural.property.splitting import split
from safegym.check.neural.property.state import state_formula
from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.nodes import Atom
from safegym.formula.rewrite import negate
from safegym.formula.text import parse

Limits = Mapping[int, tuple[Fraction | None, Fraction | None]]
Constraint = tuple[Limits, tuple[HalfSpace, ...]]


def constrained(where: Any, layout: Layout) -> Sequence[Constraint]:
    """The parts of a region that constraints describe: limits of single entries, and half spaces.

    where: None, text, a formula, or a list of these, which must all hold. An `or` gives several
    parts. Raises UnsupportedError for a constraint that is strict, not linear, or not about
    observations.
    """
    if where is None:
        return [({}, ())]
    if isinstance(where, (list, tuple)):
        listed = [_formula(each) for each in where]
        formula = listed[0] if len(listed) == 1 else _all(listed)
    else:
        formula = _formula(where)
    for place in sorted(places_of(formula, layout)):
        if place[0] != OBSERVATION:
            raise UnsupportedError(
                f"A region limits observations; `{short(formula)}` reads {place[0]}[{place[1]}]. "
                "What follows for the action belongs into the claim."
            )
    # Parts are the clauses of the negation, each turned around.
    turned = clauses(split(negate(state_formula(formula)), layout))
    if not turned:
        raise UnsupportedError(f"`{short(formula)}` is never true, so the region is empty.")
    return [_part(clause, layout) for clause in turned]


def _formula(where: Any) -> Formula:
    if isinstance(where, str):
        return parse(where)
    if isinstance(where, Formula):
        return where
    raise UnsupportedError(
        f"Constraints of a region are text or a formula, found {where!r:.60}; write "
        '"where": "obs[0] + obs[1] <= 1".'
    )


def _all(listed: Sequence[Formula]) -> Formula:
    from safegym.formula.nodes import all_of

    return all_of(listed)


def _part(clause: frozenset[Atom], layout: Layout) -> Constraint:
    """The conjunction of the atoms' negations."""
    limits: dict[int, tuple[Fraction | None, Fraction | None]] = {}
    cuts: list[HalfSpace] = []
    for atom in sorted(clause, key=str):
        row = margin_of(atom, layout).row
        if row is None:
            raise UnsupportedError(
                f"`{short(atom)}` is not linear in the observation, and a region's constraints "
                "must be; put it into the claim instead: (constraint).implies(...)."
            )
        if atom.comparison in ("<=", ">="):  # its negation, the constraint, is strict
            raise UnsupportedError(
                f"A region holds its ends, so its constraints are written with <= and >=; the "
                f"negation of `{short(atom)}` is strict."
            )
        # The atom says row > 0; the constraint is row <= 0.
        if len(row.coefficients) == 1:
            ((place, factor),) = row.coefficients.items()
            bound = -row.constant / factor
            least, most = limits.get(place[1], (None, None))
            if factor > 0:
                most = bound if most is None else min(most, bound)
            else:
                least = bound if least is None else max(least, bound)
            limits[place[1]] = least, most
            continue
        numbers = [
            row.coefficients.get((OBSERVATION, at), Fraction(0))
            for at in range(layout.observations)
        ]
        cuts.append(HalfSpace(tuple(numbers), -row.constant))
    return limits, tuple(cuts)
