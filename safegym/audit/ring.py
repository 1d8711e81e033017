"""The public keys that a verifier trusts, and for what.

A key is trusted to sign logs, or only to cosign and review them. A revoked key signs nothing,
unless a trusted time stamp shows that it had signed before it was revoked.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.x509 import Certificate

from safegym.audit.key import PublicKey, raw_bytes, signed_by, trusted_key
from safegym.errors import AuditError


@dataclass(frozen=True, slots=True)
class Revocation:
    """From when on a key signs nothing any more (UTC), and why."""

    on: datetime
    why: str


class WitnessKey(PublicKey):  # type: ignore[misc]  # its library ships no types
    """A key that is trusted to cosign and to review logs, not to sign them."""


class RevokedKey(PublicKey):  # type: ignore[misc]  # its library ships no types
    """A key that is no longer trusted."""

    revocation: Revocation


def witness_key(key: PublicKey) -> WitnessKey:
    """The same key, for cosigning and reviewing only."""
    return WitnessKey(key.keyid, key.keytype, key.scheme, dict(key.keyval))


def revoked_key(key: PublicKey, revocation: Revocation) -> RevokedKey:
    """The same key, as a revoked one."""
    revoked = RevokedKey(key.keyid, key.keytype, key.scheme, dict(key.keyval))
    revoked.revocation = revocation
    return revoked


class TrustedKeys(tuple[PublicKey, ...]):
    """Trusted keys with what a trust file tells beside them.

    authorities: roots of the time-stamp authorities that are trusted. names: fingerprint -> name.
    words: where the keys that may sign logs come from, for people.
    """

    authorities: tuple[Certificate, ...] = ()
    names: Mapping[str, str] = {}
    words: str = ""


class KeyRing:
    """The public keys that a verifier trusts. Raises AuditError if there is none.

    revoked: fingerprint -> the key and its revocation; such a key is not found and verifies
    nothing. authorities, names: as in `TrustedKeys`, empty for other collections of keys.
    """

    def __init__(self, keys: Iterable[PublicKey]) -> None:
        told = keys if isinstance(keys, TrustedKeys) else TrustedKeys()
        self.authorities, self.names = told.authorities, told.names
        self._keys: dict[str, PublicKey] = {}
        self._witnesses: dict[str, PublicKey] = {}
        self.revoked: dict[str, tuple[PublicKey, Revocation]] = {}
        for key in keys:
            fresh = trusted_key(Ed25519PublicKey.from_public_bytes(raw_bytes(key)))
            if isinstance(key, RevokedKey):
                self.revoked[fresh.keyid] = (fresh, key.revocation)
            elif isinstance(key, WitnessKey):
                self._witnesses[fresh.keyid] = fresh
            else:
                self._keys[fresh.keyid] = fresh
        for fingerprint in self.revoked:
            self._keys.pop(fingerprint, None)
            self._witnesses.pop(fingerprint, None)
        if not self._keys and not self.revoked:
            raise AuditError(
                "No trusted key was given. Pass the signer's public key: --key KEY.pub.pem "
                "(it must reach you apart from the bundle)."
            )

    def __iter__(self) -> Iterator[PublicKey]:
        return iter(self._keys.values())

    @property
    def attesting(self) -> tuple[PublicKey, ...]:
        """Keys whose signatures count on checkpoints and reviews: signers of logs, and others."""
        return (*self._keys.values(), *self._witnesses.values())

    def find(self, fingerprint: str) -> PublicKey | None:
        """Return the key of this fingerprint that is trusted to sign logs, or None."""
        return self._keys.get(fingerprint)

    def name(self, fingerprint: str) -> str:
        """A key in words: its name, if it has one, and how its fingerprint begins."""
        short = f"{fingerprint[:16]}..."
        known = self.names.get(fingerprint)
        return short if known is None else f"{known} ({short})"

    def verifies(self, fingerprint: str, signature: bytes, message: bytes) -> bool:
        """Whether a key of this fingerprint that is trusted to sign logs signed `message`."""
        key = self._keys.get(fingerprint)
        return key is not None and signed_by(key, signature, message)

    def reinstate(self, fingerprint: str) -> None:
        """Trust a revoked key again, for what is shown to be older than its revocation."""
        key, _ = self.revoked[fingerprint]
        self._keys[fingerprint] = key
