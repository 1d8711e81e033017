"""Conjunctive normal form of a formula of one instant, with a limit on its size."""

from itertools import product

from safegym.errors import UnsupportedError
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import postorder
from safegym.formula.nodes import OPPOSITE, And, Atom, Boolean, Or

AtomClause = frozenset[Atom]
MOST_CLAUSES, MOST_LITERALS = 512, 8192
"""Of a whole property, at most."""
MOST_JOINED = 2048
"""Clauses that joining two sides may give before those implied by others are dropped."""


def clauses(formula: Formula) -> tuple[AtomClause, ...]:
    """The clauses of a formula in negation normal form; all of them hold where it does.

    None is implied by another clause or true by itself; no clause: the formula is true; an empty
    one: it is false. Raises UnsupportedError where there would be too many.
    """
    done: dict[object, list[AtomClause]] = {}
    for part in postorder(formula):
        match part:
            case Atom():
                done[part] = [frozenset((part,))]
            case Boolean():
                done[part] = [] if part.value else [frozenset()]
            case And():
                listed = [clause for each in part.arguments for clause in done[each]]
                done[part] = _guarded(_least(listed), formula)
            case Or():
                done[part] = _either([done[each] for each in part.arguments], formula)
            case _:
                pass
    return tuple(sorted(done[formula], key=lambda clause: sorted(map(str, clause))))


def _either(sides: list[list[AtomClause]], formula: Formula) -> list[AtomClause]:
    found: list[AtomClause] = [frozenset()]
    for side in sides:
        if len(found) * len(side) > MOST_JOINED:
            _too_many(formula, f"more than {MOST_JOINED}")
        found = _least([left | right for left, right in product(found, side)])
    return _guarded(found, formula)


def _least(listed: list[AtomClause]) -> list[AtomClause]:
    """Without clauses that are always true or that hold a smaller one."""
    kept: list[AtomClause] = []
    atoms = {atom for clause in listed for atom in clause}
    turned = {a: Atom(a.left, OPPOSITE[a.comparison], a.right, a.scale) for a in atoms}
    for clause in sorted(set(listed), key=len):
        always = any(turned[atom] in clause for atom in clause)
        if not always and not any(small <= clause for small in kept):
            kept.append(clause)
    return kept


def _guarded(found: list[AtomClause], formula: Formula) -> list[AtomClause]:
    if len(found) > MOST_CLAUSES or sum(map(len, found)) > MOST_LITERALS:
        _too_many(formula, str(len(found)))
    return found


def _too_many(formula: Formula, count: str) -> None:
    raise UnsupportedError(
        f"`{short(formula)}` becomes {count} clauses, and {MOST_CLAUSES} are the most that one "
        "proof takes. A conjunction can be proved part by part: state each part as a claim of its "
        "own, or cut the region where its cases lie (region=[{...}, {...}])."
    )
