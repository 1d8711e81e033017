"""Waivers: a person accepts a gap in the evidence for one claim until a date.

A waiver never turns a verdict: a claim that is waived is waived, not satisfied. One that has
expired is none. The latest waiver of a claim replaces the earlier ones.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from safegym.audit.afterwards import person, reopened
from safegym.audit.cover import superseded_indices
from safegym.audit.kinds import payload_fault
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.schema import DATE
from safegym.audit.sign import Signer
from safegym.audit.trust_file import read_stamp, stamp
from safegym.errors import AuditError

State = Literal["in force", "expired", "replaced"]


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver. record, time: where and (as claimed, UTC) when it was given.

    expiry: "YYYY-MM-DD" (to the end of that day, UTC) or with a time, "...THH:MM:SSZ".
    """

    record: int
    time: str
    claim_id: str
    who: str
    why: str
    expiry: str
    state: State

    @property
    def words(self) -> str:
        """In one phrase: "waived until 2027-01-31 by Ann: rig only"."""
        by = f"by {self.who}: {self.why}"
        if self.state == "in force":
            return f"waived until {self.expiry} {by}"
        if self.state == "expired":
            return f"not waived: the waiver expired on {self.expiry} ({by})"
        return f"replaced by a later waiver ({by})"

    def to_json(self) -> dict[str, Any]:
        """The waiver as JSON."""
        return asdict(self)


def waivers_of(records: Iterable[AuditRecord], at: datetime) -> tuple[Waiver, ...]:
    """Every waiver of a log as it stands at this time, in the order in which they were given.

    records: all of the log; a waiver stands also where a resumed run set its record aside.
    """
    found = [r for r in records if r.kind == "waiver" and payload_fault(r.kind, r.payload) is None]
    latest = {record.payload["claim_id"]: record.index for record in found}
    return tuple(_waiver(record, latest, at) for record in found)


def in_force(records: Iterable[AuditRecord], at: datetime) -> dict[str, Waiver]:
    """The waivers that count at this time, by claim id."""
    return {w.claim_id: w for w in waivers_of(records, at) if w.state == "in force"}


def expires(expiry: str) -> datetime:
    """The first moment at which a waiver of this expiry counts no more, UTC.

    Raises ValueError for a date that no calendar has.
    """
    when = read_stamp(expiry)
    return when if "T" in expiry else when + timedelta(days=1)


def waive(
    run: str | os.PathLike[str],
    claim_id: str,
    *,
    why: str,
    until: str,
    who: str | None = None,
    signer: Signer | None = None,
    now: datetime | None = None,
) -> Waiver:
    """Add a waiver to a run's log.

    until: "YYYY-MM-DD", or with "THH:MM:SSZ"; "now" ends an earlier waiver of the claim.
    who: None for this computer's user name. signer: as in `afterwards.reopened`.
    Raises AuditError for a claim that the log does not register, a date that is past or none, and
    a log that does not verify with the signer's key.
    """
    at = now or datetime.now(UTC)
    if not why.strip():
        raise AuditError('Say why it is accepted, for the record: --why "rig only".')
    told = {"claim_id": claim_id, "who": who or person(), "why": why}
    _terms(read_log(run), claim_id, until, at)
    with reopened(run, signer=signer, reason="a claim is waived") as log:
        record = log.append("waiver", {**told, **_terms(log.records(), claim_id, until, at)})
    return _waiver(record, {claim_id: record.index}, at)


def _terms(
    records: Sequence[AuditRecord], claim_id: str, until: str, at: datetime
) -> dict[str, str]:
    """Which claim, by digest, and until when, by the log as it stands. Raises AuditError."""
    claim = _claim(records, superseded_indices(records), claim_id)
    expiry = _expiry(until, at, in_force(records, at).get(claim_id))
    return {"claim_digest": str(claim["digest"]), "expiry": expiry}


def _claim(
    records: Sequence[AuditRecord], superseded: AbstractSet[int], claim_id: str
) -> Mapping[str, Any]:
    known: dict[str, Mapping[str, Any]] = {
        entry["id"]: entry
        for record in records
        if record.kind == "spec_registered" and record.index not in superseded
        for entry in record.payload["claims"]
    }
    if claim_id not in known:
        raise AuditError(
            f"The log registers no claim {claim_id!r}; its claims are: {', '.join(known)}."
        )
    return known[claim_id]


def _expiry(until: str, at: datetime, earlier: Waiver | None) -> str:
    """The expiry to write. Raises AuditError."""
    if until == "now":
        if earlier is None:
            raise AuditError("No waiver of this claim is in force, so none can end now.")
        return stamp(at)
    try:
        if DATE.match(until) is None:
            raise ValueError(until)
        end = expires(until)
    except ValueError as error:
        raise AuditError(
            f"{until!r} is not a date. Write --until 2027-01-31, or 2027-01-31T12:00:00Z (UTC)."
        ) from error
    if end <= at:
        raise AuditError(
            f"{until} is past, so the waiver would count for nothing. Name a day to come, or end "
            "an earlier waiver with --until now."
        )
    return until


def _waiver(record: AuditRecord, latest: Mapping[str, int], at: datetime) -> Waiver:
    payload = record.payload
    state: State = "in force"
    if latest[payload["claim_id"]] != record.index:
        state = "replaced"
    elif _ended(payload["expiry"], at):
        state = "expired"
    return Waiver(
        record.index,
        record.time,
        payload["claim_id"],
        payload["who"],
        payload["why"],
        payload["expiry"],
        state,
    )


def _ended(expiry: str, at: datetime) -> bool:
    """Whether a waiver counts no more; one until a day that no calendar has never counts."""
    try:
        return expires(expiry) <= at
    except (ValueError, OverflowError):
        return True
