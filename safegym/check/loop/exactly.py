"""Truth of a formula at one point, in exact arithmetic: it holds, fails, or is too close."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from safegym.check.loop.compact import compacted
from safegym.check.loop.graph import Entries
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.terms import atom_node
from safegym.formula.formulas import Formula
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import And, Atom, Boolean, Or
from safegym.formula.rewrite import atoms_of, nnf
from safegym.formula.terms import Signal

Enclosure = tuple[Fraction, Fraction]


def holds_at(
    formula: Formula, signals: Sequence[Signal], point: Sequence[Fraction | float]
) -> bool | None:
    """Whether a formula of one instant holds where the signals have these values."""
    builder = GraphBuilder(len(signals))
    source = builder.input()
    entries: Entries = {(signal.name, 0): (source, at) for at, signal in enumerate(signals)}
    form = nnf(formula)
    atoms = tuple(atoms_of(form))
    if not atoms:
        return _truth(form, {})
    node = builder.stack([atom_node(atom, builder, entries)[0] for atom in atoms])
    margins = evaluate_exact(compacted(builder.graph(node)), point)
    return _truth(form, dict(zip(atoms, margins, strict=True)))


def _truth(form: Formula, margins: Mapping[Atom, Enclosure]) -> bool | None:
    done: dict[Interned, bool | None] = {}
    for part in postorder(form):
        match part:
            case Atom():
                done[part] = _positive(margins[part], part.comparison in ("<", ">"))
            case Boolean():
                done[part] = part.value
            case And() | Or():
                sides = [done[each] for each in part.arguments]
                deciding = isinstance(part, Or)
                known = deciding if deciding in sides else not deciding
                done[part] = None if deciding not in sides and None in sides else known
            case _:
                pass
    return done[form]


def _positive(margin: Enclosure, strict: bool) -> bool | None:
    low, high = margin
    if low > 0 or (low == 0 and not strict):
        return True
    return False if high < 0 or (high == 0 and strict) else None
