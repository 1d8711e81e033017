"""What is asked of a model: the claim's step formula, and whether it is an invariant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from safegym.check.monitor.subject import property_of
from safegym.check.symbolic.affine import INFINITY, Interval
from safegym.check.symbolic.terms import refusal, term_refusal
from safegym.errors import UnsupportedError
from safegym.formula import nodes as n
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Formula
from safegym.formula.reading import look_ahead
from safegym.formula.rewrite import to_steps
from safegym.formula.terms import Apply, Constant, Signal, Term, signals_of
from safegym.rational import Exact, exact

Ends = tuple[Exact, Exact]
Initial = Mapping[str, Ends] | Mapping[Signal, Ends] | Formula
"""Lowest and highest value of every state at sample 0, or a formula over the states."""


@dataclass(frozen=True, slots=True)
class Asked:
    """steps: the property to prove, in samples. invariant: P, where it is `always(P)` and P reads
    one sample. given: a conditional claim's condition, in samples. tail: samples beyond the horizon
    that the property reads. inputs: whether it reads an action or a disturbance.
    """

    claim: Claim | Formula
    id: str
    digest: str
    about: str
    steps: Formula
    invariant: Formula | None
    given: Formula | None
    tail: int
    inputs: bool


def asked_of(subject: Claim | Formula, dynamics: Dynamics) -> Asked:
    """The question. Raises UnsupportedError where signals are missing or z3 cannot carry terms."""
    formula, rounding, name = property_of(subject)
    _check_signals(formula, dynamics)
    for term in (*dynamics.next, *dynamics.observation):
        reason = term_refusal(term)
        if reason is not None:
            raise UnsupportedError(
                f"{dynamics.name}: {reason}, so z3 cannot carry `{short(term)}`; use "
                "safegym.check.loop, which encloses it."
            )
    found = refusal(formula)
    if found is not None:
        raise UnsupportedError(f"`{found[1]}`: {found[0]}.")
    steps = to_steps(formula, dynamics.dt, rounding=rounding, claim=name)
    claim = subject if isinstance(subject, Claim) else None
    given = None if claim is None else claim.condition
    if given is not None:
        given = to_steps(given, dynamics.dt, rounding=rounding, claim=name)
    inputs = {signal.name for signal in (*dynamics.actions, *dynamics.disturbances)}
    return Asked(
        claim=subject,
        id=name,
        digest="" if claim is None else claim.digest,
        about="trace" if claim is None else claim.kind,
        steps=steps,
        invariant=_invariant(steps),
        given=None
        if given is None
        else to_steps(given, dynamics.dt, rounding=rounding, claim=name),
        tail=look_ahead(steps),
        inputs=any(signal.name in inputs for signal in signals_of(formula)),
    )


def _invariant(steps: Formula) -> Formula | None:
    """P of always(P), or of several of them at once; None for anything else."""
    parts = steps.arguments if isinstance(steps, n.And) else (steps,)
    found: list[Formula] = []
    for part in parts:
        if not isinstance(part, n.Always) or part.window.lo != 0 or part.window.hi is not None:
            return None
        if not is_state_formula(part.argument):
            return None
        found.append(part.argument)
    return n.all_of(found)


def is_state_formula(formula: Formula) -> bool:
    """Whether a formula reads one sample only."""
    plain = (n.Atom, n.Boolean, n.And, n.Or, n.Not, n.Implies, n.Iff, n.Xor)
    return all(isinstance(node, plain) for node in postorder(formula) if isinstance(node, Formula))


def _check_signals(formula: Formula, dynamics: Dynamics) -> None:
    known = {signal.name: signal for signal in dynamics.signals}
    for signal in signals_of(formula):
        if signal.name not in known:
            raise UnsupportedError(
                f"The claim reads {signal.name!r}, which {dynamics.name} does not have; it has "
                f"{', '.join(known)}."
            )
        if signal.shape:
            raise UnsupportedError(
                f"The claim reads {signal.name!r} as a vector; it is a scalar of {dynamics.name}."
            )


def region_of(initial: Initial, dynamics: Dynamics) -> tuple[dict[str, Interval], Formula | None]:
    """Each state's interval at sample 0 (exact), and the formula if one was given."""
    if isinstance(initial, Formula):
        _check_signals(initial, dynamics)
        states = {signal.name for signal in dynamics.states}
        if any(s.name not in states for s in signals_of(initial)) or refusal(initial):
            raise UnsupportedError("initial= is a formula over the states, without functions.")
        steps = to_steps(initial, dynamics.dt)
        if not is_state_formula(steps):
            raise UnsupportedError("initial= speaks of one sample; it has no temporal operator.")
        return box_of(steps, dynamics), steps
    if not _is_mapping(initial):
        raise UnsupportedError(
            f"initial= is the ends of every state, {_EXAMPLE}, or a formula over the states; found "
            f"{initial!r:.80}."
        )
    given = {s.name if isinstance(s, Signal) else str(s): ends for s, ends in initial.items()}
    wanted = [signal.name for signal in dynamics.states]
    _check_units([each for each in initial if isinstance(each, Signal)], dynamics)
    if set(given) != set(wanted):
        raise UnsupportedError(f"initial= gives {sorted(given)}; the states are {wanted}.")
    found: dict[str, Interval] = {}
    for name in wanted:
        low, high = _ends(name, given[name])
        if low > high:
            raise UnsupportedError(f"initial={{{name!r}: ...}} is empty: {low} > {high}.")
        found[name] = (low, high)
    return found, None


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


