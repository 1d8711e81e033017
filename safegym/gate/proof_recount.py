"""Deriving again what a log says of proofs: each is checked, and evidence says no more."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.formula.claim import Claim
from safegym.gate.evidence import evidence_json
from safegym.verdict import Evidence

Findings = Iterator[tuple[str, bool]]
ABOUT = "policy"
"""What a spec_registered record of a proof speaks of: a policy's network, without a scenario."""
STATUS = {"PROVED": "satisfied", "VIOLATED": "violated", "UNKNOWN": "inconclusive"}

LOGGED = {
    "PROVED": "PROVED",
    "VIOLATED": "VIOLATED",
    "VIOLATED_WITHIN_TOLERANCE": "UNKNOWN",
    "UNKNOWN": "UNKNOWN",
}
"""Result of a proof -> result of its record."""
_NAMED = re.compile(r"policy (.*), digest sha256:[0-9a-f]{64}, deterministic mode", re.DOTALL)


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

    @property
    def digests(self) -> tuple[str, ...]:
        """Of what was registered, in order."""
        return tuple(str(entry["digest"]) for entry in self.asked.values())

    def misstated(self) -> Findings:
        """Claims whose text, name or digest is not what they give."""
        for name, entry in self.asked.items():
            if "claim" not in entry:
                continue
            claim = Claim.from_json(entry["claim"])
            if claim.digest != entry["digest"]:
                yield f"claim {name}: it does not give its digest", False
            if (claim.id, str(claim.statement)) != (name, entry["text"]):
                yield f"claim {name}: its name or text is another: {claim.id}", False

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
            yield from _beyond(payload, answer)
        if not any(answer is not None for answer in under):
            yield "the proof that it rests on is missing", True


def _beyond(payload: Mapping[str, Any], answer: Mapping[str, Any]) -> Findings:
    """Fields of the evidence that are not what its proof gives: no episode goes into it."""
    from safegym.check.neural.proof.assumptions import method_of, sentences

    tested, standing = answer["equivalence"], str(answer["standing"])
    expected = Evidence.of_proof(
        answer["claim_id"],
        answer["claim_digest"],
        payload["status"],
        method=method_of(answer["semantics"], standing),
        assumptions=sentences(
            answer["semantics"],
            (tested["samples"], tested["disagreements"], tested["largest_difference"]),
            (_name(payload), answer["policy"]),
            answer["region"],
        ),
        versions={"safegym": str(answer["versions"].get("safegym"))},
    )
    derived = {**evidence_json(expected), "policy": answer["policy"]}
    for name, value in derived.items():
        if payload.get(name) != value:
            yield f"{name} comes out as {value!r}, logged {payload.get(name)!r}", False
    if answer["method"] != expected.method:
        yield "its proof names another method than its arithmetic and standing give", False
    if LOGGED.get(standing.removesuffix("_UNCERTIFIED")) != answer["result"]:
        yield f"its proof is told as {standing}, its result is {answer['result']}", False


def _name(evidence: Mapping[str, Any]) -> str:
    """What the evidence calls its policy; no more than a name."""
    found = (_NAMED.fullmatch(str(each)) for each in evidence["assumptions"])
    return next((each[1] for each in found if each is not None), "")
