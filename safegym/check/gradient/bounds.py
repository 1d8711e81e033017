"""How far a smooth margin may be from the exact one, before any values are known."""

import math
from functools import lru_cache

from safegym.check.gradient.operators import clipped
from safegym.check.monitor.frame import Frame, Span
from safegym.check.monitor.plan import Plan, Slot


@lru_cache(maxsize=4096)
def bound_of(plan: Plan, frame: Frame, spans: tuple[Span, ...]) -> float:
    """Returns the bound in multiples of the temperature.

    A meet or join of m operands adds log m; a window of n samples log n; an until, release, since
    or trigger log n for the samples where its right side is read, and log of all samples from the
    present to the far end of its window for its left side. Along a path these add up; the longest
    path counts.
    """
    found: list[float] = []
    for slot, span in zip(plan.slots, spans, strict=True):
        own = _own(slot, span, [spans[i] for i in slot.operands], frame)
        found.append(own + max((found[i] for i in slot.operands), default=0.0))
    return found[-1]


def _own(slot: Slot, span: Span, operands: list[Span], frame: Frame) -> float:
    if slot.kind in ("meet", "join"):
        return math.log(len(slot.operands))
    if slot.kind in ("eventually", "until"):
        return _future(slot, span, operands, frame)
    if slot.kind in ("once", "since"):
        return _past(slot, span)
    return 0.0


def _future(slot: Slot, span: Span, operands: list[Span], frame: Frame) -> float:
    lasting = max(operand.last for operand in operands)
    more = 1 if slot.kind == "until" else 0
    if slot.hi is None:
        lo, joined = slot.lo, max(1, frame.end - slot.lo - span.first + 1 + more)
    else:
        reach = max(lasting - span.first + more, 0)
        lo, hi = clipped(slot.lo, slot.hi, reach, frame.beyond == "absent")
        joined = hi - lo + 1
    return _logs(slot, lo, joined)


def _past(slot: Slot, span: Span) -> float:
    hi = span.last if slot.hi is None else min(slot.hi, span.last)
    return _logs(slot, slot.lo, max(1, hi - slot.lo + 1))


def _logs(slot: Slot, lo: int, joined: int) -> float:
    if slot.kind in ("until", "since"):
        return math.log(joined) + math.log(lo + joined)
    return math.log(joined)
