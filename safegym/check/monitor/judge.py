"""The verdict on one trace: status in its own pass, robustness, witness."""

from safegym.check.monitor.conditioned import condition_notes, condition_of
from safegym.check.monitor.explain import Path, Side, deciding, still_open, worst_sample
from safegym.check.monitor.frame import frame_of
from safegym.check.monitor.intake import conversion_notes
from safegym.check.monitor.naming import naming_its_claim
from safegym.check.monitor.obligations import Duty, duties, note_of, obligation_of
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.robustness import Run, arrays_of, run, status_of
from safegym.check.monitor.share import Share, share_margins, share_of, share_status
from safegym.check.monitor.source import Source
from safegym.check.monitor.subject import check_trace, property_of
from safegym.check.monitor.witness import ended_by_failure, witness_of
from safegym.check.monitor.words import word_of
from safegym.formula.claim import Claim
from safegym.formula.nodes import Atom, Formula
from safegym.formula.terms import signals_of
from safegym.trace.model import Trace
from safegym.trace.resampling import resampling_notes
from safegym.verdict import Robustness, Status, Verdict, Witness


def judge(subject: Formula | Claim, trace: Trace) -> Verdict:
    """Returns the verdict on one trace: of a claim, on its episode property.

    Of `prob(A, given=B)`, `condition` says whether B held, so whether the episode counts.
    The status is strong-Kleene three-valued and exact; the robustness interval is in multiples of
    the atoms' scale, None (with a note) where margins do not compare. The trace is not kept:
    `verdict.explain(trace)` takes it again. Raises TraceError for a missing, misshapen or
    non-finite signal, FormulaError for a bound off the trace's clock.
    """
    return verdict_of(run_of(subject, trace), subject, trace)


@naming_its_claim
def run_of(subject: Formula | Claim, trace: Trace) -> Run:
    """Returns the run of the subject's episode property over one trace; see `judge`."""
    formula, rounding, _ = property_of(subject)
    check_trace(trace)
    plan = plan_of(formula, trace.clock.dt, rounding)
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    return run(plan, frame, arrays_of(plan, trace), gaps=trace.unseen)


def verdict_of(found: Run, subject: Formula | Claim, trace: Trace) -> Verdict:
    """Returns the verdict that a run over this trace gives, in one walk down its strips."""
    judged = _Judgement(found, subject, trace)
    condition = condition_of(subject, trace, judged.status)
    logs = resampling_notes((each.name for each in found.plan.signals), trace.resampling)
    return Verdict(
        claim_id=judged.claim_id,
        status=judged.status,
        robustness=judged.robustness,
        witness=judged.witness,
        trace_digest=trace.digest,
        notes=(
            *condition_notes(condition),
            *conversion_notes(found.plan.signals, trace.units),
            *logs,
            *judged.notes,
        ),
        obligations=tuple(obligation_of(found, each, trace.clock) for each in judged.duties),
        condition=condition,
        explainer=Source(subject),
    )


def outcome_of(run: Run) -> Status:
    """Returns the three-valued status of a run, of a share too."""
    bound = run.plan.share
    return status_of(run) if bound is None else share_status(bound, share_of(run))


def path_of(run: Run, status: Status) -> Path:
    """Returns the path that decides a run of this status; of an undecided one, what is open.

    Of a share, the path of the sample that counts most against it, or most for it.
    """
    bound = run.plan.share
    side: Side = "upper" if status == "violated" else "lower"
    if bound is not None:
        return deciding(run, side, worst_sample(run, side, least=bound[0] in (">", ">=")))
    return still_open(run) if status == "inconclusive" else deciding(run, side)


class _Judgement:
    """Status, robustness, witness, unmet duties and notes of one run."""

    def __init__(self, run: Run, subject: Formula | Claim, trace: Trace) -> None:
        self.run = run
        self.trace = trace
        self.notes: list[str] = []
        self.share: Share | None = None
        self.status: Status
        if run.plan.share is None:
            self.status = status_of(run)
        else:
            self.share = share_of(run)
            self.status = share_status(run.plan.share, self.share)
        path = path_of(run, self.status)
        self.witness = self._witness(path)
        self.robustness = self._robustness()
        formula, rounding, self.claim_id = property_of(subject)
        self.duties: tuple[Duty, ...] = ()
        if self.share is None and self.status != "satisfied":
            self.duties = duties(run, path, formula, rounding, trace.unseen)
        if self.status == "violated":
            self.notes.extend(note_of(duty, trace.clock) for duty in self.duties)

    def _witness(self, path: Path) -> Witness | None:
        if self.share is None and self.status == "inconclusive":
            self.notes.append(self._open(path))
            return None
        found = witness_of(self.run, path, self.trace.clock)
        if ended_by_failure(self.run, path):
            last = self.run.frame.last
            self.notes.append(
                f"The episode failed at sample {last} while `{found.subformula}` was due."
            )
        return found

    def _open(self, path: Path) -> str:
        slot = self.run.plan.slots[path.slots[-1]]
        last, text = self.run.frame.last, word_of(self.run.plan, path.slots[-1])
        atom = isinstance(slot.formula, Atom)
        names = [each.name for each in signals_of(slot.formula)] if atom else []
        for first, end in self.trace.gaps_of(names):
            if first <= path.sample <= end:
                return (
                    f"Undecided: nothing is known of samples {first} to {end}, "
                    f"which `{text}` reads."
                )
        where = f" (from sample {path.sample})" if path.sample <= last else ""
        return (
            f"Undecided: the episode ended ({self.trace.end.kind}) at sample {last} while "
            f"`{text}`{where} was still open."
        )

    def _robustness(self) -> Robustness | None:
        time = None if self.witness is None else self.witness.time
        if self.share is not None and self.run.plan.share is not None:
            low, high = share_margins(self.run.plan.share, self.share)
            self.notes.append(
                f"Share of samples where it holds: {self.share.lo:.6g}"
                + ("." if self.share.lo == self.share.hi else f" to {self.share.hi:.6g}.")
            )
        elif self.run.margins is None:
            self.notes.append(f"No margin: {self.run.plan.refusal}")
            return None
        else:
            low = float(self.run.margins.lower[-1].values[0])
            high = float(self.run.margins.upper[-1].values[0])
        if (low if self.status == "satisfied" else high) == 0.0 and self.status != "inconclusive":
            at = "" if self.witness is None else f" at sample {self.witness.step}"
            self.notes.append(f"The limit is touched exactly (margin 0){at}.")
        return Robustness(low, high, time)
