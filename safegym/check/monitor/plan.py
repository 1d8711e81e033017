"""Compiling a step formula into a flat plan: one slot for each distinct subformula."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, cast

from safegym.errors import UnsupportedError
from safegym.formula import nodes
from safegym.formula.claim import Rounding
from safegym.formula.nodes import Atom, Boolean, Comparison, Formula
from safegym.formula.rewrite import look_ahead, margin_scale, scale_of, signals_of, to_steps
from safegym.formula.terms import Signal, Window

Kind = Literal[
    "constant", "atom", "meet", "join",
    "next", "previous", "weak_previous",
    "eventually", "until", "once", "since",
]  # fmt: skip
"""What a slot computes. Universal operators are existential ones in the dual lattice (`dual`);
next and weak next differ only past a cut, where `dual` tells them apart."""

_KINDS: dict[type[Formula], tuple[Kind, bool]] = {
    nodes.Boolean: ("constant", False),
    nodes.Atom: ("atom", False),
    nodes.And: ("meet", False),
    nodes.Or: ("join", False),
    nodes.Next: ("next", False),
    nodes.WeakNext: ("next", True),
    nodes.Previous: ("previous", False),
    nodes.WeakPrevious: ("previous", True),
    nodes.Eventually: ("eventually", False),
    nodes.Always: ("eventually", True),
    nodes.Until: ("until", False),
    nodes.Release: ("until", True),
    nodes.Once: ("once", False),
    nodes.Historically: ("once", True),
    nodes.Since: ("since", False),
    nodes.Trigger: ("since", True),
}
FUTURE: tuple[Kind, ...] = ("next", "eventually", "until")
PAST: tuple[Kind, ...] = ("previous", "once", "since")


@dataclass(frozen=True, slots=True)
class Slot:
    """One distinct subformula.

    operands: slots it reads, all before it. lo, hi: its window in samples (hi None: unbounded).
    ahead: samples past k that its value at k may read through bounded windows. settle: samples
    after the last one from which on its value no longer changes.
    """

    formula: Formula
    kind: Kind
    dual: bool
    operands: tuple[int, ...] = ()
    lo: int = 0
    hi: int | None = 0
    ahead: int = 0
    settle: int = 1

    @property
    def unbounded_future(self) -> bool:
        """Whether the window ends with the episode."""
        return self.hi is None and self.kind in FUTURE


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A compiled episode property.

    formula: the step formula. slots: topological order, the root last. scales: each atom's scale,
    empty with `refusal` set where margins are refused. reads: each atom's signals. share:
    (comparison, bound) where the root is a fraction of samples, of which the slots hold the
    argument.
    """

    formula: Formula
    dt: Fraction
    slots: tuple[Slot, ...]
    signals: tuple[Signal, ...]
    scales: dict[Atom, float]
    reads: dict[Atom, tuple[Signal, ...]]
    refusal: str
    share: tuple[Comparison, float] | None
    look_ahead: int


@lru_cache(maxsize=4096)
def plan_of(formula: Formula, dt: Fraction, rounding: Rounding = "refuse") -> Plan:
    """Returns the plan for a formula in seconds on a clock of `dt` seconds. Cached.

    Raises FormulaError for a bound off the grid.
    """
    return compile_steps(to_steps(formula, dt, rounding=rounding), dt)


def compile_steps(formula: Formula, dt: Fraction) -> Plan:
    """Returns the plan of a step formula in core negation normal form."""
    share: tuple[Comparison, float] | None = None
    body = formula
    if isinstance(formula, nodes.Fraction):
        share = (formula.comparison, formula.bound)
        body = formula.argument
    slots = _slots(body)
    scale = margin_scale(body)
    atoms = [cast(Atom, slot.formula) for slot in slots if slot.kind == "atom"]
    return Plan(
        formula=formula,
        dt=dt,
        slots=slots,
        signals=signals_of(body),
        scales={atom: scale_of(atom) or 1.0 for atom in atoms} if scale.ok else {},
        reads={atom: signals_of(atom) for atom in atoms},
        refusal=scale.reason,
        share=share,
        look_ahead=look_ahead(formula),
    )


def _slots(root: Formula) -> tuple[Slot, ...]:
    """Distinct subformulas, operands first, without recursion."""
    order: list[Slot] = []
    place: dict[Formula, int] = {}
    stack: list[tuple[Formula, bool]] = [(root, False)]
    while stack:
        formula, ready = stack.pop()
        if formula in place:
            continue
        children = _children(formula)
        if ready:
            place[formula] = len(order)
            order.append(_slot(formula, tuple(place[child] for child in children), order))
            continue
        stack.append((formula, True))
        stack.extend((child, False) for child in reversed(children))
    return tuple(order)


def _children(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, nodes.Nary):
        return formula.arguments
    if isinstance(formula, nodes.Unary | nodes.WindowedUnary):
        return (formula.argument,)
    if isinstance(formula, nodes.WindowedBinary):
        return (formula.left, formula.right)
    if isinstance(formula, Atom | Boolean):
        return ()
    raise UnsupportedError(f"The monitor has no rule for {type(formula).__name__}: {formula}")


def _slot(formula: Formula, operands: tuple[int, ...], order: list[Slot]) -> Slot:
    if type(formula) not in _KINDS:
        raise UnsupportedError(f"The monitor has no rule for {type(formula).__name__}: {formula}")
    kind, dual = _KINDS[type(formula)]
    lo, hi = _bounds(formula)
    ahead = max((order[i].ahead for i in operands), default=0)
    settle = max((order[i].settle for i in operands), default=1)
    if kind in FUTURE:
        ahead += lo if hi is None else hi
    elif kind in PAST:
        settle += lo if hi is None else hi
    return Slot(formula, kind, dual, operands, lo, hi, ahead, settle)


def _bounds(formula: Formula) -> tuple[int, int | None]:
    if isinstance(formula, nodes.WindowedUnary | nodes.WindowedBinary):
        window: Window = formula.window
        return int(window.lo), None if window.hi is None else int(window.hi)
    if isinstance(formula, nodes.Unary):
        return 1, 1
    return 0, 0
