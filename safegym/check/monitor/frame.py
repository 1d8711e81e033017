"""Where an episode stands, and which samples each slot must cover."""

from functools import lru_cache
from typing import Literal, NamedTuple

from safegym.check.monitor.plan import FUTURE, PAST, Plan, Slot
from safegym.errors import TraceError, UnsupportedError
from safegym.formula.expression import short
from safegym.trace.model import EndKind

Beyond = Literal["held", "false", "unknown", "absent"]

_BEYOND: dict[EndKind, Beyond] = {
    "absorbed": "held",
    "failed": "false",
    "horizon": "unknown",
    "interrupted": "unknown",
    "cut": "absent",
}


def beyond_of(kind: EndKind) -> Beyond:
    """Returns what atoms are after the last sample of an episode that ends so."""
    return _BEYOND[kind]


MOST_UNSEEN = 20_000_000
"""Samples after the last one that are ever worked out (a past window may slide on over them)."""


class Frame(NamedTuple):
    """One episode's outline.

    last: T. end: E, where unbounded operators stop. horizon: H or None. beyond: what atoms are
    after the last sample. open: whether unbounded operators may still go on.
    """

    last: int
    end: int
    horizon: int | None
    beyond: Beyond
    open: bool


def frame_of(last: int, kind: EndKind, horizon: int | None) -> Frame:
    """Returns the frame of an episode with samples 0..last. Raises TraceError for a short one."""
    end = last if horizon is None else min(last, horizon)
    if kind == "horizon" and horizon is not None and last < horizon:
        raise TraceError(
            f"The trace ends as 'horizon' at sample {last}, before its declared horizon "
            f"{horizon}; an episode that stops early is 'interrupted', 'failed' or 'absorbed'."
        )
    unfinished = kind == "interrupted" and (horizon is None or last < horizon)
    return Frame(last, end, horizon, _BEYOND[kind], unfinished)


class Span(NamedTuple):
    """Samples first..last that a slot's values cover; after them the last value repeats."""

    first: int
    last: int


@lru_cache(maxsize=4096)
def spans_of(
    plan: Plan,
    frame: Frame,
    needed: int,
    first: int | None = None,
    carried: frozenset[int] = frozenset(),
) -> tuple[Span, ...]:
    """Returns each slot's span so that the root is right at first..needed.

    first: None for whole episodes (everything starts at sample 0), else the first sample at which
    the root is wanted. carried: unbounded future slots whose values after their span are known.
    """
    needs = _needs(plan, frame, needed, carried)
    backs = backs_of(plan)
    cap = 0 if frame.beyond == "held" else 1
    spans: list[Span] = []
    for slot, need, back in zip(plan.slots, needs, backs, strict=True):
        start = 0 if first is None else max(0, first - back)
        limit = frame.last if frame.beyond == "absent" else frame.last + slot.settle - 1 + cap
        span = Span(start, max(start, min(need, limit)))
        if span.last - max(start, frame.last) > MOST_UNSEEN:
            raise UnsupportedError(
                f"`{short(slot.formula)}` (windows in samples) is read {span.last - frame.last} "
                f"samples past the episode's last one; the monitor looks {MOST_UNSEEN} ahead at "
                "most. Shorten the window around this past operator."
            )
        spans.append(span)
    return tuple(spans)


def _needs(plan: Plan, frame: Frame, needed: int, carried: frozenset[int]) -> list[int]:
    """The last sample at which each slot is read."""
    needs = [0] * len(plan.slots)
    needs[-1] = frame.end if plan.share is not None else needed
    for index in range(len(plan.slots) - 1, -1, -1):
        slot = plan.slots[index]
        for position, operand in enumerate(slot.operands):
            path = slot.kind == "since" and position == 0
            need = needs[index] if path else _operand_need(slot, needs[index], frame)
            if index in carried:
                need = needs[index] + slot.lo
            needs[operand] = max(needs[operand], need)
    return needs


def _operand_need(slot: Slot, need: int, frame: Frame) -> int:
    if slot.unbounded_future:
        return max(frame.end, need + slot.lo) if frame.beyond == "held" else frame.end
    if slot.kind in FUTURE:
        return need + (slot.hi or 0)
    if slot.kind in PAST:
        return max(0, need - slot.lo)
    return need


@lru_cache(maxsize=4096)
def backs_of(plan: Plan) -> tuple[int, ...]:
    """Returns how many samples before the root's first one each slot must start (online)."""
    backs = [0] * len(plan.slots)
    for index in range(len(plan.slots) - 1, -1, -1):
        slot = plan.slots[index]
        reach = (slot.lo if slot.hi is None else slot.hi) if slot.kind in PAST else 0
        for operand in slot.operands:
            backs[operand] = max(backs[operand], backs[index] + reach)
    return tuple(backs)
