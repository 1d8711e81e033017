"""Which records of a log a slice needs: those about one policy or claim, and what they rest on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.errors import AuditError

ALWAYS = frozenset(
    {
        *("spec_registered", "scenario_registered", "plan_registered"),
        *("run_resumed", "tombstone", "review_signature"),
    }
)
"""Kinds that every slice has: without them the others cannot be read."""
ABOUT_A_CLAIM = frozenset({"verdict", "measurement", "falsification", "proof", "evidence"})
SHORTEST = 8
"""Fewest hex digits that may stand for a digest."""


@dataclass(frozen=True, slots=True)
class About:
    """What a slice is about. policy: a digest. claim: a claim's id. At least one is given."""

    policy: str | None = None
    claim: str | None = None

    def words(self) -> str:
        """In words: "policy sha256:ab..., claim drone.tilt"."""
        named = (("policy", self.policy), ("claim", self.claim))
        return ", ".join(f"{what} {name}" for what, name in named if name is not None)


def chosen(records: Sequence[AuditRecord], about: About) -> list[int]:
    """Indices of the records that the slice needs, ascending. The last record is always one.

    records: all of a log, or those of a slice of it: of these, the same are chosen again, which is
    how a slice shows that it is about what it says.

    A slice of a claim holds evidence, verdicts and searches on it, and for attempts the verdicts
    on the other claims too: an attempt ends on all of them together. A slice of a policy holds
    every record that names it, and the regression suites before its attempts.
    Raises AuditError (step "export") if the log has no record about it.
    """
    first = {record.index for record in records if _is_about(record, about)}
    if not first:
        raise AuditError(_nothing(records, about), step="export")
    known = {record.index: record for record in records}
    beside = _beside(records, [known[index] for index in first])
    always = {record.index for record in records if record.kind in ALWAYS}
    found = _closure(known, {*first, *beside, *always, records[-1].index})
    if about.claim is None:
        found |= _closure(known, _ends(known, found))
    return sorted(found)


def full_digest(records: Iterable[AuditRecord], given: str) -> str:
    """The policy digest that `given` is, or begins. Raises AuditError (step "export")."""
    known = sorted(
        {str(record.payload["policy"]) for record in records if record.payload.get("policy")}
    )
    start = given if given.startswith("sha256:") else f"sha256:{given}"
    found = [digest for digest in known if digest.startswith(start)]
    long = len(start) - len("sha256:") >= SHORTEST
    if len(found) == 1 and long:
        return found[0]
    some = ", ".join(digest[:19] for digest in known[:6]) or "none"
    wrong = f"{len(found)} policies of this log begin with it" if long else "it is too short"
    raise AuditError(
        f"Asked for the slice of policy {given[:80]!r}: {wrong}. Give at least {SHORTEST} of its "
        f"hex digits; the log names {some}.",
        step="export",
    )


def _is_about(record: AuditRecord, about: About) -> bool:
    payload = record.payload
    if record.kind == "waiver":
        return about.claim in (None, payload["claim_id"])
    if about.policy is not None and not _names_policy(payload, about.policy):
        return False
    if about.claim is None:
        return True
    return record.kind in ABOUT_A_CLAIM and payload.get("claim_id") == about.claim


def _names_policy(payload: Mapping[str, Any], policy: str) -> bool:
    return policy in (payload.get(name) for name in ("policy", "from", "to"))


def _beside(records: Sequence[AuditRecord], first: Sequence[AuditRecord]) -> set[int]:
    """What counting attempts again needs beside what they rest on."""
    attempts = {
        (str(r.payload.get("policy")), r.payload.get("attempt"))
        for r in first
        if r.payload.get("attempt")
    }
    last = max((r.index for r in first if r.payload.get("attempt")), default=-1)
    found = set[int]()
    for record in records:
        payload = record.payload
        same = (str(payload.get("policy")), payload.get("attempt")) in attempts
        if same and record.kind in ("attempt_started", "trace_shard", "verdict", "measurement"):
            found.add(record.index)
        if record.kind == "regression" and record.index < last:
            found.add(record.index)
        if record.kind == "policy_frozen" and any(payload["policy"] == p for p, _ in attempts):
            found.add(record.index)
    return found


def _ends(records: Mapping[int, AuditRecord], found: set[int]) -> set[int]:
    """Ends of the attempts whose beginning is in the slice; they name no policy themselves."""
    return {
        record.index
        for record in records.values()
        if record.kind == "attempt_closed"
        and any(leaf in found and records[leaf].kind == "attempt_started" for leaf in record.leaves)
    }


def _closure(records: Mapping[int, AuditRecord], start: set[int]) -> set[int]:
    found, waiting = set[int](), list(start)
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        if index not in records:
            raise AuditError(
                f"A record of the log names record {index}, which is not there, so it is "
                "broken. See: safegym audit verify RUN",
                step="export",
            )
        found.add(index)
        waiting.extend(records[index].leaves)
    return found


def _nothing(records: Sequence[AuditRecord], about: About) -> str:
    claims = sorted({str(r.payload["claim_id"]) for r in records if "claim_id" in r.payload})
    return (
        f"The log has no record about {about.words()}, so there is no slice of it. Its claims are "
        f"{', '.join(claims[:12]) or 'none'}."
    )
