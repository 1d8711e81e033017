"""Revoking a key: dated, with a reason, in the user's trust file."""

from datetime import UTC, datetime
from pathlib import Path

from safegym.audit.key import read_key
from safegym.audit.own_keys import own_keys
from safegym.audit.ring import Revocation
from safegym.audit.schema import DATE
from safegym.audit.trust_file import (
    Trusted,
    TrustFile,
    read_stamp,
    read_trust,
    stamp,
    write_trust,
)
from safegym.errors import AuditError

OWN = "own"


def revoke(name: str, *, why: str, on: str | None = None) -> Trusted:
    """Revoke a key of the trust file, or one of the user's own; returns its entry.

    name: of the entry, the start of a fingerprint, or a public key file; "own" for the user's
    present key. on: from
    when, "YYYY-MM-DD" (its first moment, UTC) or with "THH:MM:SSZ"; None for now. A date to come is
    refused, as is a second revocation at a later date: what is known now counts now.
    Raises AuditError.
    """
    trust, now = read_trust(), datetime.now(UTC)
    if not why.strip():
        raise AuditError('Say why it is revoked: --why "laptop stolen".')
    when = now.replace(microsecond=0) if on is None else _when(on, now)
    entry = _meant(trust, name, now)
    before = entry.revocation
    if before is not None and before.on <= when:
        raise AuditError(
            f"The key of {entry.name} is revoked from {stamp(before.on)} on ({before.why}); only "
            "an earlier date can be set."
        )
    revoked = Trusted(
        entry.name, entry.key, entry.purpose, entry.since, Revocation(when, why), entry.vouched_by
    )
    write_trust(trust.with_key(revoked))
    return revoked


def _meant(trust: TrustFile, name: str, now: datetime) -> Trusted:
    """The entry that is meant: of the user's own keys, or of the trust file. Raises AuditError."""
    own = own_keys()
    mine = [key for key in own if len(name) >= 8 and key.keyid.startswith(name.lower())]
    if name == OWN and own:
        mine = [own[0]]
    who = "you"
    if not mine and Path(name).is_file():
        mine, who = [read_key(name)], Path(name).name
    if mine and trust.find(mine[0].keyid) is None:
        return Trusted(who, mine[0], "log", stamp(now))
    return trust.meant(mine[0].keyid if mine else name)


def _when(text: str, now: datetime) -> datetime:
    try:
        if DATE.match(text) is None:
            raise ValueError(text)
        when = read_stamp(text)
    except ValueError as error:
        raise AuditError(
            f"{text!r} is not a date. Write --on 2026-11-30, or 2026-11-30T12:00:00Z (UTC)."
        ) from error
    if when > now:
        raise AuditError(
            f"{text} is to come; a key is revoked from now on, or from an earlier day."
        )
    return when
