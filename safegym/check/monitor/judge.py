"""The verdict on one trace: status in its own pass, robustness, witness."""

from safegym.check.monitor.explain import Path, Side, deciding, still_open, worst_sample
from safegym.check.monitor.frame import frame_of
from safegym.check.monitor.obligations import unmet
from safegym.check.monitor.plan import plan_of
from safegym.check.monitor.robustness import Run, arrays_of, run
from safegym.check.monitor.share import Share, share_margins, share_of, share_status
from safegym.check.monitor.subject import check_trace, property_of
from safegym.check.monitor.words import word_of
from safegym.formula.claim import Claim
from safegym.formula.nodes import Atom, Formula
from safegym.trace.model import Trace
from safegym.verdict import Robustness, Status, Verdict, Witness


def judge(subject: Formula | Claim, trace: Trace) -> Verdict:
    """Returns the verdict on one trace: of a claim, on its episode property.

    The status is strong-Kleene three-valued and exact; the robustness interval is in multiples of
    the atoms' scale, None (with a note) where margins do not compare. Raises TraceError for a
    missing, misshapen or non-finite signal, FormulaError for a bound off the trace's clock.
    """
    formula, rounding, claim_id = property_of(subject)
    check_trace(trace)
    plan = plan_of(formula, trace.clock.dt, rounding)
    frame = frame_of(len(trace.rewards), trace.end.kind, trace.horizon)
    arrays = arrays_of(plan, trace)
    found = run(plan, frame, arrays)
    judged = _Judgement(found, trace)
    if judged.status == "violated" and judged.path is not None and plan.share is None:
        judged.notes.extend(unmet(found, judged.path, formula, rounding, trace))
    return Verdict(
        claim_id=claim_id,
        status=judged.status,
        robustness=judged.robustness,
        witness=judged.witness,
        trace_digest=trace.digest,
        notes=tuple(judged.notes),
    )


def status_of(run: Run) -> Status:
    """Returns the three-valued status of the root at sample 0 (a formula, not a share)."""
    if run.truth.lower[-1].values[0]:
        return "satisfied"
    return "inconclusive" if run.truth.upper[-1].values[0] else "violated"


class _Judgement:
    """Status, robustness, witness and notes of one run."""

    def __init__(self, run: Run, trace: Trace) -> None:
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
        self.path = path = self._path()
        self.witness = None if path is None else self._witness(path)
        self.robustness = self._robustness()

    def _path(self) -> Path | None:
        bound = self.run.plan.share
        side: Side = "upper" if self.status == "violated" else "lower"
        if bound is not None:
            sample = worst_sample(self.run, side, least=bound[0] in (">", ">="))
            return deciding(self.run, side, sample)
        if self.status == "inconclusive":
            self._note_open(still_open(self.run))
            return None
        return deciding(self.run, side)

    def _note_open(self, path: Path) -> None:
        frame = self.run.frame
        where = f" (from sample {path.sample})" if path.sample <= frame.last else ""
        self.notes.append(
            f"Undecided: the episode ended ({self.trace.end.kind}) at sample {frame.last} while "
            f"`{word_of(self.run.plan, path.slots[-1])}`{where} was still open."
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

    def _witness(self, path: Path) -> Witness:
        plan, last = self.run.plan, self.run.frame.last
        texts = tuple(word_of(plan, index) for index in path.slots)
        slot = plan.slots[path.slots[-1]]
        step = min(path.sample, last)
        values: dict[str, float | tuple[float, ...]] = {}
        raw = float("inf") if path.ranked > 0 else float("-inf")
        if path.sample > last and self.run.frame.beyond == "false":
            self.notes.append(f"The episode failed at sample {last} while `{texts[-1]}` was due.")
        elif isinstance(slot.formula, Atom):
            raw = self._raw(slot.formula, step)
        if isinstance(slot.formula, Atom):
            values = self._values(slot.formula, step)
        return Witness(
            time=self.trace.clock.time(step),
            step=step,
            subformula=texts[-1],
            values=values,
            margin=raw,
            chain=texts,
        )

    def _raw(self, atom: Atom, step: int) -> float:
        sides = [self.run.readings.value(side) for side in (atom.left, atom.right)]
        left, right = (float(side[step] if side.ndim else side) for side in sides)
        return right - left if atom.comparison in ("<", "<=") else left - right

    def _values(self, atom: Atom, step: int) -> dict[str, float | tuple[float, ...]]:
        found: dict[str, float | tuple[float, ...]] = {}
        for signal in self.run.plan.reads[atom]:
            value = self.run.arrays[signal.name][step]
            found[signal.name] = tuple(map(float, value)) if signal.shape else float(value)
        return found
