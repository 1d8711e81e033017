"""What one episode says of one claim: a verdict with its condition, or a measured share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.check.monitor import judge, measure
from safegym.check.statistics.outcomes import Outcome, outcome_of
from safegym.formula.claim import Claim
from safegym.trace.model import Trace
from safegym.verdict import Measured, Status, Verdict

Finding = Verdict | Measured


@dataclass(frozen=True, slots=True)
class Reading:
    """What the statistics take of one episode.

    status, condition: of the episode property, and of a conditional claim's condition. share: a
    mean claim's [lo, hi]; its status then says whether the episode settles it.
    """

    status: Status
    condition: Status | None = None
    share: tuple[float, float] | None = None

    @property
    def outcome(self) -> Outcome:
        """How the episode enters the counts of a probability."""
        return outcome_of(self.status, self.condition)

    @property
    def violated(self) -> bool:
        """Whether the episode itself breaks the claim, which no episode does to a mean."""
        return self.status == "violated"

    @classmethod
    def of(cls, finding: Finding) -> "Reading":
        """What the statistics take of a verdict or a measurement."""
        if isinstance(finding, Verdict):
            return cls(finding.status, finding.condition)
        settled = math.nextafter(finding.lo, math.inf) >= finding.hi
        return cls("satisfied" if settled else "inconclusive", None, (finding.lo, finding.hi))


def find(claim: Claim, trace: Trace) -> Finding:
    """The verdict of a claim on a trace, or for a claim about a mean what the trace measures."""
    return measure(claim, trace) if claim.kind == "mean" else judge(claim, trace)


def as_reading(seen: "Reading | Status") -> Reading:
    """A reading; a bare status is that of a claim without a condition."""
    return Reading(seen) if isinstance(seen, str) else seen


def number(value: float) -> float | str:
    """A number as records carry it: finite, or the strings "inf" and "-inf"."""
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value + 0.0


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """What a verdict record keeps of one verdict; a condition only where the claim has one."""
    robustness = verdict.robustness
    data: dict[str, Any] = {
        "status": verdict.status,
        "lo": None if robustness is None else number(robustness.lo),
        "hi": None if robustness is None else number(robustness.hi),
    }
    return data if verdict.condition is None else {**data, "condition": verdict.condition}


def finding_json(finding: Finding) -> Mapping[str, Any]:
    """One entry of a verdict or measurement record."""
    if isinstance(finding, Verdict):
        return {"trace": finding.trace_digest, **verdict_json(finding)}
    return {"trace": finding.trace_digest, "lo": number(finding.lo), "hi": number(finding.hi)}
