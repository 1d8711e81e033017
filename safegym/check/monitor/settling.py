"""The first sample at which a violation is certain."""

from dataclasses import dataclass

import numpy as np

from safegym.check.monitor.evaluate import evaluate
from safegym.check.monitor.frame import Frame, Span, frame_of
from safegym.check.monitor.lattice import MARGIN
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.plan import FUTURE, PAST, Kind, Plan, plan_of
from safegym.check.monitor.preparing import prepared
from safegym.check.monitor.readings import Floats, Unseen
from safegym.check.monitor.robustness import Run, arrays_of, run, shortened, status_of
from safegym.check.monitor.share import share_margins, share_of, share_status
from safegym.check.monitor.subject import check_trace, property_of
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Settling:
    """step: first sample k whose prefix 0..k, taken as interrupted, is violated.

    T where only the episode's own end violates. margin: the upper robustness there (<= 0, in
    multiples of the atoms' scale; -inf where the episode failed with a duty open), None where
    margins do not compare.
    """

    step: int
    margin: float | None


@naming_its_claim
def settling(subject: Formula | Claim, trace: Trace, first: float = 0) -> Settling | None:
    """Returns where the violation of the episode property settles, None if it is not violated.

    A violation never goes away as samples come, so the first sample is found by bisection over
    prefixes; one pass suffices where the root is `always` over formulas of the present.
    first: no violation is known to settle before this sample, but by the episode's end.
    """
    formula, rounding, _ = property_of(subject)
    check_trace(trace)
    plan = plan_of(formula, trace.clock.dt, rounding)
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    arrays, gaps = arrays_of(plan, trace), trace.unseen
    whole = run(plan, frame, arrays, margins=False, gaps=gaps)
    if not _violated(whole):
        return None
    step = _first_in_one_pass(whole)
    if step is None:
        step = _bisect(plan, frame, arrays, gaps, first)
    if step < frame.last:
        frame = shortened(frame, step)
    return Settling(step, _upper_margin(plan, frame, arrays, gaps))


def _violated(run: Run) -> bool:
    if run.plan.share is None:
        return status_of(run) == "violated"
    return share_status(run.plan.share, share_of(run)) == "violated"


def _upper_margin(
    plan: Plan, frame: Frame, arrays: dict[str, Floats], gaps: Unseen
) -> float | None:
    if plan.share is not None:
        share = share_of(run(plan, frame, arrays, margins=False, gaps=gaps))
        return share_margins(plan.share, share)[1]
    if plan.refusal:
        return None
    spans, samples = prepared(plan, frame, arrays, gaps, Span(0, 0))
    found = evaluate(plan, frame, samples, spans, MARGIN, keep=False)
    return float(found.upper[-1].values[0])


def _first_in_one_pass(whole: Run) -> int | None:
    """The first sample, where the root is a conjunction of `always` over the present.

    Unbounded ones may read the past too: they end at the last sample seen.
    """
    plan = whole.plan
    root = plan.slots[-1]
    if plan.share is not None:
        return None
    duties = root.operands if root.kind == "meet" else (len(plan.slots) - 1,)
    has_future, has_past = _contain(plan, FUTURE), _contain(plan, PAST)
    found: list[int] = []
    for index in duties:
        slot = plan.slots[index]
        if slot.kind != "eventually" or not slot.dual or has_future[slot.operands[0]]:
            return None
        if slot.hi is not None and has_past[slot.operands[0]]:
            return None  # previous(...) at a sample that the window holds is known one earlier
        first = slot.lo
        last = whole.frame.end if slot.hi is None else min(slot.hi, whole.frame.last)
        values = whole.truth.upper[slot.operands[0]].values[first : last + 1]
        broken = int(np.argmin(values)) if len(values) else 0
        if len(values) and not values[broken]:
            found.append(first + broken)
    return min(found, default=None)


def _contain(plan: Plan, kinds: tuple[Kind, ...]) -> list[bool]:
    """Whether an operator of these kinds is at or below each slot."""
    found: list[bool] = []
    for slot in plan.slots:
        found.append(slot.kind in kinds or any(found[operand] for operand in slot.operands))
    return found


def _bisect(plan: Plan, frame: Frame, arrays: dict[str, Floats], gaps: Unseen, first: float) -> int:
    """The least k >= first whose prefix is violated; T if none before it is."""
    low, high = int(min(first, frame.last)), frame.last
    while low < high:
        middle = (low + high) // 2
        prefix = shortened(frame, middle)
        if _violated(run(plan, prefix, arrays, margins=False, gaps=gaps)):
            high = middle
        else:
            low = middle + 1
    return low
