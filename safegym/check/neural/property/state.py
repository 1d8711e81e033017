"""What a proof of a policy can be about: a formula of one instant."""

from typing import cast

from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.formulas import Formula
from safegym.formula.interning import postorder
from safegym.formula.nodes import (
    Always,
    And,
    Atom,
    Boolean,
    Iff,
    Implies,
    Not,
    Or,
    Xor,
    all_of,
)
from safegym.formula.terms import UNBOUNDED

_STATELESS = (Atom, Boolean, Not, And, Or, Implies, Iff, Xor)
_WORKS = (
    "A proof of a policy is about every single observation of a region, so it takes a formula of "
    "one instant, or always(...) of one. "
)


def state_formula(subject: Formula | Claim) -> Formula:
    """The formula of one instant that a claim or formula states, `always` taken off.

    Raises UnsupportedError for a statement about many episodes, or a formula over time, with what
    would answer it.
    """
    if isinstance(subject, Claim):
        if subject.kind != "trace":
            raise UnsupportedError(
                f"Claim {subject.id} bounds something over many episodes (`{subject.statement}`"
                f"), which sampling answers: safegym.certify. {_WORKS}"
                f'For example Claim(id="{subject.id}", statement=always(obs[0] > 0)).'
            )
        subject = subject.formula
    bare = _without_always(subject)
    for part in postorder(bare):
        if isinstance(part, Formula) and not isinstance(part, _STATELESS):
            _refuse(part)
    return bare


def _without_always(formula: Formula) -> Formula:
    """always(a) and always(b) is always(a and b); nothing else lets go of its always."""
    if isinstance(formula, Always) and formula.window == UNBOUNDED:
        return _without_always(formula.argument)
    if isinstance(formula, And):
        return all_of(_without_always(part) for part in formula.arguments)
    return formula


def _refuse(part: Formula) -> None:
    inside = cast("Formula", part.parts[0]) if part.parts else part
    if isinstance(part, Always):
        bounded = part.window != UNBOUNDED
        why = "has a window" if bounded else "stands below another operator"
        hint = (
            f"write always({short(inside)}) without the window"
            if bounded
            else (
                "always(...) stands around the whole formula, or around the parts of a conjunction"
            )
        )
        raise UnsupportedError(f"`{short(part)}` {why}. {_WORKS}Here: {hint}.")
    raise UnsupportedError(
        f"`{short(part)}` speaks of other instants, and a policy alone has none: what comes next "
        f"is the plant's doing. {_WORKS}With declared dynamics, safegym.check.loop proves claims "
        "over time; against a simulator, safegym.certify estimates them by sampling."
    )
