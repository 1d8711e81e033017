"""Answers of a specification check."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from safegym.trace.model import Trace

NO_TIME = "no answer in time"
OPEN = "left open"
FindingStatus = Literal["ok", "flawed", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One question about claims, and its answer within the horizon's steps.

    witness: a trace that shows the answer, judged by the monitor to be one; None if the answer
    is that there is none, or was not found.
    """

    question: str
    claims: tuple[str, ...]
    status: FindingStatus
    answer: str
    detail: str = ""
    witness: Trace | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding for the log; the witness by its digest."""
        return {
            "question": self.question,
            "claims": list(self.claims),
            "status": self.status,
            "answer": self.answer,
            "detail": self.detail,
            "witness": None if self.witness is None else self.witness.digest,
        }


Listener = Callable[[Finding], None]
"""Told each finding as it comes."""


@dataclass(frozen=True, slots=True)
class SpecificationReport:
    """All findings on a set of claims. steps: the horizon that they speak of."""

    findings: tuple[Finding, ...]
    steps: int

    @property
    def status(self) -> FindingStatus:
        """Flawed if any finding is, else unknown if any is, else ok."""
        found = {finding.status for finding in self.findings}
        if "flawed" in found:
            return "flawed"
        return "unknown" if "unknown" in found else "ok"

    def of(self, question: str) -> tuple[Finding, ...]:
        """The findings on one question, such as "can hold together"."""
        return tuple(finding for finding in self.findings if finding.question == question)

    @property
    def witnesses(self) -> Mapping[str, Trace]:
        """Question and claims -> witness trace."""
        return {
            f"{finding.question}: {', '.join(finding.claims)}": finding.witness
            for finding in self.findings
            if finding.witness is not None
        }

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "status": self.status,
            "steps": self.steps,
            "findings": [finding.to_json() for finding in self.findings],
        }
