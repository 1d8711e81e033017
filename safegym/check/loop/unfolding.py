"""Atoms on abs, min, max and sums of them as formulas of atoms without, exactly."""

from safegym.check.loop.affine import affine
from safegym.formula.formulas import Formula
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import FALSE, TRUE, And, Atom, Comparison, Or, all_of, any_of
from safegym.formula.rewrite import nnf, signals_of
from safegym.formula.terms import Apply, Constant, Term

MOST = 256
"""Atoms that one atom becomes, at most; beyond, it stays whole."""
_BENT = ("abs", "min", "max")


def unfolded(formula: Formula) -> Formula:
    """The formula in negation normal form, such atoms taken apart; the same set in real arithmetic.

    abs(x) + abs(y) <= 1 becomes four comparisons. What stands inside a product or another function
    stays as it is.
    """
    root = nnf(formula)
    done: dict[Interned, Formula] = {}
    for part in postorder(root):
        match part:
            case Atom():
                room = [MOST]
                found = _atom(part, room)
                done[part] = part if room[0] < 0 else found
            case And():
                done[part] = all_of(done[each] for each in part.arguments)
            case Or():
                done[part] = any_of(done[each] for each in part.arguments)
            case Formula():
                done[part] = part
            case _:
                pass
    return done[root]


def _atom(atom: Atom, room: list[int]) -> Formula:
    room[0] -= 1
    if room[0] < 0:
        return atom
    below = atom.comparison in ("<", "<=")
    signs: dict[Apply, set[bool]] = {}
    _signs(atom.left, below, signs)
    _signs(atom.right, not below, signs)
    for bent, found in signs.items():
        if len(found) == 1 and signals_of(bent):
            # A greatest value on the lesser side: all of its arguments are below.
            convex = (bent.operation != "min") == found.pop()
            join = all_of if convex else any_of
            return join(
                _atom(each, room) if isinstance(each, Atom) else each for each in _cases(atom, bent)
            )
    return atom


def _cases(atom: Atom, bent: Apply) -> list[Formula]:
    inside = bent.arguments
    if bent.operation == "abs":
        inside = (inside[0], Apply("neg", (inside[0],)))
    return [
        _compared(_put(atom.left, bent, each), atom.comparison, _put(atom.right, bent, each))
        for each in inside
    ]


def _compared(left: Term, comparison: Comparison, right: Term) -> Formula:
    """The atom, or its truth where no signal is left in it."""
    numbers = affine(left, ()), affine(right, ())
    if signals_of(left) or signals_of(right) or numbers[0] is None or numbers[1] is None:
        return Atom(left, comparison, right)
    less, more = numbers[0][-1], numbers[1][-1]
    if comparison in (">", ">="):
        less, more = more, less
    holds = less < more if comparison in ("<", ">") else less <= more
    return TRUE if holds else FALSE


def _signs(root: Term, positive: bool, found: dict[Apply, set[bool]]) -> None:
    """Each abs, min and max, and on which sides it counts as; True: the lesser side.

    One that is met where the root need not grow or fall with it, such as within sin or a product,
    counts as on both sides, so that it is not taken apart anywhere in its atom.
    """
    waiting: list[tuple[Term, tuple[bool, ...]]] = [(root, (positive,))]
    seen: set[tuple[Term, tuple[bool, ...]]] = set()
    while waiting:
        term, sides = waiting.pop()
        if not isinstance(term, Apply) or (term, sides) in seen:
            continue
        seen.add((term, sides))
        if term.operation in _BENT:
            found.setdefault(term, set()).update(sides)
        turned = tuple(not side for side in sides)
        for at, each in enumerate(term.arguments):
            slope = _slope(term, at)
            waiting.append((each, (True, False) if not slope else sides if slope > 0 else turned))


def _slope(term: Apply, at: int) -> int:
    """1 where the term never falls as that argument grows, -1 where it never grows, else 0."""
    if term.operation in ("+", "min", "max"):
        return 1
    if term.operation in ("-", "neg"):
        return -1 if term.operation == "neg" or at == 1 else 1
    if term.operation == "*" or (term.operation == "/" and at == 0):
        factor = term.arguments[1 - at]
        if isinstance(factor, Constant) and factor.value != 0.0:
            return 1 if factor.value > 0.0 else -1
    return 0


def _put(root: Term, bent: Apply, by: Term) -> Term:
    """The term with `bent` replaced."""
    done: dict[Interned, Term] = {}
    for part in postorder(root):
        if part is bent:
            done[part] = by
        elif isinstance(part, Apply):
            done[part] = Apply(part.operation, tuple(done[each] for each in part.arguments))
        elif isinstance(part, Term):
            done[part] = part
    return done[root]
