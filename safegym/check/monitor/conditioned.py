"""Whether the condition of `prob(A, given=B)` held on one trace, so that the episode counts.

Counted are the episodes that break g (`B implies A`, or `B implies not A`), and those that keep it
while B holds. Where time bounds are rounded conservatively these ask for different roundings: g is
strengthened, so that B is weakened inside it, and an episode that breaks g always counts; one that
keeps g counts only where B, strengthened, holds. More failures and fewer safe episodes only raise
the share of failures, so nothing is shown that would not be shown without rounding. B weakened, or
strengthened, in both places would not do: the one adds safe episodes, the other loses failures.

An episode that ended by failing counts too where it breaks g: a window of B past its end is a duty
that was open, and failing discharges neither B nor its opposite.
"""

from safegym.check.monitor.frame import frame_of
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.robustness import arrays_of, run, status_of
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Status

SKIPPED = "Vacuous: the condition never held; this episode is skipped in the count."
OPEN = "It is open whether the condition held; if it did not, this episode does not count."


def condition_of(subject: Formula | Claim, trace: Trace, status: Status) -> Status | None:
    """Returns the status of a conditional claim's condition on the trace, None without one.

    status: of the claim's episode property on the same trace.
    """
    given = subject.condition if isinstance(subject, Claim) else None
    if given is None or not isinstance(subject, Claim):
        return None
    plan = plan_of(given, trace.clock.dt, subject.rounding)
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    found = run(plan, frame, arrays_of(plan, trace), margins=False, gaps=trace.unseen)
    return counted(status_of(found), status)


def counted(condition: Status, status: Status) -> Status:
    """Returns whether an episode counts, from the condition's own status and the property's.

    They differ only under conservative rounding, where a property that is broken, or may be, says
    of the weakened condition that it held, or may have; and after a failure.
    """
    if status == "violated":
        return "satisfied"
    return "inconclusive" if status == "inconclusive" and condition == "violated" else condition


def condition_notes(condition: Status | None) -> tuple[str, ...]:
    """Returns what a verdict says of its condition."""
    if condition == "violated":
        return (SKIPPED,)
    return (OPEN,) if condition == "inconclusive" else ()
