"""Tightening: the formula that holds on an episode exactly when another's robustness beats m.

Robustness is made by min and max of the atoms' margins, so it beats m where the same formula does
over atoms that ask for a margin of m each. An atom's margin is (left - right) / scale or its
negative: the shift is m * scale, on the constant side where there is one.
"""

import math
import struct
from collections.abc import Callable
from fractions import Fraction as Rational
from functools import lru_cache

from safegym.errors import FormulaError
from safegym.formula.checks import number_text
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import (
    OPPOSITE,
    And,
    Atom,
    Comparison,
    Formula,
    Iff,
    Implies,
    Nary,
    Not,
    Unary,
    WindowedBinary,
    WindowedUnary,
    Xor,
    all_of,
    any_of,
)
from safegym.formula.normal import nnf
from safegym.formula.operations import applied
from safegym.formula.reading import scale_of
from safegym.formula.terms import Constant, Term

Wanted = tuple[Formula, bool]
"""A part, and whether it is to be harder to meet (True) or, where it is negated, easier."""


@lru_cache(maxsize=1024)
def tightened(formula: Formula, margin: float, *, strict: bool) -> Formula:
    """Returns a formula whose truth is `robustness > margin` (strict), or `>=`.

    margin: in multiples of the atoms' scale, 1 where an atom has none. Written as the formula is,
    an atom that is negated moved the other way; iff and xor are expanded. A shifted constant is the
    least binary64 number that beats the margin both in exact arithmetic and as the monitor rounds
    it, so the result is never easier to meet than the margin says. Raises FormulaError where a
    shifted constant is beyond binary64.
    """
    both_ways = any(isinstance(node, (Iff, Xor)) for node in postorder(formula))
    root: Wanted = (nnf(formula) if both_ways else formula, True)
    done: dict[Wanted, Formula] = {}
    stack: list[Wanted] = [root]
    while stack:
        wanted = stack[-1]
        missing = [part for part in _parts(wanted) if part not in done]
        stack.extend(missing)
        if not missing:
            done[stack.pop()] = _moved(wanted, done, margin, strict=strict)
    return done[root]


def _parts(wanted: Wanted) -> tuple[Wanted, ...]:
    node, harder = wanted
    if isinstance(node, Not):
        return ((node.argument, not harder),)
    if isinstance(node, Implies):
        return (node.left, not harder), (node.right, harder)
    if isinstance(node, Nary):
        return tuple((argument, harder) for argument in node.arguments)
    return tuple((part, harder) for part in node.parts if isinstance(part, Formula))


def _moved(wanted: Wanted, done: dict[Wanted, Formula], margin: float, *, strict: bool) -> Formula:
    node, harder = wanted
    if isinstance(node, Atom):
        if harder:
            return tightened_atom(node, margin, strict=strict)
        return _opposite(tightened_atom(_opposite(node), margin, strict=strict))
    parts = [done[part] for part in _parts(wanted)]
    if isinstance(node, Nary):
        return all_of(parts) if isinstance(node, And) else any_of(parts)
    if isinstance(node, Unary):
        return type(node)(parts[0])
    if isinstance(node, Implies):
        return Implies(*parts)
    if isinstance(node, WindowedUnary):
        return type(node)(parts[0], node.window)
    if isinstance(node, WindowedBinary):
        return type(node)(parts[0], parts[1], node.window)
    return node


def _opposite(atom: Atom) -> Atom:
    return Atom(atom.left, OPPOSITE[atom.comparison], atom.right, atom.scale)


def tightened_atom(atom: Atom, margin: float, *, strict: bool) -> Atom:
    """Returns the atom that holds where this one's margin is > `margin` (strict), or >= it."""
    least = _Least(atom, margin, strict=strict)
    less = atom.comparison in ("<", "<=")
    greater, smaller = (atom.right, atom.left) if less else (atom.left, atom.right)
    if isinstance(smaller, Constant):
        beyond, limit = least.above(smaller.value)
        return _atom(greater, beyond, Constant(limit, smaller.unit), atom.scale, turned=less)
    if isinstance(greater, Constant):
        beyond, limit = least.above(-greater.value)
        below: Comparison = "<" if beyond == ">" else "<="
        shifted = Constant(-limit, greater.unit)
        return _atom(smaller, below, shifted, atom.scale, turned=not less)
    beyond, limit = least.above(0.0)
    if limit == 0.0:
        return _atom(greater, beyond, smaller, atom.scale, turned=less)
    return Atom(applied("-", greater, smaller), beyond, Constant(limit), atom.scale)


def _atom(
    left: Term, comparison: Comparison, right: Term, scale: float | None, *, turned: bool
) -> Atom:
    """The atom, its sides in the order in which they were written."""
    if turned:
        return Atom(right, _TURNED[comparison], left, scale)
    return Atom(left, comparison, right, scale)


_TURNED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Least:
    """The least number x for which (x - c) / scale beats a margin."""

    def __init__(self, atom: Atom, margin: float, *, strict: bool) -> None:
        self.atom = atom
        self.margin = margin
        self.scale = scale_of(atom) or 1.0
        self.strict = strict

    def above(self, constant: float) -> tuple[Comparison, float]:
        """Returns (comparison, limit): x beats the margin over `constant` where x meets them."""
        exact = Rational(constant) + Rational(self.margin) * Rational(self.scale)
        found = least_where(lambda x: self._beats(x, constant, exact))
        if not math.isfinite(found):
            raise FormulaError(
                f"A margin of {number_text(self.margin)} on `{short(self.atom)}` (scale "
                f"{number_text(self.scale)}) is beyond binary64; state a smaller margin."
            )
        below = math.nextafter(found, -math.inf)
        if self.strict and math.isfinite(below) and Rational(below) == exact:
            return ">", below + 0.0
        return ">=", found + 0.0

    def _beats(self, x: float, constant: float, exact: Rational) -> bool:
        """Whether the margin at x beats the limit, as the monitor rounds it and exactly."""
        rounded = (x - constant) / self.scale
        if math.isinf(x):
            return x > 0
        if self.strict:
            return rounded > self.margin and Rational(x) > exact
        return rounded >= self.margin and Rational(x) >= exact


def least_where(beats: Callable[[float], bool]) -> float:
    """Returns the least binary64 number with a property that all greater ones have too."""
    low, high = _place(-math.inf), _place(math.inf)  # beats(low) is False, beats(high) True
    while high - low > 1:
        middle = (low + high) // 2
        if beats(_number(middle)):
            high = middle
        else:
            low = middle
    return _number(high)


def _place(number: float) -> int:
    """The number's place among all binary64 numbers in order, 0.0 at 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return int(bits) if bits >= 0 else -(int(bits) & (2**63 - 1))


def _number(place: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return float(-number) if place < 0 else float(number)
