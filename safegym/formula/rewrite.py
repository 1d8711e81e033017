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
    Always,
    And,
    Formula,
    Fraction,
    Historically,
    Implies,
    Next,
    Or,
    Release,
    Trigger,
    Unary,
    WeakNext,
    WindowedBinary,
    WindowedUnary,
    all_of,
    any_of,
)
from safegym.formula.normal import NormalForm, negate, nnf
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

# Windows of these must be met at every sample, so they grow outward when rounded.
_FOR_ALL = (Always, Historically, Release, Trigger)


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
    normal = NormalForm(formula)
    steps = _map_windows(normal.root, _Grid(exact(dt, what="dt"), rounding, "").windows)
    written = (node for node in postorder(formula) if isinstance(node, Implies))
    found = ((normal.found(node), node) for node in written)
    return {steps[form]: node for form, node in found if form in steps}


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
