"""Compiling a step formula into a flat plan: one slot for each distinct subformula."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, cast

from safegym.errors import UnsupportedError
from safegym.formula import nodes
from safegym.formula.claim import Rounding
from safegym.formula.interning import postorder
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
    argument. folds: for each slot, the conjunctions and disjunctions that take it in as soon as it
    is there. drops: for each slot, those that nothing reads any more once it is there. room: how
    many slots' values wait at once while the root is evaluated, shared ones aside.
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
    folds: tuple[tuple[int, ...], ...]
    drops: tuple[tuple[int, ...], ...]
    room: int


def plan_of(formula: Formula, dt: Fraction, rounding: Rounding = "refuse") -> Plan:
    """Returns the plan for a formula in seconds on a clock of `dt` seconds. Cached.

    Raises FormulaError for a bound off the grid.
    """
    return _plan_of(formula, dt.numerator, dt.denominator, rounding)


@lru_cache(maxsize=4096)
def _plan_of(formula: Formula, above: int, below: int, rounding: Rounding) -> Plan:
    """The clock as two whole numbers: they hash quickly, a fraction does not."""
    dt = Fraction(above, below)
    return compile_steps(to_steps(formula, dt, rounding=rounding), dt)


def compile_steps(formula: Formula, dt: Fraction) -> Plan:
    """Returns the plan of a step formula in core negation normal form."""
    share: tuple[Comparison, float] | None = None
    body = formula
    if isinstance(formula, nodes.Fraction):
        share = (formula.comparison, formula.bound)
        body = formula.argument
    room = _room_needed(body)
    slots = _slots(body, room)
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
        folds=_folds(slots),
        drops=_drops(slots),
        room=room[body],
    )


@lru_cache(maxsize=1024)
def argument_of(plan: Plan) -> Plan:
    """Returns the plan of what a share is a share of."""
    return replace(plan, share=None)


def _slots(root: Formula, room: dict[Formula, int]) -> tuple[Slot, ...]:
    """Distinct subformulas, operands first, without recursion.

    Of several operands the one that needs most room comes first (Sethi and Ullman 1970), so that
    the fewest values wait for the others.
    """
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
        stack.extend((child, False) for child in sorted(children, key=room.__getitem__))
    return tuple(order)


def _room_needed(root: Formula) -> dict[Formula, int]:
    """How many slots' values wait at once while each subformula is evaluated, shared ones aside."""
    room: dict[Formula, int] = {}
    for formula in postorder(root):
        if isinstance(formula, Formula):
            needs = sorted((room[child] for child in _children(formula)), reverse=True)
            waiting = [need + 1 for need in needs[1:]]
            room[formula] = max([*needs[:1], *waiting], default=1)
    return room


def _folds(slots: tuple[Slot, ...]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in slots]
    for reader, slot in enumerate(slots):
        if slot.kind in ("meet", "join"):
            for operand in slot.operands:
                found[operand].append(reader)
    return tuple(map(tuple, found))


def _drops(slots: tuple[Slot, ...]) -> tuple[tuple[int, ...], ...]:
    last = list(range(len(slots)))
    for reader, slot in enumerate(slots):
        if slot.kind not in ("meet", "join"):
            for operand in slot.operands:
                last[operand] = reader
    found: list[list[int]] = [[] for _ in slots]
    for index, reader in enumerate(last[:-1]):
        found[reader].append(index)
    return tuple(map(tuple, found))


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
