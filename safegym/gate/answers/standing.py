"""Which policy the question is about: the released one, or else the last that was tried."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.values import decode_number
from safegym.gate.answers.opened import Opened
from safegym.gate.registry.derive import entries
from safegym.gate.registry.entry import PolicyEntry


@dataclass(frozen=True, slots=True)
class Found:
    """One evidence record, as answers give it; leaf: its index in the log.

    kind: observed, estimated or proved. bound: the limit at `confidence`, None where none holds.
    rests_on: indices of the records right under it, ascending. digest: of the leaf in the tree.
    """

    leaf: int
    claim_id: str
    kind: str
    status: str
    episodes: int
    violations: int
    undecided: int
    threshold: float | None
    bound: float | None
    side: str | None
    confidence: float | None
    attempt: int
    method: str
    rests_on: tuple[int, ...]
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """A policy and the evidence on it, by claim id.

    released: it counts as released; otherwise it is the policy of the last attempt, or of none.
    decision: the record that promoted it.
    """

    policy: str
    released: bool
    evidence: Mapping[str, Found]
    decision: AuditRecord | None = None
    entry: PolicyEntry | None = None


def policies(opened: Opened) -> tuple[PolicyEntry, ...]:
    """The policies of the log, as the registry tells of them. Raises AuditError."""
    return entries(opened.place, opened.records, opened.report.superseded, opened.sealed)


def releases(opened: Opened) -> tuple[PolicyEntry, ...]:
    """Released policies that were not withdrawn, latest first."""
    kept = [(each.promoted.record, each) for each in policies(opened) if each.promoted is not None]
    standing = [pair for pair in kept if pair[1].withdrawn is None]
    return tuple(each for _, each in sorted(standing, key=lambda pair: -pair[0]))


def standing(opened: Opened) -> Standing:
    """The released policy with its evidence; without one, or of a slice, the last attempt's."""
    if opened.report.slice is not None:  # it cannot show what was released or withdrawn since
        return _tried(opened)
    current = next(iter(releases(opened)), None)
    return _tried(opened) if current is None else standing_of(opened, current)


def standing_of(opened: Opened, entry: PolicyEntry) -> Standing:
    """A released policy with the evidence that its promotion rests on."""
    promoted = entry.promoted
    known = opened.by_index
    under = [] if promoted is None else [known[leaf] for leaf in known[promoted.record].leaves]
    decision = next((record for record in under if record.kind == "gate_decision"), None)
    named = [] if decision is None else [known[leaf] for leaf in decision.leaves]
    shown = [r for r in named if r.kind == "evidence" and r.payload["attempt"] > 0]
    return Standing(entry.digest, True, _by_claim(shown), decision, entry)


def _tried(opened: Opened) -> Standing:
    """The last attempt's policy and evidence; of a log without attempts, all evidence proved."""
    started = [record for record in opened.live if record.kind == "attempt_started"]
    if not started:
        proved = [r for r in opened.live if r.kind == "evidence" and r.payload["kind"] == "proved"]
        return Standing("", False, _by_claim(proved))
    last = started[-1].payload
    key = (last["policy"], last["attempt"])
    shown = [
        record
        for record in opened.live
        if record.kind == "evidence"
        and (record.payload.get("policy"), record.payload["attempt"]) == key
    ]
    return Standing(last["policy"], False, _by_claim(shown))


def _by_claim(records: Sequence[AuditRecord]) -> dict[str, Found]:
    return {record.payload["claim_id"]: found_of(record) for record in records}


def found_of(record: AuditRecord) -> Found:
    """What an evidence record says."""
    payload = record.payload
    side = payload.get("side")
    return Found(
        leaf=record.index,
        claim_id=payload["claim_id"],
        kind=payload["kind"],
        status=payload["status"],
        episodes=payload["episodes"],
        violations=payload["violations"],
        undecided=payload["undecided"],
        threshold=_number(payload["threshold"]),
        bound=_number(payload["bound"]),
        side=str(side) if side in ("upper", "lower") else None,
        confidence=_number(payload["confidence"]),
        attempt=payload["attempt"],
        method=payload["method"],
        rests_on=record.leaves,
        digest=record.digest,
    )


def _number(value: Any) -> float | None:
    return None if value is None else decode_number(value)


def against(opened: Opened, policy: str) -> Iterator[AuditRecord]:
    """Searches that found a counterexample on this policy: real, and outside of the evidence."""
    for record in opened.live:
        payload = record.payload
        if record.kind == "falsification" and payload["found"] and payload["policy"] == policy:
            yield record
