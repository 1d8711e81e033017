"""What a plan reads of an episode for a stretch of wanted samples."""

from collections.abc import Mapping
from functools import lru_cache

from safegym.check.monitor.frame import Frame, Span, spans_of
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.readings import Floats, Readings, Unseen
from safegym.check.monitor.samples import Samples


def prepared(
    plan: Plan,
    frame: Frame,
    arrays: Mapping[str, Floats],
    gaps: Unseen,
    wanted: Span,
    carried: frozenset[int] = frozenset(),
) -> tuple[tuple[Span, ...], Samples]:
    """Returns the slots' spans, and readings over the samples that they read."""
    spans, first, last = _reach(plan, frame, wanted, carried)
    if first > 0 or last < frame.last:
        arrays = {name: values[first : last + 1] for name, values in arrays.items()}
    return spans, Samples(Readings(arrays, gaps, first), first, last, gaps=gaps)


@lru_cache(maxsize=4096)
def _reach(
    plan: Plan, frame: Frame, wanted: Span, carried: frozenset[int]
) -> tuple[tuple[Span, ...], int, int]:
    """The slots' spans, and the first and the last sample that they read."""
    spans = spans_of(plan, frame, wanted.last, wanted.first or None, carried)
    leaves = [span for slot, span in zip(plan.slots, spans, strict=True) if not slot.operands]
    last = min(max(span.last for span in leaves), frame.last)
    return spans, min(span.first for span in leaves), last
