"""A plan's root at every sample of one trace.

A long trace is worked through in stretches of samples, so that everything but the result stays
small.
"""

from collections.abc import Mapping
from functools import lru_cache

from safegym.check.monitor.evaluate import evaluate
from safegym.check.monitor.frame import Frame, Span, backs_of
from safegym.check.monitor.lattice import Lattice, Values
from safegym.check.monitor.opening import opens_of
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.preparing import prepared
from safegym.check.monitor.readings import Floats, Unseen
from safegym.check.monitor.stretches import in_stretches
from safegym.check.monitor.strip import take

SMALLEST, LARGEST = 8192, 131_072
"""Values worked on at a time, so that they stay in the cache."""
BUFFERS = 3
"""Arrays as long as the trace that may be there at once."""


def part_size(plan: Plan, values: int) -> int:
    """Returns how many of so many values are worked on at a time.

    While a slot is evaluated about six arrays are there, and for each one that waits up to four;
    together they are to be smaller than the result.
    """
    return min(max(values // (6 + 4 * plan.room), SMALLEST), LARGEST)


def everywhere(
    plan: Plan, frame: Frame, arrays: Mapping[str, Floats], gaps: Unseen, lattice: Lattice
) -> tuple[Values, Values]:
    """Returns the root's lower and upper values at samples 0..T, (T+1,); one array if the same."""
    size = max(part_size(plan, frame.last + 1), 4 * (plan.slots[-1].ahead + max(backs_of(plan))))
    count = frame.last + 1
    if 2 * size < count and _buffers(plan, opens_of(plan, frame, gaps), frame.last) > BUFFERS:
        tiles = [Span(first, min(first + size, count) - 1) for first in range(0, count, size)]
        return in_stretches(plan, frame, arrays, gaps, lattice, tiles)
    spans, samples = prepared(plan, frame, arrays, gaps, Span(0, frame.last))
    found = evaluate(plan, frame, samples, spans, lattice, keep=False)
    low = take(found.lower[-1], 0, frame.last)
    shared = found.upper[-1] is found.lower[-1]
    return low, low if shared else take(found.upper[-1], 0, frame.last)


@lru_cache(maxsize=1024)
def _buffers(plan: Plan, opens: tuple[int, ...], last: int) -> int:
    """About how many arrays are there at once if the whole episode is evaluated.

    A slot has two where its lower and upper values differ. Operands that nothing else reads make
    room for the result.
    """
    sizes = [1 if first > last else 2 for first in opens]
    held = [0] * len(sizes)
    total = most = 0
    for index, slot in enumerate(plan.slots):
        dropped = plan.drops[index]
        if slot.kind not in ("meet", "join"):
            if slot.operands and slot.operands[-1] in dropped:
                total -= held[slot.operands[-1]]
                held[slot.operands[-1]] = 0
            held[index] = sizes[index]
            total += held[index]
            most = max(most, total)
        for reader in plan.folds[index]:
            grown = max(held[reader], sizes[index])
            total += grown - held[reader]
            held[reader] = grown
        most = max(most, total - (held[index] if plan.folds[index] else 0))
        for operand in dropped:
            total -= held[operand]
            held[operand] = 0
    return most
