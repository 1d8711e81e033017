"""Reading a formula: its atoms, its look-ahead, and whether its margins can be compared."""

from dataclasses import dataclass

from safegym.errors import FormulaError
from safegym.formula.expression import short
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import (
    Always,
    Atom,
    Eventually,
    Formula,
    Next,
    Release,
    Until,
    WeakNext,
)
from safegym.formula.terms import Component, common_unit, signals_of
from safegym.formula.windows import Window
from safegym.units import Unit


def atoms_of(formula: Formula) -> tuple[Atom, ...]:
    """Returns the distinct atoms, in order of first appearance."""
    return tuple(node for node in postorder(formula) if isinstance(node, Atom))


def reads_future(formula: Formula) -> bool:
    """Whether an operator of the future stands in it, so that later samples may count."""
    return any(isinstance(node, _FUTURE) for node in postorder(formula))


_FUTURE = (Always, Eventually, Next, Release, Until, WeakNext)


def look_ahead(formula: Formula) -> int:
    """Returns how many samples past its own a step formula may read.

    The sum of bounded future windows along the deepest path; `next` counts 1, an unbounded window
    only its lower bound (it ends with the episode), a past window nothing. An until or release
    reads its left side one sample less far than its right. Raises FormulaError unless all windows
    are whole samples (`to_steps` first).
    """
    reach: dict[Interned, int] = {}
    for node in postorder(formula):
        if isinstance(node, Formula):
            reach[node] = _reach(node, reach)
    return reach[formula]


def _reach(node: Formula, reach: dict[Interned, int]) -> int:
    if isinstance(node, (Until, Release)):
        last = _last_sample(node, node.window)
        left = 0 if node.window.hi == 0 else max(last - 1, 0) + reach[node.left]
        return max(left, last + reach[node.right])
    inner = max((reach[part] for part in node.parts if isinstance(part, Formula)), default=0)
    if isinstance(node, (Always, Eventually)):
        return inner + _last_sample(node, node.window)
    return inner + 1 if isinstance(node, (Next, WeakNext)) else inner


def _last_sample(node: Formula, window: Window) -> int:
    bound = window.lo if window.hi is None else window.hi
    if bound.denominator != 1:
        raise FormulaError(
            f"`{short(node)}` is in seconds; its look-ahead is counted in samples of a clock: "
            "look_ahead(to_steps(formula, dt))."
        )
    return bound.numerator


def scale_of(atom: Atom) -> float | None:
    """Returns the atom's scale: its own, or the one that all its signals declare in its unit."""
    if atom.scale is not None:
        return atom.scale
    signals = signals_of(atom)
    scales = {signal.scale for signal in signals}
    if len(scales) != 1 or any(signal.unit_or_none != unit_of(atom) for signal in signals):
        return None
    return scales.pop()


def unit_of(atom: Atom) -> Unit | None:
    """Returns the unit of the atom's sides and margin; None if both are plain numbers."""
    return common_unit((atom.left, atom.right), atom.comparison)


def lengths_read(root: Interned) -> dict[str, int]:
    """Returns the least length that has all components read, for each signal so read."""
    found: dict[str, int] = {}
    for node in postorder(root):
        if isinstance(node, Component):
            name = node.signal.name
            found[name] = max(found.get(name, 0), node.index + 1)
    return found


@dataclass(frozen=True, slots=True)
class MarginScale:
    """Whether margins of a formula's atoms may be compared by min and max.

    unit: what a margin counts: "scale" (multiples of each atom's scale), or the common unit.
    reason: why not, where ok is False.
    """

    ok: bool
    unit: str = ""
    reason: str = ""


def margin_scale(formula: Formula) -> MarginScale:
    """Returns whether margins compare: every atom has a scale, or none has and the unit is one."""
    atoms = atoms_of(formula)
    scaled = [atom for atom in atoms if scale_of(atom) is not None]
    if atoms and len(scaled) == len(atoms):
        return MarginScale(True, "scale")
    if scaled:
        bare = next(atom for atom in atoms if scale_of(atom) is None)
        return _refused(f"`{short(scaled[0])}` has a scale and `{short(bare)}` has none")
    for atom in atoms[1:]:
        if unit_of(atom) != unit_of(atoms[0]):
            one, two = unit_of(atoms[0]), unit_of(atom)
            return _refused(f"`{short(atoms[0])}` is in {one} and `{short(atom)}` in {two}")
    return MarginScale(True, str(unit_of(atoms[0])) if atoms else "1")


def _refused(found: str) -> MarginScale:
    return MarginScale(
        False,
        reason=f"{found}: their margins do not compare. Give every signal a scale, "
        "Signal(..., scale=s), or the atom one, (x > 0).scaled(s).",
    )
