"""Whether a formula of one instant holds of given numbers, decided exactly."""

from collections.abc import Mapping
from fractions import Fraction

from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.property.affine import affine
from safegym.check.neural.property.layout import Layout, Place
from safegym.check.neural.property.splitting import HOLDS
from safegym.check.neural.terms import atom_node
from safegym.formula.formulas import Formula
from safegym.formula.interning import postorder
from safegym.formula.nodes import And, Atom, Boolean, Or

Truth = bool | None
"""None: the enclosures of sqrt, exp, sin or cos do not decide it."""


def truth(formula: Formula, layout: Layout, values: Mapping[Place, Fraction]) -> Truth:
    """Whether the formula, in negation normal form, holds where each place has its value."""
    done: dict[object, Truth] = {}
    for part in postorder(formula):
        match part:
            case Atom():
                done[part] = _atom(part, layout, values)
            case Boolean():
                done[part] = part.value
            case And():
                done[part] = _all([done[each] for each in part.arguments])
            case Or():
                denied = [_not(done[each]) for each in part.arguments]
                done[part] = _not(_all(denied))
            case _:
                pass
    return done[formula]


def _all(values: list[Truth]) -> Truth:
    if any(value is False for value in values):
        return False
    return None if any(value is None for value in values) else True


def _not(value: Truth) -> Truth:
    return None if value is None else not value


def _atom(atom: Atom, layout: Layout, values: Mapping[Place, Fraction]) -> Truth:
    sides = [affine(side, layout, values) for side in (atom.left, atom.right)]
    numbers = [side.constant for side in sides if side is not None]
    if len(numbers) == 2:
        return HOLDS[atom.comparison](*numbers)
    return _enclosed(atom, layout, values)


def _enclosed(atom: Atom, layout: Layout, values: Mapping[Place, Fraction]) -> Truth:
    """By enclosures of the margin, for terms with sqrt, exp, sin or cos."""
    order = list(values)
    builder = GraphBuilder(len(order))
    whole = builder.input()
    entries = {(place[0], place[1]): (whole, at) for at, place in enumerate(order)}
    for name, place in layout.fields.items():
        entries[name, 0] = entries[place]
    node, strict = atom_node(atom, builder, entries)
    (low, high), *_ = evaluate_exact(builder.graph(node), [values[place] for place in order])
    if low > 0 or (low >= 0 and not strict):
        return True
    return False if high < 0 or (high <= 0 and strict) else None
