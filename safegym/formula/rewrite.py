"""Rewriting: negation normal form, and from seconds to samples. Every pass returns a new formula.

All passes walk the distinct subformulas once, without recursion.
"""

from collections.abc import Callable
from fractions import Fraction as Rational
from typing import Literal

from safegym.errors import FormulaError
from safegym.formula.expression import short
from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import (
    OPPOSITE,
    Always,
    And,
    Atom,
    Binary,
    Boolean,
    Eventually,
    Formula,
    Fraction,
    Historically,
    Iff,
    Implies,
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
    all_of,
    any_of,
)
from safegym.formula.reading import MarginScale, atoms_of, look_ahead, margin_scale, scale_of
from safegym.formula.terms import signals_of
from safegym.formula.windows import Window
from safegym.rational import Exact, exact, rational_text

__all__ = [
    "MarginScale",
    "atoms_of",
    "implications",
    "look_ahead",
    "margin_scale",
    "negate",
    "nnf",
    "scale_of",
    "signals_of",
    "to_steps",
]

Rounding = Literal["refuse", "conservative"]
_Change = Callable[[Formula, Window], tuple[Window, ...]]
Pair = tuple[Formula, Formula]  # a formula in negation normal form, and its negation

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
# Windows of these must be met at every sample, so they grow outward when rounded.
_FOR_ALL = (Always, Historically, Release, Trigger)


def nnf(formula: Formula) -> Formula:
    """Returns the negation normal form: no Not, Implies, Iff or Xor; negated atoms turned around.

    A turned atom keeps its strictness: not (x < c) is x >= c.
    """
    return _pair(formula)[0]


def negate(formula: Formula) -> Formula:
    """Returns the negation normal form of the formula's negation."""
    return _pair(formula)[1]


def _pair(formula: Formula) -> Pair:
    return _pairs(formula)[formula]


def _pairs(formula: Formula) -> dict[Interned, Pair]:
    done: dict[Interned, Pair] = {}
    for node in postorder(formula):
        if isinstance(node, Formula):
            done[node] = _rule(node, done)
    return done


def _rule(node: Formula, done: dict[Interned, Pair]) -> Pair:
    if isinstance(node, Atom):
        return node, Atom(node.left, OPPOSITE[node.comparison], node.right, node.scale)
    if isinstance(node, Boolean):
        return node, Boolean(not node.value)
    if isinstance(node, Fraction):
        argument = done[node.argument][0]
        turned = Fraction(argument, OPPOSITE[node.comparison], node.bound)
        return Fraction(argument, node.comparison, node.bound), turned
    if isinstance(node, (And, Or)):
        held = [done[argument][0] for argument in node.arguments]
        failed = [done[argument][1] for argument in node.arguments]
        if isinstance(node, And):
            return all_of(held), any_of(failed)
        return any_of(held), all_of(failed)
    return _operator_rule(node, done)


def _operator_rule(node: Formula, done: dict[Interned, Pair]) -> Pair:
    if isinstance(node, Not):
        held, failed = done[node.argument]
        return failed, held
    if isinstance(node, Unary):
        held, failed = done[node.argument]
        return type(node)(held), _DUAL_UNARY[type(node)](failed)
    if isinstance(node, WindowedUnary):
        held, failed = done[node.argument]
        window = node.window
        return type(node)(held, window), _DUAL_WINDOWED[type(node)](failed, window)
    if isinstance(node, WindowedBinary):
        left, right, window = done[node.left], done[node.right], node.window
        dual = _DUAL_BINARY[type(node)]
        return type(node)(left[0], right[0], window), dual(left[1], right[1], window)
    if isinstance(node, Binary):
        return _connective_rule(node, done[node.left], done[node.right])
    raise FormulaError(f"{type(node).__name__} has no negation normal form.")


def _connective_rule(node: Binary, left: Pair, right: Pair) -> Pair:
    if isinstance(node, Implies):
        return any_of(left[1], right[0]), all_of(left[0], right[1])
    same = any_of(all_of(left[0], right[0]), all_of(left[1], right[1]))
    different = any_of(all_of(left[0], right[1]), all_of(left[1], right[0]))
    return (same, different) if isinstance(node, Iff) else (different, same)


def to_steps(
    formula: Formula, dt: Exact, *, rounding: Rounding = "refuse", claim: str = ""
) -> Formula:
    """Returns the formula in negation normal form, with windows in whole samples of dt seconds.

    dt: exact seconds per sample. rounding: "refuse" raises FormulaError for a bound off the grid,
    naming the nearest that work (and `claim`, its id, if given); "conservative" strengthens:
    always, release, historically and trigger windows grow outward, eventually, until, once and
    since windows shrink inward, an emptied one raises, and `fraction` and `next` are refused.
    """
    step = exact(dt, what="dt")
    if step <= 0:
        raise FormulaError(f"dt must be > 0 seconds, found {rational_text(step)}.")
    if rounding not in ("refuse", "conservative"):
        raise FormulaError(f'rounding must be "refuse" or "conservative", found {rounding!r:.30}.')
    signals_of(formula)
    normal = nnf(formula)
    if rounding == "conservative":
        _check_roundable(formula, claim)
    grid = _Grid(step, rounding, f" (claim {claim})" if claim else "")
    return _map_windows(normal, grid.windows)[normal]


