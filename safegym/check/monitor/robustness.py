"""Running a plan over one trace."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.evaluate import Evaluation, Samples, evaluate
from safegym.check.monitor.frame import Frame, Span, frame_of, spans_of
from safegym.check.monitor.lattice import MARGIN, TRUTH
from safegym.check.monitor.plan import Plan, plan_of
from safegym.check.monitor.readings import Floats, Readings, read, refuse_other_units
from safegym.check.monitor.share import share_margins, share_of
from safegym.check.monitor.strip import take
from safegym.check.monitor.subject import check_trace, property_of
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Run:
    """A plan over one episode: truth in its own pass, margins where they compare."""

    plan: Plan
    frame: Frame
    arrays: dict[str, Floats]
    readings: Readings
    truth: Evaluation
    margins: Evaluation | None


def arrays_of(plan: Plan, trace: Trace) -> dict[str, Floats]:
    """Returns the signals that the plan reads. Raises TraceError, UnitError; see `readings`."""
    refuse_other_units(plan.signals, trace.units)
    return read(plan.signals, trace.signals, len(trace.rewards) + 1)


def run(
    plan: Plan,
    frame: Frame,
    arrays: dict[str, Floats],
    *,
    needed: int = 0,
    margins: bool = True,
) -> Run:
    """Evaluates the plan so that its root is right at samples 0..needed."""
    spans, samples = _prepared(plan, frame, arrays, needed)
    truth = evaluate(plan, frame, samples, spans, TRUTH)
    found = None
    if margins and not plan.refusal:
        found = evaluate(plan, frame, samples, spans, MARGIN)
    return Run(plan, frame, arrays, samples.readings, truth, found)


def _prepared(
    plan: Plan, frame: Frame, arrays: dict[str, Floats], needed: int
) -> tuple[tuple[Span, ...], Samples]:
    """Spans of the slots, and readings over the samples that they read."""
    spans = spans_of(plan, frame, needed)
    last = max(
        min(span.last, frame.last)
        for slot, span in zip(plan.slots, spans, strict=True)
        if slot.kind in ("atom", "constant")
    )
    readings = Readings({name: array[: last + 1] for name, array in arrays.items()})
    return spans, Samples(readings, 0, last)


def shortened(frame: Frame, last: int) -> Frame:
    """Returns the frame of the prefix 0..last taken as interrupted."""
    return frame_of(last, "interrupted", frame.horizon)


def robustness(
    subject: Formula | Claim, trace: Trace
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns (lo, hi), the robustness interval at every sample, each float64 (T+1,), read-only.

    In multiples of the atoms' scale (or their common unit); lo == hi where the trace settles it.
    Of a claim, its episode property's. A fraction has one value, share - bound, at all samples.
    Raises UnsupportedError where margins do not compare, TraceError for a trace that does not fit.
    """
    formula, rounding, _ = property_of(subject)
    check_trace(trace)
    plan = plan_of(formula, trace.clock.dt, rounding)
    last = len(trace.rewards)
    frame = frame_of(last, trace.end.kind, trace.horizon)
    arrays = arrays_of(plan, trace)
    if plan.share is not None:
        found = share_margins(plan.share, share_of(run(plan, frame, arrays, margins=False)))
        low, high = (np.full(last + 1, value) for value in found)
    else:
        if plan.refusal:
            raise UnsupportedError(f"No margins for `{short(formula)}`: {plan.refusal}")
        spans, samples = _prepared(plan, frame, arrays, last)
        margins = evaluate(plan, frame, samples, spans, MARGIN)
        low = take(margins.lower[-1], 0, last)
        shared = margins.upper[-1] is margins.lower[-1]
        high = low if shared else take(margins.upper[-1], 0, last)
    low.flags.writeable = high.flags.writeable = False
    return low, high
