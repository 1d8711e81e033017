"""Deriving again what a log says of proofs: each is checked, and evidence says no more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.formula.claim import Claim

Findings = Iterator[tuple[str, bool]]
ABOUT = "policy"
"""What a spec_registered record of a proof speaks of: a policy's network, without a scenario."""
STATUS = {"PROVED": "satisfied", "VIOLATED": "violated", "UNKNOWN": "inconclusive"}


@dataclass(slots=True)
class Proofs:
    """What the proofs of a log say, as its records arrive.

    asked: claim id -> what was registered. answers: payload digest -> the proof's payload.
    """

    asked: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def register(self, payload: Mapping[str, Any]) -> None:
        """Take in the claims of a spec_registered record."""
        self.asked.update({entry["id"]: entry for entry in payload["claims"]})

    def misstated(self) -> Findings:
        """Claims whose text does not give their digest."""
        for entry in self.asked.values():
            if "claim" in entry and Claim.from_json(entry["claim"]).digest != entry["digest"]:
                yield f"claim {entry['id']}: it does not give its digest", False

    def derive(self, folder: Path, record: AuditRecord) -> Findings:
        """Check a proof record again."""
        self.answers[record.payload_digest] = record.payload
        entry = self.asked.get(record.payload["claim_id"])
        if entry is None:
            yield "it is about a property that nothing registers", False
            return
        from safegym.gate.proof_check import proof_fault  # loads the provers, for such logs alone

        yield from proof_fault(folder, record.payload, entry)

    def evidence(self, payload: Mapping[str, Any]) -> Findings:
        """Evidence of kind "proved" says what the proofs under it say, and no more."""
        under = [self.answers.get(named["record"]) for named in payload["rests_on"]]
        for answer in (each for each in under if each is not None):
            expected = STATUS[answer["result"]]
            if answer["claim_digest"] != payload["claim_digest"]:
                yield "it rests on the proof of another claim", False
            if payload["status"] != expected:
                yield f"its proof says {expected}, logged {payload['status']}", False
            if payload["method"] != answer["method"]:
                yield "it names another method than its proof", False
        if not any(answer is not None for answer in under):
            yield "the proof that it rests on is missing", True
