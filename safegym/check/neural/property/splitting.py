"""Comparisons of abs, min and max as comparisons of what is inside them: bounds are tighter so."""

import operator
from collections.abc import Callable
from fractions import Fraction

from safegym.check.neural.property.affine import affine
from safegym.check.neural.property.layout import Layout
from safegym.errors import FormulaError
from safegym.formula.formulas import Formula
from safegym.formula.interning import postorder
from safegym.formula.nodes import (
    FALSE,
    TRUE,
    And,
    Atom,
    Comparison,
    Or,
    all_of,
    any_of,
)
from safegym.formula.terms import Apply, Term

MOST = 64
"""Atoms that one atom becomes, at most; beyond, it stays whole."""
FLIPPED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
HOLDS: dict[Comparison, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def split(formula: Formula, layout: Layout) -> Formula:
    """The same formula in negation normal form, with atoms on abs, min and max taken apart.

    abs(t) <= c is t <= c and -t <= c; max(a, b) > c is a > c or b > c. Exact in real arithmetic.
    """
    done: dict[object, Formula] = {}
    for part in postorder(formula):
        match part:
            case Atom():
                done[part] = _atom(part, layout)
            case And():
                done[part] = all_of(done[each] for each in part.arguments)
            case Or():
                done[part] = any_of(done[each] for each in part.arguments)
            case Formula():
                done[part] = part
            case _:
                pass
    return done[formula]


def _atom(atom: Atom, layout: Layout) -> Formula:
    room = [MOST]
    found = _compared(atom.left, atom.comparison, atom.right, layout, room)
    return atom if room[0] < 0 else found


def _compared(
    left: Term, comparison: Comparison, right: Term, layout: Layout, room: list[int]
) -> Formula:
    room[0] -= 1
    if room[0] < 0:
        return TRUE
    ways: tuple[tuple[Term, Comparison, Term], ...] = (
        (left, comparison, right),
        (right, FLIPPED[comparison], left),
    )
    for one, way, other in ways:
        if isinstance(one, Apply) and one.operation in ("abs", "min", "max") and one.arguments:
            inside = one.arguments
            if one.operation == "abs":
                inside = (inside[0], Apply("neg", (inside[0],)))
            below, greatest = way in ("<", "<="), one.operation != "min"
            join = all_of if below == greatest else any_of
            return join(_compared(each, way, other, layout, room) for each in inside)
    return _plain(left, comparison, right, layout)


def _plain(left: Term, comparison: Comparison, right: Term, layout: Layout) -> Formula:
    try:
        return Atom(left, comparison, right)
    except FormulaError:
        sides = [affine(side, layout) for side in (left, right)]
        numbers = [side.constant for side in sides if side is not None and side.fixed]
        if len(numbers) < 2:
            raise
        return TRUE if HOLDS[comparison](*numbers) else FALSE
