"""Adding to the trust file: a key by its owner's name, a rotated key, a time-stamp authority."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime

from safegym.audit.key import PublicKey, read_key
from safegym.audit.own_keys import own_keys
from safegym.audit.succession import Succession, follow, read_successions
from safegym.audit.trust_file import (
    Authority,
    Purpose,
    Trusted,
    TrustFile,
    read_certificate,
    read_trust,
    stamp,
    write_trust,
)
from safegym.errors import AuditError


def trust_key(
    path: str | os.PathLike[str], *, name: str | None, purpose: Purpose = "log"
) -> Trusted:
    """Trust a public key (PEM) under its owner's name. Raises AuditError.

    A key that was revoked is not trusted again, and a name stands for one key.
    """
    key = read_key(path)
    return _add(key, _named(name), purpose, "")


def trust_successor(
    path: str | os.PathLike[str], succession: str | os.PathLike[str], *, name: str | None
) -> Trusted:
    """Trust a key because one that is trusted to sign logs signed it when it was rotated.

    name: None for the name of the key before, with its number. Raises AuditError if no trusted key
    leads to it.
    """
    key, trust = read_key(path), read_trust()
    known = [e.key for e in trust.keys if e.purpose == "log" and e.revocation is None]
    revoked = {e.key.keyid for e in trust.keys if e.revocation is not None}
    found = {s.new.keyid: s for s in follow(read_successions(succession), known, revoked)}
    if key.keyid not in found:
        raise AuditError(
            f"No key that you trust signed {key.keyid[:16]}... in {succession}. Trust it by name "
            "after you compared its fingerprint with its owner: --name WHO"
        )
    return _add(
        key, name or _next_name(trust, found[key.keyid].old, found), "log", found[key.keyid].old
    )


def trust_authority(path: str | os.PathLike[str], *, name: str | None) -> Authority:
    """Trust a time-stamp authority by its root certificate (PEM). Raises AuditError."""
    entry = Authority(_named(name), read_certificate(path), stamp(datetime.now(UTC)))
    write_trust(read_trust().with_authority(entry))
    return entry


def _add(key: PublicKey, name: str, purpose: Purpose, vouched_by: str) -> Trusted:
    trust = read_trust()
    before = trust.find(key.keyid)
    if before is not None and before.revocation is not None:
        raise AuditError(
            f"This key of {before.name} was revoked on {stamp(before.revocation.on)} "
            f"({before.revocation.why}); it is not trusted again."
        )
    if any(e.name == name and e.key.keyid != key.keyid for e in trust.keys):
        raise AuditError(f"Another key is called {name!r} already; choose another --name.")
    if key in own_keys():
        raise AuditError("This is a key of your own, which is trusted anyhow.")
    entry = Trusted(name, key, purpose, stamp(datetime.now(UTC)), vouched_by=vouched_by)
    write_trust(trust.with_key(entry))
    return entry


def _named(name: str | None) -> str:
    if name is None or not name.strip():
        raise AuditError('Say whose it is: --name "A. Person".')
    return name


def _next_name(trust: TrustFile, old: str, found: Mapping[str, Succession]) -> str:
    """The name of the key before, and "2", "3" and so on behind it."""
    while trust.find(old) is None and old in found:
        old = found[old].old
    entry = trust.find(old)
    base = "" if entry is None else entry.name.rstrip("0123456789").rstrip()
    taken = {e.name for e in trust.keys}
    number = 2
    while f"{base} {number}" in taken:
        number += 1
    return f"{base} {number}"