def implications(
    formula: Formula, dt: Exact, *, rounding: Rounding = "refuse"
) -> dict[Formula, Implies]:
    """Returns the implications as written, each by what `to_steps` makes of it inside `formula`.

    Only those that stand on their own there: not one that is negated, or part of a longer `or`.
    """
    pairs = _pairs(formula)
    steps = _map_windows(pairs[formula][0], _Grid(exact(dt, what="dt"), rounding, "").windows)
    return {
        steps[pairs[node][0]]: node
        for node in postorder(formula)
        if isinstance(node, Implies) and pairs[node][0] in steps
    }


def _map_windows(root: Formula, change: _Change) -> dict[Interned, Formula]:
    """Each formula at or below the root, with its windows changed; several windows all hold."""
    done: dict[Interned, Formula] = {}
    for node in postorder(root):
        if isinstance(node, Formula):
            done[node] = _with_windows(node, done, change)
    return done


def _with_windows(node: Formula, done: dict[Interned, Formula], change: _Change) -> Formula:
    if isinstance(node, WindowedUnary):
        return all_of(type(node)(done[node.argument], w) for w in change(node, node.window))
    if isinstance(node, WindowedBinary):
        left, right = done[node.left], done[node.right]
        return all_of(type(node)(left, right, w) for w in change(node, node.window))
    if isinstance(node, And):
        return all_of(done[argument] for argument in node.arguments)
    if isinstance(node, Or):
        return any_of(done[argument] for argument in node.arguments)
    if isinstance(node, Unary):
        return type(node)(done[node.argument])
    if isinstance(node, Fraction):
        return Fraction(done[node.argument], node.comparison, node.bound)
    return node


def _check_roundable(formula: Formula, claim: str) -> None:
    for node in postorder(formula):
        if isinstance(node, (Fraction, Next, WeakNext)):
            where = f" (claim {claim})" if claim else ""
            raise FormulaError(
                f"rounding='conservative' cannot strengthen `{short(node)}`{where}: "
                "fraction, mean and next mean other things at another clock. Use bounds on the "
                "grid and rounding='refuse'."
            )


class _Grid:
    """From windows in seconds to windows in samples."""

    def __init__(self, dt: Rational, rounding: Rounding, where: str) -> None:
        self.dt = dt
        self.conservative = rounding == "conservative"
        self.where = where

    def windows(self, node: Formula, window: Window) -> tuple[Window, ...]:
        """The window in samples.

        An unbounded always or release that may begin earlier than written must still hold over
        the samples as written: where none of those is left, the episode's end decides, which a
        sample added in front would hide.
        """
        found = self._samples(node, window)
        later = _ceil(window.lo / self.dt)
        if window.hi is None and isinstance(node, (Always, Release)) and later != found.lo:
            return found, Window(later, None)
        return (found,)

    def _samples(self, node: Formula, window: Window) -> Window:
        low = window.lo / self.dt
        high = None if window.hi is None else window.hi / self.dt
        on_grid = low.denominator == 1 and (high is None or high.denominator == 1)
        if not on_grid and not self.conservative:
            self._refuse(node, window)
        if isinstance(node, _FOR_ALL):
            return Window(_floor(low), None if high is None else _ceil(high))
        first, last = _ceil(low), None if high is None else _floor(high)
        if last is not None and last < first:
            raise FormulaError(
                f"No sample lies in the window {window!r:.60} of `{short(node)}`{self.where} at "
                f"dt = {rational_text(self.dt)} s, so rounding='conservative' leaves it empty; "
                "record at a smaller dt or widen the window."
            )
        return Window(first, last)

    def _refuse(self, node: Formula, window: Window) -> None:
        bound = window.lo if (window.lo / self.dt).denominator != 1 else window.hi
        if bound is None:
            return
        below, above = _floor(bound / self.dt) * self.dt, _ceil(bound / self.dt) * self.dt
        nearest = f"{rational_text(below)} s or {rational_text(above)} s"
        raise FormulaError(
            f"The bound {rational_text(bound)} s of `{short(node)}` is not a multiple of "
            f"dt = {rational_text(self.dt)} s{self.where}; nearest that work: {nearest}. Or record "
            f"at another dt, or pass rounding='conservative' to strengthen the claim."
        )


def _floor(value: Rational) -> int:
    return value.numerator // value.denominator


def _ceil(value: Rational) -> int:
    return -(-value.numerator // value.denominator)
