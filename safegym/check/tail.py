"""How far past the horizon an episode must run so that a property is settled."""

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
