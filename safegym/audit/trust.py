"""Which keys count when nobody, or somebody, is named: own keys, the trust file, `--key`."""

import os
from collections.abc import Iterable
from pathlib import Path

from safegym.audit import layout
from safegym.audit.key import PublicKey, read_key
from safegym.audit.own_keys import own_keys
from safegym.audit.ring import Revocation, TrustedKeys, revoked_key, witness_key
from safegym.audit.trust_file import Trusted, TrustFile, read_certificate, read_trust
from safegym.errors import AuditError


def trusted_keys(paths: Iterable[str | os.PathLike[str]]) -> TrustedKeys:
    """The public keys a reviewer trusts to sign logs: those of `paths`; without any, the user's
    own keys (former ones too) and those of the user's trust file.

    In both cases the trust file says which keys are revoked, whose cosignatures and reviews count,
    and which time-stamp authorities are trusted. Raises AuditError.
    """
    trust = read_trust()
    named = tuple(read_key(path) for path in paths)
    if named:
        return _with_file(named, trust, f"{len(named)} named key{'s' * (len(named) > 1)}")
    own = own_keys()
    others = [e for e in trust.keys if e.purpose == "log" and e.key not in own]
    if not own and not others:
        raise AuditError(
            "No trusted key was given, and you have no key of your own. Pass the signer's public "
            "key: --key KEY.pub.pem (it must reach you apart from the bundle), or trust it for "
            "good: safegym keys trust KEY.pub.pem --name WHO"
        )
    return _with_file((*own, *(e.key for e in others)), trust, _words(own, others))


def keys_for(place: str | os.PathLike[str], paths: Iterable[str | os.PathLike[str]]) -> TrustedKeys:
    """The trusted keys for looking at a run folder or bundle; asks for `place` first.

    Raises AuditError if there is nothing at `place`, or no key.
    """
    if not Path(place).exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    logs = (layout.LOG, layout.SLICE_LOG)
    if Path(place).is_dir() and not any((Path(place) / name).is_file() for name in logs):
        raise AuditError(
            f"{place} is not a run folder: it holds no {layout.LOG}.", step="bounded reads"
        )
    return trusted_keys(paths)


def with_authorities(keys: TrustedKeys, paths: Iterable[str | os.PathLike[str]]) -> TrustedKeys:
    """These keys, and further time-stamp authorities by their root certificates (PEM)."""
    more = tuple(read_certificate(path) for path in paths)
    fresh = TrustedKeys(keys)
    fresh.names, fresh.words = keys.names, keys.words
    fresh.authorities = tuple(dict.fromkeys((*keys.authorities, *more)))
    return fresh


def own_revocation(fingerprint: str) -> Revocation | None:
    """The revocation of one of the user's own keys in the trust file, or None."""
    entry = read_trust().find(fingerprint)
    return None if entry is None else entry.revocation


def _with_file(signing: tuple[PublicKey, ...], trust: TrustFile, words: str) -> TrustedKeys:
    revoked = {e.key.keyid: e.revocation for e in trust.keys if e.revocation is not None}
    listed = [
        revoked_key(key, revoked[key.keyid]) if key.keyid in revoked else key for key in signing
    ]
    witnesses = [
        witness_key(e.key) for e in trust.keys if e.revocation is None and e.key not in signing
    ]
    keys = TrustedKeys((*listed, *witnesses))
    keys.authorities = tuple(entry.certificate for entry in trust.authorities)
    keys.names = {entry.key.keyid: entry.name for entry in trust.keys}
    keys.words = words
    return keys


def _words(own: tuple[PublicKey, ...], others: Iterable[Trusted]) -> str:
    parts = ["your own default key"] if own else []
    if len(own) > 1:
        parts.append(f"{len(own) - 1} former key{'s' * (len(own) > 2)} of yours")
    named = [entry.name for entry in others if entry.revocation is None]
    if named:
        parts.append(f"{', '.join(named)} (your trust file)")
    return ", ".join(parts) or "no key that is not revoked"
