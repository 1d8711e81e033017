"""How far past the horizon an episode must run so that a property, or a claim, is settled."""

from collections.abc import Iterator

from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim, MeanBound
from safegym.formula.nodes import (
    Always,
    Atom,
    Boolean,
    Eventually,
    Formula,
    Fraction,
    Historically,
    Nary,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Trigger,
    Until,
    WeakNext,
    WeakPrevious,
)
from safegym.formula.rewrite import to_steps
from safegym.scenario.spec import ScenarioSpec

_FUTURE = (Always, Eventually, Until, Release)
_PAST = (Once, Historically, Since, Trigger)


def tail_steps(step_formula: Formula, horizon: int) -> int:
    """Samples past `horizon` that a property in step form can read.

    Unbounded operators stop at the horizon; bounded windows may read past it. Each subformula is
    visited with the latest sample at which it is evaluated.
    """
    latest = 0
    pending: list[tuple[Formula, int]] = [(step_formula, 0)]
    seen: dict[Formula, int] = {}
    while pending:
        node, position = pending.pop()
        if seen.get(node, -1) >= position:
            continue
        seen[node] = position
        latest = max(latest, position)
        pending.extend((child, at) for child, at in _children(node, position, horizon))
    return max(0, latest - horizon)


def tail_of(spec: ScenarioSpec, claim: Claim) -> int:
    """Samples past the scenario's horizon that settle the claim on every episode.

    Raises UnsupportedError where there are some and the simulator cannot run on.
    """
    tail = 0
    for formula in _judged(claim):
        steps = to_steps(formula, spec.clock.dt, rounding=claim.rounding, claim=claim.id)
        tail = max(tail, tail_steps(steps, spec.horizon))
    if tail and not spec.can_run_tail:
        raise UnsupportedError(
            f"Claim {claim.id} reads {tail} samples past the horizon of {spec.name} "
            f"({float(tail * spec.clock.dt):g} s), and its simulator cannot run on; "
            "shorten the claim's windows or raise the horizon."
        )
    return tail


def _judged(claim: Claim) -> Iterator[Formula]:
    """What is evaluated on each episode: the property and the condition, or a mean's share."""
    if isinstance(claim.statement, MeanBound):
        yield Fraction(claim.statement.argument, ">=", claim.statement.threshold)
        return
    yield claim.property
    if claim.condition is not None:
        yield claim.condition


def _children(node: Formula, position: int, horizon: int) -> list[tuple[Formula, int]]:
    if isinstance(node, Atom | Boolean):
        return []
    if isinstance(node, Nary):
        return [(child, position) for child in node.arguments]
    if isinstance(node, Fraction):
        return [(node.argument, horizon)]
    if isinstance(node, Next | WeakNext):
        return [(node.argument, position + 1)]
    if isinstance(node, Previous | WeakPrevious):
        return [(node.argument, position)]
    if isinstance(node, _FUTURE):
        hi = node.window.hi
        last = max(horizon, position) if hi is None else position + int(hi)
        return [(child, last) for child in _arguments(node)]
    if isinstance(node, _PAST):
        return [(child, position) for child in _arguments(node)]
    raise TypeError(f"{type(node).__name__} is not a step-form node.")


def _arguments(node: Formula) -> tuple[Formula, ...]:
    if isinstance(node, Until | Release | Since | Trigger):
        return node.left, node.right
    if isinstance(node, Always | Eventually | Once | Historically):
        return (node.argument,)
    return ()