_EXAMPLE = 'for example {"x": (-0.5, 0.5)}'


def _check_units(keys: Sequence[Signal], dynamics: Dynamics) -> None:
    units = {signal.name: signal.unit for signal in dynamics.states}
    for signal in keys:
        if units.get(signal.name, signal.unit) != signal.unit:
            raise UnsupportedError(
                f"initial= names {signal.name} in {signal.unit}; {dynamics.name} has it in "
                f"{units[signal.name]}. Give its ends in {units[signal.name]}, or a formula."
            )


def _ends(name: str, given: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != 2:
        raise UnsupportedError(
            f"initial= needs the lowest and the highest value of {name}, {_EXAMPLE}; found "
            f"{given!r:.80}."
        )
    low, high = (_end(end) for end in given)
    return low, high


def _end(value: Any) -> Fraction:
    """A float is the binary number that it is; text is decimal, exactly."""
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != number or abs(number) == INFINITY:
            raise UnsupportedError(f"initial= needs finite numbers, found {number}.")
        return Fraction(number)
    return exact(value, what="An end of initial=")


def box_of(formula: Formula, dynamics: Dynamics) -> dict[str, Interval]:
    """What single atoms of a conjunction say of each signal: state formula to intervals."""
    units = {signal.name: signal.unit for signal in dynamics.signals}
    found: dict[str, Interval] = {}
    parts: Sequence[Formula] = formula.arguments if isinstance(formula, n.And) else (formula,)
    for atom in parts:
        if not isinstance(atom, n.Atom) or not isinstance(atom.right, Constant):
            continue
        signal, both = _alone(atom.left)
        if signal is None or units.get(signal.name) != signal.unit:
            continue
        limit, below = Fraction(atom.right.value), atom.comparison in ("<", "<=")
        low, high = found.get(signal.name, (-INFINITY, INFINITY))
        if below:
            found[signal.name] = (max(low, -limit) if both else low, min(high, limit))
        elif not both:
            found[signal.name] = (max(low, limit), high)
    return {name: span for name, span in found.items() if span[0] <= span[1]}


def _alone(term: Term) -> tuple[Signal | None, bool]:
    """The signal of `x` or `abs(x)`, and whether it is the second."""
    both = isinstance(term, Apply) and term.operation == "abs"
    inner = term.arguments[0] if isinstance(term, Apply) and both else term
    return (inner, both) if isinstance(inner, Signal) and not inner.shape else (None, False)
