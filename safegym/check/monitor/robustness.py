"""Running a plan over one trace; robustness and truth at every sample of one, or of many."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.batch import batch_margins, batch_truth
from safegym.check.monitor.evaluate import Evaluation, evaluate
from safegym.check.monitor.everywhere import everywhere
from safegym.check.monitor.frame import Frame, Span, frame_of
from safegym.check.monitor.intake import taken
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.plan import Plan, argument_of, plan_of
from safegym.check.monitor.preparing import prepared
from safegym.check.monitor.readings import Floats, Readings, Unseen
from safegym.check.monitor.share import Share, share_from, share_margins, share_truth
from safegym.check.monitor.subject import check_trace, property_of
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.expression import short
from safegym.formula.nodes import Formula
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace
from safegym.verdict import Status


class Run(NamedTuple):
    """A plan over one episode: truth in its own pass, margins where they compare."""

    plan: Plan
    frame: Frame
    arrays: dict[str, Floats]
    readings: Readings
    truth: Evaluation
    margins: Evaluation | None


def arrays_of(plan: Plan, trace: Trace) -> dict[str, Floats]:
    """Returns what the plan reads, in its units. Raises TraceError, UnitError; see `intake`."""
    return taken(plan.signals, trace)


def run(
    plan: Plan,
    frame: Frame,
    arrays: dict[str, Floats],
    *,
    needed: int = 0,
    margins: bool = True,
    gaps: Unseen = (),
) -> Run:
    """Evaluates the plan so that its root is right at samples 0..needed.

    gaps: closed intervals of samples at which no signal is known, or those of each signal by name.
    """
    spans, samples = prepared(plan, frame, arrays, gaps, Span(0, needed))
    truth = evaluate(plan, frame, samples, spans, TRUTH)
    found = None
    if margins and not plan.refusal:
        found = evaluate(plan, frame, samples, spans, MARGIN)
    return Run(plan, frame, arrays, samples.readings, truth, found)


def status_of(run: Run) -> Status:
    """Returns the three-valued status of the root at sample 0 (a formula, not a share)."""
    if run.truth.lower[-1].values[0]:
        return "satisfied"
    return "inconclusive" if run.truth.upper[-1].values[0] else "violated"


def shortened(frame: Frame, last: int) -> Frame:
    """Returns the frame of the prefix 0..last taken as interrupted."""
    return frame_of(last, "interrupted", frame.horizon)


@naming_its_claim
def robustness(
    subject: Formula | Claim, trace: Trace | TraceBatch
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns (lo, hi), the robustness interval at every sample, each float64 (T+1,), read-only.

    Of a batch each (B, n), NaN past an episode's last sample. In multiples of the atoms' scale (or
    their common unit); lo == hi where the trace settles it. Of a claim, its episode property's. A
    fraction has one value, share - bound, at all samples. Raises UnsupportedError where margins do
    not compare, TraceError for a trace that does not fit.
    """
    plan = _plan(subject, trace)
    if plan.refusal and plan.share is None:
        raise UnsupportedError(f"No margins for `{short(plan.formula)}`: {plan.refusal}")
    if isinstance(trace, TraceBatch):
        return _frozen(*batch_margins(plan, trace))
    if plan.share is None:
        return _frozen(*_everywhere(plan, trace, MARGIN))
    low, high = share_margins(plan.share, _share(plan, trace))
    return _frozen(np.full(trace.steps + 1, low), np.full(trace.steps + 1, high))


@naming_its_claim
def satisfaction(
    subject: Formula | Claim, trace: Trace | TraceBatch
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns (must, may), the three-valued truth at every sample, each bool (T+1,), read-only.

    must: true however the unseen samples turn out; may: not yet false. Of a batch each (B, n),
    False past an episode's last sample. A fraction has one truth at all samples. Computed in its
    own pass, not from margins. Raises TraceError for a trace that does not fit.
    """
    plan = _plan(subject, trace)
    if isinstance(trace, TraceBatch):
        return _frozen(*batch_truth(plan, trace))
    if plan.share is None:
        return _frozen(*_everywhere(plan, trace, TRUTH))
    must, may = share_truth(plan.share, _share(plan, trace))
    return _frozen(np.full(trace.steps + 1, must), np.full(trace.steps + 1, may))


def _plan(subject: Formula | Claim, trace: Trace | TraceBatch) -> Plan:
    formula, rounding, _ = property_of(subject)
    if isinstance(trace, TraceBatch):
        return plan_of(formula, trace.dt, rounding)
    check_trace(trace)
    return plan_of(formula, trace.clock.dt, rounding)


def _everywhere(plan: Plan, trace: Trace, lattice: Lattice) -> tuple[Values, Values]:
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    return everywhere(plan, frame, arrays_of(plan, trace), trace.unseen, lattice)


def _share(plan: Plan, trace: Trace) -> Share:
    must, may, seen, frame = _counts(argument_of(plan), trace)
    return share_from(must, may, seen, frame.horizon, still_open=frame.open)


def share_counts(plan: Plan, trace: Trace) -> tuple[int, int, int]:
    """Returns (least, most, total): of `total` samples, on how many the plan's root holds.

    total is 0 where nobody knows how many there would have been.
    """
    must, may, seen, frame = _counts(plan, trace)
    if not frame.open:
        return must, may, seen
    if frame.horizon is None:
        return 0, 0, 0
    return must, may + frame.horizon + 1 - seen, frame.horizon + 1


def _counts(plan: Plan, trace: Trace) -> tuple[int, int, int, Frame]:
    low, high = _everywhere(plan, trace, TRUTH)
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    seen = frame.end + 1
    must, may = (int(np.count_nonzero(values[:seen])) for values in (low, high))
    return must, may, seen, frame


def _frozen(low: Values, high: Values) -> tuple[Values, Values]:
    low.flags.writeable = high.flags.writeable = False
    return low, high
