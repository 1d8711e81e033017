"""From the records of a log to the policies of its registry."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from safegym.audit.record import AuditRecord
from safegym.errors import AuditError
from safegym.gate.freezing import policy_folder
from safegym.gate.registry.entry import (
    PolicyEntry,
    Release,
    Status,
    Trial,
    Withdrawal,
    count_of,
)


def entries(
    run: Path, records: Sequence[AuditRecord], superseded: AbstractSet[int], sealed: int
) -> tuple[PolicyEntry, ...]:
    """The policies of a log, in the order in which they were frozen.

    superseded: indices that a resumption set aside; what they say does not count, except a
    withdrawal, which stands. sealed: records under the last signed checkpoint; a promotion after
    it does not count yet, since a resumed run makes that decision again. Raises AuditError for a
    promotion without a certified attempt that satisfied every claim.
    """
    book = _Book()
    for record in records:
        if record.kind == "withdrawal":
            book.withdraw(record)
        elif record.index not in superseded:
            book.read(record, sealed=record.index < sealed)
    return tuple(book.entry(run, digest) for digest in book.frozen)


@dataclass(slots=True)
class _Book:
    """What was read so far, by policy digest."""

    frozen: dict[str, AuditRecord] = field(default_factory=dict[str, AuditRecord])
    parents: dict[str, str] = field(default_factory=dict[str, str])
    evidence: dict[str, dict[tuple[int, int], list[AuditRecord]]] = field(
        default_factory=dict[str, dict[tuple[int, int], list[AuditRecord]]]
    )
    closed: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    decisions: dict[str, AuditRecord] = field(default_factory=dict[str, AuditRecord])
    baselines: set[str] = field(default_factory=set[str])
    released: dict[str, Release] = field(default_factory=dict[str, Release])
    withdrawn: dict[str, Withdrawal] = field(default_factory=dict[str, Withdrawal])
    attempts: dict[str, str] = field(default_factory=dict[str, str])
    claims: set[str] = field(default_factory=set[str])
    trained_from: str = ""

    def read(self, record: AuditRecord, *, sealed: bool) -> None:
        """Take in a record in force."""
        payload = record.payload
        match record.kind:
            case "spec_registered":
                self.claims.update(entry["id"] for entry in payload["claims"])
            case "policy_frozen":
                self.frozen.setdefault(payload["policy"], record)
            case "checkpoint":
                self._trained(str(payload.get("policy", "")))
            case "rollback":
                self.trained_from = payload["to"]
            case "evidence":
                self._evidence(record)
            case "attempt_started":
                self.attempts[record.payload_digest] = payload["policy"]
            case "attempt_closed":
                self._closed(record)
            case "gate_decision":
                self.decisions[record.payload_digest] = record
            case "promotion" if sealed:
                self._release(record)
            case _:
                pass

    def withdraw(self, record: AuditRecord) -> None:
        """Take in a withdrawal; the first one of a policy stands."""
        payload = record.payload
        taken = Withdrawal(
            record.index, record.time, payload["who"], payload["why"], payload["instead"] or ""
        )
        self.withdrawn.setdefault(payload["policy"], taken)

    def entry(self, run: Path, digest: str) -> PolicyEntry:
        """The policy as it stands."""
        record = self.frozen[digest]
        payload = record.payload
        folder = policy_folder(run, digest)
        return PolicyEntry(
            digest=digest,
            name=str(payload.get("name", "")),
            kind=str(payload.get("kind", "")),
            epoch=payload["epoch"],
            parent=self._ancestor(digest),
            status=self._status(digest),
            trials=self._trials(digest),
            promoted=self.released.get(digest),
            withdrawn=self.withdrawn.get(digest),
            folder=folder if payload["files"] and folder.is_dir() else None,
            record=record.index,
        )

    def _status(self, digest: str) -> Status:
        if digest in self.released:
            return "withdrawn" if digest in self.withdrawn else "promoted"
        return "baseline" if digest in self.baselines else "not promoted"

    def _trained(self, digest: str) -> None:
        if digest and digest != self.trained_from:
            self.parents.setdefault(digest, self.trained_from)
            self.trained_from = digest

    def _ancestor(self, digest: str) -> str:
        """The nearest frozen policy on the way back through the epochs' checkpoints."""
        seen = {digest}
        found = self.parents.get(digest, "")
        while found and found not in self.frozen and found not in seen:
            seen.add(found)
            found = self.parents.get(found, "")
        return found if found in self.frozen else ""

    def _evidence(self, record: AuditRecord) -> None:
        payload = record.payload
        digest = str(payload.get("policy", ""))
        if payload.get("label"):
            self.baselines.add(digest)
        campaign = (int(payload.get("epoch", 0)), int(payload["attempt"]))
        self.evidence.setdefault(digest, {}).setdefault(campaign, []).append(record)

    def _closed(self, record: AuditRecord) -> None:
        number = record.payload["attempt"]
        for named in record.payload["rests_on"]:
            policy = self.attempts.get(named["record"])
            if policy is not None:
                self.closed[policy, number] = record.payload["outcome"]

    def _release(self, record: AuditRecord) -> None:
        named = [self.decisions.get(item["record"]) for item in record.payload["rests_on"]]
        decision = next((item for item in named if item is not None), None)
        self._refuse_unproved(record.payload["policy"], decision)
        epoch = 0 if decision is None else decision.payload["epoch"]
        reasons = () if decision is None else tuple(decision.payload["reasons"])
        self.released[record.payload["policy"]] = Release(record.index, record.time, epoch, reasons)

    def _refuse_unproved(self, policy: str, decision: AuditRecord | None) -> None:
        """Raise AuditError unless an attempt on the policy ended certified, on every claim."""
        rests_on = () if decision is None else decision.payload["rests_on"]
        named = {entry["record"] for entry in rests_on}
        shown: dict[int, set[str]] = {}
        for records in self.evidence.get(policy, {}).values():
            for one in records:
                if one.payload_digest in named and one.payload["status"] == "satisfied":
                    shown.setdefault(one.payload["attempt"], set()).add(one.payload["claim_id"])
        for number, claims in shown.items():
            certified = number > 0 and self.closed.get((policy, number)) == "certified"
            if certified and self.claims and self.claims <= claims:
                return
        raise AuditError(
            f"The log releases policy {policy} without a certified attempt that satisfied every "
            "claim, so nothing that it says of policies counts; see: safegym audit verify RUN",
            step="consistency",
        )

    def _trials(self, digest: str) -> tuple[Trial, ...]:
        found = self.evidence.get(digest, {})
        return tuple(self._trial(digest, *key, records) for key, records in found.items())

    def _trial(
        self, digest: str, epoch: int, attempt: int, records: Sequence[AuditRecord]
    ) -> Trial:
        payloads = [record.payload for record in records]
        if attempt:
            outcome = self.closed.get((digest, attempt), "open")
        elif any(payload.get("degraded") for payload in payloads):
            outcome = "degraded"
        else:
            passed = all(payload.get("screen") == "passed" for payload in payloads)
            outcome = "passed" if passed else "failed"
        return Trial(epoch, attempt, outcome, tuple(count_of(payload) for payload in payloads))
