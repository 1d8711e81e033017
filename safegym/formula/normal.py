"""Negation normal form, in time near linear in the size of the formula, long rows included.

Each distinct subformula is wanted as it stands, negated, or both; only what is wanted is built.
"""

from collections import deque

from safegym.errors import FormulaError
from safegym.formula.nodes import (
    OPPOSITE,
    Always,
    And,
    Atom,
    Boolean,
    Eventually,
    Formula,
    Fraction,
    Historically,
    Iff,
    Implies,
    Nary,
    Next,
    Not,
    Once,
    Or,
    Previous,
    Release,
    Since,
    Trigger,
    Unary,
    Until,
    WeakNext,
    WeakPrevious,
    WindowedBinary,
    WindowedUnary,
    Xor,
    all_of,
    any_of,
)

Wanted = tuple[Formula, bool]
"""A subformula, and whether it is wanted as it stands (True) or negated."""

_DUAL_UNARY: dict[type[Unary], type[Unary]] = {
    Next: WeakNext,
    WeakNext: Next,
    Previous: WeakPrevious,
    WeakPrevious: Previous,
}
_DUAL_WINDOWED: dict[type[WindowedUnary], type[WindowedUnary]] = {
    Always: Eventually,
    Eventually: Always,
    Once: Historically,
    Historically: Once,
}
_DUAL_BINARY: dict[type[WindowedBinary], type[WindowedBinary]] = {
    Until: Release,
    Release: Until,
    Since: Trigger,
    Trigger: Since,
}


def nnf(formula: Formula) -> Formula:
    """Returns the negation normal form: no Not, Implies, Iff or Xor; negated atoms turned around.

    A turned atom keeps its strictness: not (x < c) is x >= c.
    """
    return NormalForm(formula).root


def negate(formula: Formula) -> Formula:
    """Returns the negation normal form of the formula's negation."""
    return NormalForm(formula, negated=True).root


class NormalForm:
    """The normal form of a formula and of its parts, built without recursion."""

    def __init__(self, formula: Formula, *, negated: bool = False) -> None:
        self._uses: dict[Wanted, int] = {}
        self._built: dict[Wanted, Formula | _Row] = {}
        root = _bare(formula, not negated)
        for wanted in self._in_order(root):
            self._built[wanted] = self._rule(wanted)
        self.root = self._settled(root)

    def found(self, formula: Formula) -> Formula | None:
        """Returns the normal form of a part where it stands on its own as it is written.

        None where only its negation is used, or it became part of a longer `and` or `or`.
        """
        built = self._built.get((formula, True))
        return built if isinstance(built, Formula) else None

    def _in_order(self, root: Wanted) -> list[Wanted]:
        """Parts first, each once, and the uses of each counted."""
        order: list[Wanted] = []
        done: set[Wanted] = set()
        stack: list[tuple[Wanted, bool]] = [(root, False)]
        while stack:
            wanted, ready = stack.pop()
            if wanted in done:
                continue
            parts = _parts(wanted)
            if ready:
                done.add(wanted)
                order.append(wanted)
                for part in parts:
                    self._uses[part] = self._uses.get(part, 0) + 1
                continue
            stack.append((wanted, True))
            stack.extend((part, False) for part in reversed(parts) if part not in done)
        return order

    def _settled(self, wanted: Wanted) -> Formula:
        built = self._built[wanted]
        if isinstance(built, _Row):
            built = all_of(built.items) if built.kind is And else any_of(built.items)
            self._built[wanted] = built
        return built

    def _rule(self, wanted: Wanted) -> "Formula | _Row":
        node, positive = wanted
        if isinstance(node, Atom):
            turned = OPPOSITE[node.comparison]
            return node if positive else Atom(node.left, turned, node.right, node.scale)
        if isinstance(node, Boolean):
            return Boolean(node.value == positive)
        if isinstance(node, (Nary, Implies)):
            return self._row(wanted)
        if isinstance(node, (Iff, Xor)):
            return self._same(wanted)
        return self._operator(node, positive, [self._settled(part) for part in _parts(wanted)])

    def _row(self, wanted: Wanted) -> "_Row":
        """Joins the parts; a part that is a row of the same kind and used only here is taken in."""
        node, positive = wanted
        row = _Row(And if isinstance(node, And) == positive else Or)
        for part in _parts(wanted):
            built = self._built[part]
            if isinstance(built, _Row) and built.kind is row.kind and self._uses[part] == 1:
                row.take(built)
            else:
                row.items.append(self._settled(part))
        return row

    def _same(self, wanted: Wanted) -> Formula:
        left, right, not_left, not_right = (self._settled(part) for part in _parts(wanted))
        if isinstance(wanted[0], Iff) == wanted[1]:
            return any_of(all_of(left, right), all_of(not_left, not_right))
        return any_of(all_of(left, not_right), all_of(not_left, right))

    def _operator(self, node: Formula, positive: bool, parts: list[Formula]) -> Formula:
        if isinstance(node, Fraction):
            comparison = node.comparison if positive else OPPOSITE[node.comparison]
            return Fraction(parts[0], comparison, node.bound)
        if isinstance(node, Unary):
            one = type(node) if positive else _DUAL_UNARY[type(node)]
            return one(parts[0])
        if isinstance(node, WindowedUnary):
            windowed = type(node) if positive else _DUAL_WINDOWED[type(node)]
            return windowed(parts[0], node.window)
        if isinstance(node, WindowedBinary):
            two = type(node) if positive else _DUAL_BINARY[type(node)]
            return two(parts[0], parts[1], node.window)
        raise FormulaError(f"{type(node).__name__} has no negation normal form.")


class _Row:
    """Formulas joined by one of `and`, `or`, not yet a node."""

    __slots__ = ("items", "kind")

    def __init__(self, kind: type[Nary]) -> None:
        self.kind = kind
        self.items: deque[Formula] = deque()

    def take(self, other: "_Row") -> None:
        """Adds another row's items at the end, moving the shorter of the two."""
        if len(other.items) > len(self.items):
            other.items.extendleft(reversed(self.items))
            self.items = other.items
        else:
            self.items.extend(other.items)


def _bare(formula: Formula, positive: bool) -> Wanted:
    """Returns what is wanted without the negations in front of it."""
    while isinstance(formula, Not):
        formula, positive = formula.argument, not positive
    return formula, positive


def _parts(wanted: Wanted) -> tuple[Wanted, ...]:
    """What the normal form of something is made of, in order."""
    node, positive = wanted
    if isinstance(node, Implies):
        return _bare(node.left, not positive), _bare(node.right, positive)
    if isinstance(node, (Iff, Xor)):
        return tuple(_bare(side, p) for p in (True, False) for side in (node.left, node.right))
    if isinstance(node, Fraction):
        return (_bare(node.argument, True),)
    return tuple(_bare(part, positive) for part in node.parts if isinstance(part, Formula))
