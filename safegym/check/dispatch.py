"""Choosing a backend, and asking a second one to refine what the first leaves open."""

from dataclasses import replace
from importlib import import_module
from typing import Literal, cast

from safegym.check.backend import Backend
from safegym.check.monitor import judge, support
from safegym.check.monitor.conditioned import condition_notes, counted
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.source import Source
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.trace.model import Trace
from safegym.verdict import Support, Verdict

BackendName = Literal["monitor", "z3"]
_SYMBOLIC = "safegym.check.symbolic.backend"


class MonitorBackend:
    """The trace monitor as a backend."""

    __slots__ = ()
    name = "monitor"

    def support(self, subject: Formula | Claim, /) -> Support:
        """Returns whether the monitor can judge this."""
        return support(subject)

    def check(self, subject: Formula | Claim, trace: Trace, /, *, exact: bool = False) -> Verdict:
        """Returns the monitor's verdict; `exact` is beyond it. Raises UnsupportedError."""
        if exact:
            raise UnsupportedError(
                "The monitor does not reason over unseen samples; use check(..., exact=True), "
                'which asks the "z3" backend where the monitor is inconclusive.'
            )
        return judge(subject, trace)


MONITOR = MonitorBackend()


def find(name: str) -> Backend:
    """Returns the backend called `name`: "monitor" or "z3". Raises UnsupportedError."""
    if name == "monitor":
        return MONITOR
    if name != "z3":
        raise UnsupportedError(f'There is no backend {name!r}; use "monitor" or "z3".')
    try:
        return cast(Backend, import_module(_SYMBOLIC).BACKEND)
    except ImportError as error:
        raise UnsupportedError(
            f'The "z3" backend cannot be loaded ({error}); pip install z3-solver, or use '
            'backend="monitor".'
        ) from error


@naming_its_claim
def check(
    subject: Formula | Claim,
    trace: Trace,
    backend: BackendName = "monitor",
    *,
    exact: bool = False,
) -> Verdict:
    """Returns the verdict on one trace, which it keeps, so that `verdict.explain()` says why.

    backend: who judges. exact: a verdict, or a condition, that is inconclusive is put to z3, over
    every value that the unseen samples could have; the answer only ever refines an inconclusive
    one. Raises UnsupportedError where a backend refuses the formula, TraceError where the trace
    does not fit.
    """
    chosen = _supported(backend, subject)
    verdict = replace(chosen.check(subject, trace), explainer=Source(subject, trace))
    if not exact or "inconclusive" not in (verdict.status, verdict.condition):
        return verdict
    return _refined(verdict, _supported("z3", subject).check(subject, trace, exact=True))


def _refined(verdict: Verdict, by: Verdict) -> Verdict:
    """The verdict with what z3 settled of its status and its condition, which were open."""
    status, condition = verdict.status, verdict.condition
    if status == "inconclusive":
        status = by.status
    if condition == "inconclusive" and by.condition is not None:
        condition = counted(by.condition, status)
    if (status, condition) == (verdict.status, verdict.condition):
        return verdict
    settled = status != verdict.status
    dropped = condition_notes(verdict.condition)
    kept = [note for note in verdict.notes if note not in dropped]
    if settled:
        kept = [note for note in kept if not note.startswith("Undecided")]
    what = "Decided" if settled else "Its condition was decided"
    notes = (
        *condition_notes(condition),
        *kept,
        f"{what} by z3 over all values of the unseen samples.",
    )
    still = () if settled and status == "satisfied" else verdict.obligations
    return replace(verdict, status=status, condition=condition, notes=notes, obligations=still)


def _supported(name: str, subject: Formula | Claim) -> Backend:
    chosen = find(name)
    answer = chosen.support(subject)
    if not answer.ok:
        where = f" (in `{answer.subformula}`)" if answer.subformula else ""
        raise UnsupportedError(f"Backend {name!r} refuses this: {answer.reason}{where}")
    return chosen
