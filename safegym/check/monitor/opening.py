"""From which sample on each slot may be undecided."""

from functools import lru_cache

from safegym.check.monitor.frame import Frame
from safegym.check.monitor.plan import PAST, Plan, Slot
from safegym.check.monitor.readings import Unseen, gaps_over
from safegym.formula.nodes import Atom

NEVER = 1 << 62
"""The index of a sample that no episode reaches."""


def opens_of(plan: Plan, frame: Frame, gaps: Unseen = ()) -> tuple[int, ...]:
    """Returns, for each slot, a sample before which its lower and upper values are the same.

    frame: of episodes that end alike; of others, the earliest T and E.
    """
    return _opens(plan, frame, gaps) if gaps else _without_gaps(plan, frame)


@lru_cache(maxsize=4096)
def _without_gaps(plan: Plan, frame: Frame) -> tuple[int, ...]:
    return _opens(plan, frame, ())


def _opens(plan: Plan, frame: Frame, gaps: Unseen) -> tuple[int, ...]:
    found: list[int] = []
    for slot in plan.slots:
        if isinstance(slot.formula, Atom):
            hidden = gaps_over(plan.reads[slot.formula], gaps)
            ends = frame.last + 1 if frame.beyond == "unknown" else NEVER
            found.append(min([ends, *(first for first, _ in hidden)]))
        else:
            found.append(_slot_opens(slot, frame, [found[i] for i in slot.operands]))
    return tuple(found)


def _slot_opens(slot: Slot, frame: Frame, operands: list[int]) -> int:
    first = min(operands, default=NEVER)
    if slot.unbounded_future:
        if frame.open or first <= frame.end:
            return 0
        late = frame.beyond == "unknown" or first < NEVER
        return max(frame.end - slot.lo + 1, 0) if late else NEVER
    if first == NEVER:
        return NEVER
    if slot.kind == "next":
        return max(first - 1, 0)
    if slot.kind in ("eventually", "until"):
        return max(first - (slot.hi or 0), 0)
    if slot.kind in PAST and slot.kind != "since":
        return first + slot.lo
    return first
