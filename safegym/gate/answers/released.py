"""Which policy is released, and on what evidence, leaf by leaf."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.references import named_artifacts
from safegym.audit.waivers import Waiver, in_force
from safegym.gate.answers.opened import Opened
from safegym.gate.answers.standing import Found, Standing, against, policies, standing
from safegym.gate.registry.entry import PolicyEntry

NOT_SHOWN = (
    "every episode was simulated; that the simulator stands for the real system is shown nowhere"
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A record under an evidence record: what it is, in words, and the files that it names.

    rests_on: indices of the records right under it. violated: episodes that it calls violated.
    digest: of the leaf in the tree.
    """

    index: int
    kind: str
    words: str
    files: tuple[str, ...] = ()
    rests_on: tuple[int, ...] = ()
    violated: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """The evidence on one claim and every record under it, in the log's order.

    found: None where nothing was found on the claim. waiver: one in force, which turns no verdict.
    """

    claim_id: str
    hazard: str
    statement: str
    found: Found | None
    leaves: tuple[Leaf, ...] = ()
    waiver: Waiver | None = None


@dataclass(frozen=True, slots=True)
class ReleasedPolicy:
    """The released policy, or none. withdrawn: policies that were taken back, in words.

    basis: the evidence on it; without a release, on the policy of the last attempt (`tried`).
    counterexamples: what searches found on it. gaps: what the evidence does not say.
    """

    policy: PolicyEntry | None
    decision: AuditRecord | None
    tried: str = ""
    basis: tuple[Basis, ...] = ()
    withdrawn: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        decision = self.decision
        return {
            "policy": None if self.policy is None else self.policy.to_json(),
            "decision": None
            if decision is None
            else {
                "leaf": decision.index,
                "epoch": decision.payload["epoch"],
                "reasons": list(decision.payload["reasons"]),
            },
            "tried": self.tried,
            "evidence": [asdict(each) for each in self.basis],
            "withdrawn": list(self.withdrawn),
            "counterexamples": list(self.counterexamples),
            "gaps": list(self.gaps),
        }


def released(opened: Opened, *, at: datetime | None = None) -> ReleasedPolicy:
    """The released policy of a verified log. at: when waivers count, None for now.

    Raises AuditError for a slice, and for a release without a certified attempt under it.
    """
    opened.refuse_slice("which policy is released")
    found = standing(opened)
    gone = tuple(_withdrawn(opened))
    waived = in_force(opened.records, at or datetime.now(UTC))
    return ReleasedPolicy(
        policy=found.entry,
        decision=found.decision,
        tried="" if found.released else found.policy,
        basis=tuple(_basis(opened, name, found, waived) for name in opened.claims),
        withdrawn=gone,
        counterexamples=tuple(_counterexamples(opened, found.policy)),
        gaps=tuple(_gaps(found)),
    )


def _basis(opened: Opened, claim_id: str, found: Standing, waived: Mapping[str, Waiver]) -> Basis:
    item = found.evidence.get(claim_id)
    return Basis(
        claim_id,
        opened.stated(claim_id, "hazard"),
        opened.stated(claim_id, "statement"),
        item,
        () if item is None else tuple(_leaves(opened, item)),
        waived.get(claim_id),
    )


def _leaves(opened: Opened, found: Found) -> Iterator[Leaf]:
    """Everything under an evidence record, down to the files with the traces."""
    known, waiting, seen = opened.by_index, list(found.rests_on), set[int]()
    while waiting:
        index = waiting.pop()
        if index not in seen and index in known:
            seen.add(index)
            waiting.extend(known[index].leaves)
    for index in sorted(seen):
        yield _leaf(known[index])


def _leaf(record: AuditRecord) -> Leaf:
    files = tuple(str(each["artifact"]) for each in named_artifacts(record.payload))
    words, violated = _said(record)
    return Leaf(record.index, record.kind, words, files, record.leaves, violated, record.digest)


def _said(record: AuditRecord) -> tuple[str, int]:
    """What the record says, in words, and how many episodes it calls violated."""
    payload = record.payload
    if record.kind == "trace_shard":
        first = payload["first_index"]
        return f"episodes {first} to {first + len(payload['traces']) - 1}", 0
    if record.kind == "verdict":
        rows = payload["verdicts"]
        violated = sum(row["status"] == "violated" for row in rows)
        return f"{len(rows)} episodes judged, {violated} violated", violated
    if record.kind == "measurement":
        return f"{len(payload['measured'])} episodes measured", 0
    if record.kind == "attempt_started":
        return f"attempt {payload['attempt']}, before its first episode", 0
    if record.kind == "proof":
        return f"{payload['result']} by {payload['method']}", 0
    return "", 0


def _withdrawn(opened: Opened) -> Iterator[str]:
    for entry in policies(opened):
        gone = entry.withdrawn
        if gone is not None:
            yield (
                f"{entry.digest} was withdrawn by {gone.who} on {gone.time} (record {gone.record}):"
                f" {gone.why}"
            )


def _counterexamples(opened: Opened, policy: str) -> Iterator[str]:
    for record in against(opened, policy):
        payload = record.payload
        yield (
            f"{payload['claim_id']}: a search found a counterexample on this policy "
            f"(record {record.index}; {payload['method']}); it is real, and outside the evidence"
        )


def _gaps(found: Standing) -> Iterator[str]:
    observed = [name for name, item in found.evidence.items() if item.kind == "observed"]
    proved = [name for name, item in found.evidence.items() if item.kind == "proved"]
    if observed:
        yield f"observed only, no probability is claimed: {', '.join(observed)}"
    if proved:
        yield f"beyond the model and its assumptions nothing is proved: {', '.join(proved)}"
    if not proved or len(proved) < len(found.evidence):
        yield NOT_SHOWN
