"""One policy certified on several scenarios: each by an attempt of its own, one joint result.

The joint statement, "all claims of all scenarios hold", is made only where every attempt certified.
It is wrong only if some claim is false and yet was shown, which happens with probability at most
that claim's level: so the joint confidence is the least of the claims' own (an intersection-union
test, as within one attempt), and nothing is lost by asking of several scenarios.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from safegym.verdict import Evidence

NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Certified:
    """One scenario's part. outcome: of the attempt, or "not asked", or "unfit" with the reason.

    attempt: its number, 0 where none was made. folder: the audit trail, "" for none.
    """

    scenario: str
    policy_digest: str
    outcome: str
    attempt: int = 0
    reasons: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    folder: str = ""

    @property
    def observed(self) -> tuple[str, ...]:
        """Ids of claims that were observed only."""
        return tuple(item.claim_id for item in self.evidence if item.kind == "observed")

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        from safegym.gate.evidence import stored_json

        return {
            "scenario": self.scenario,
            "policy": self.policy_digest,
            "outcome": self.outcome,
            "attempt": self.attempt,
            "reasons": list(self.reasons),
            "evidence": [stored_json(item) for item in self.evidence],
            "folder": self.folder,
        }

    def __str__(self) -> str:
        said = f"{self.scenario}: {self.outcome}"
        if self.outcome == "certified" and self.observed:
            said += f" except invariants, observed ({', '.join(self.observed)})"
        if self.attempt:
            said += f", attempt {self.attempt}"
        return said + (f": {'; '.join(self.reasons)}" if self.reasons else "")


@dataclass(frozen=True, slots=True)
class Joint:
    """One policy on several scenarios.

    outcome: "certified" where every part is; "refuted" where some part is; "not asked" where none
    was asked; else "inconclusive". Never more than the weakest part.
    """

    parts: tuple[Certified, ...]

    @property
    def outcome(self) -> str:
        """See the class."""
        found = {part.outcome for part in self.parts}
        if found == {"certified"}:
            return "certified"
        if "refuted" in found:
            return "refuted"
        return NOT_ASKED if found <= {NOT_ASKED} else "inconclusive"

    @property
    def confidence(self) -> float | None:
        """Of the joint statement: the least of all estimates'. None unless certified, or where
        nothing was estimated.
        """
        if self.outcome != "certified":
            return None
        found = [
            item.confidence
            for part in self.parts
            for item in part.evidence
            if item.confidence is not None
        ]
        return min(found) if found else None

    @property
    def observed(self) -> tuple[str, ...]:
        """Scenario and claim of all that was observed only."""
        return tuple(f"{part.scenario}: {name}" for part in self.parts for name in part.observed)

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "outcome": self.outcome,
            "confidence": self.confidence,
            "observed_only": list(self.observed),
            "statement": str(self),
            "scenarios": [part.to_json() for part in self.parts],
        }

    def __str__(self) -> str:
        if self.outcome == "certified":
            return _whole(self)
        if self.outcome == NOT_ASKED:
            return "not certified: it was not asked"
        shown = [part.scenario for part in self.parts if part.outcome == "certified"]
        number = len(self.parts)
        said = self.outcome if number == 1 else f"{self.outcome} on {number} scenarios together"
        if not shown:
            return said
        return f"{said}; certified on {', '.join(shown)} alone, which is no joint statement"


def _whole(joint: Joint) -> str:
    from safegym.audit.report.figures import confidence_text

    number = len(joint.parts)
    where = f"certified on all {number} scenarios" if number > 1 else "certified"
    if joint.confidence is not None:
        where += f", jointly at {confidence_text(joint.confidence)}"
    if joint.observed:
        where += f"; except invariants, observed only: {', '.join(joint.observed)}"
    return where


def not_asked(scenarios: Sequence[str], policy_digest: str, why: str = "") -> Joint:
    """Nothing was certified."""
    reasons = (why,) if why else ()
    return Joint(tuple(Certified(name, policy_digest, NOT_ASKED, 0, reasons) for name in scenarios))
