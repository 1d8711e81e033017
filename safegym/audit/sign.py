"""Keys: the user's default Ed25519 key, other keys from PEM files, and what the verifier trusts.

A key is known by its fingerprint: the SHA-256 of its 32 public bytes, in hex.
"""

import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from filelock import FileLock
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import (
    CryptoSigner as _CryptoSigner,  # pyright: ignore[reportPrivateImportUsage] - lacks __all__
)
from securesystemslib.signer import (
    Signature,  # pyright: ignore[reportPrivateImportUsage] - lacks __all__
)
from securesystemslib.signer import (
    Signer as _Signer,  # pyright: ignore[reportPrivateImportUsage] - lacks __all__
)
from securesystemslib.signer import (
    SSlibKey as _SSlibKey,  # pyright: ignore[reportPrivateImportUsage] - lacks __all__
)

from safegym.audit import layout
from safegym.errors import AuditError
from safegym.home import keys_folder

Signer: TypeAlias = _Signer
"""Whatever signs bytes: a file key, or one of the library's PKCS 11 and KMS signers."""

CryptoSigner: TypeAlias = _CryptoSigner
"""A signer with a private key in memory."""

PublicKey: TypeAlias = _SSlibKey
"""An Ed25519 public key as the signing library holds it; `keyid` is its fingerprint."""

PRIVATE_NAME = "audit-key.pem"
PUBLIC_NAME = "audit-key.pub.pem"
LARGEST_KEY_FILE = 64 * 1024
SIGNATURE_BYTES = 64

_logger = logging.getLogger("safegym.audit")


def default_signer(*, notify: Callable[[str], None] | None = None) -> CryptoSigner:
    """Return a signer with the user's own key, making the key at first use.

    The private key is PEM (PKCS 8), readable by its owner only; the public key lies beside it.
    `notify` receives a note when the key is made (default: a warning in the log "safegym.audit").
    Raises AuditError if the folder cannot be written or the key is not a private Ed25519 key.
    """
    path = keys_folder() / PRIVATE_NAME
    if not path.exists() and _make_key(path):
        note = (
            f"Made a new signing key for your audit logs: {path}. Keep it private, and keep it: "
            "a run can be resumed only with its own key. "
            f"Reviewers need its public half: {path.parent / PUBLIC_NAME}"
        )
        (notify or _logger.warning)(note)
    return load_signer(path)


def default_key() -> PublicKey | None:
    """Return the public part of the user's own key, or None if none was made yet."""
    path = keys_folder() / PRIVATE_NAME
    return public_key(load_signer(path)) if path.exists() else None


def load_signer(path: str | os.PathLike[str]) -> CryptoSigner:
    """Read a private Ed25519 key (PEM, no passphrase). Raises AuditError.

    Refuses a file that others may read: `chmod 600` it.
    """
    path = Path(path)
    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise AuditError(f"Others may read the private key {path}. Run: chmod 600 {path}")
        private = serialization.load_pem_private_key(_small_file(path), None)
    except OSError as error:
        raise AuditError(f"The private key {path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise AuditError(
            f"{path} is not a private key in PEM form without a passphrase ({error}). "
            "Make one: openssl genpkey -algorithm ed25519 -out key.pem"
        ) from error
    return signer_of(private)


def signer_of(private: object) -> CryptoSigner:
    """Wrap an Ed25519 private key of `cryptography` as a signer. Raises AuditError for others."""
    if not isinstance(private, Ed25519PrivateKey):
        raise AuditError(
            f"Audit logs are signed with Ed25519 keys; this one is {type(private).__name__}."
        )
    return CryptoSigner(private, trusted_key(private.public_key()))


def trusted_key(public: Ed25519PublicKey) -> PublicKey:
    """Wrap a public key of `cryptography`; its key id is its fingerprint."""
    raw = public.public_bytes_raw()
    return PublicKey.from_crypto(public, keyid=hashlib.sha256(raw).hexdigest())


def read_key(path: str | os.PathLike[str]) -> PublicKey:
    """Read a public Ed25519 key (PEM). Raises AuditError."""
    try:
        return parse_key(_small_file(Path(path)))
    except OSError as error:
        raise AuditError(f"The key {path} cannot be read: {error.strerror}.") from error
    except AuditError as error:
        raise AuditError(f"{path}: {error}") from error


def trusted_keys(paths: Iterable[str | os.PathLike[str]]) -> tuple[PublicKey, ...]:
    """Read the public keys a reviewer trusts; without any, the user's own. Raises AuditError."""
    named = tuple(read_key(path) for path in paths)
    own = None if named else default_key()
    if not named and own is None:
        raise AuditError(
            "No trusted key was given, and you have no key of your own. Pass the signer's public "
            "key: --key KEY.pub.pem (it must reach you apart from the bundle)."
        )
    return named if own is None else (own,)


def keys_for(
    place: str | os.PathLike[str], paths: Iterable[str | os.PathLike[str]]
) -> tuple[PublicKey, ...]:
    """The trusted keys for looking at a run folder or bundle; asks for `place` first.

    Raises AuditError if there is nothing at `place`, or no key.
    """
    if not Path(place).exists():
        raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
    if Path(place).is_dir() and not (Path(place) / layout.LOG).is_file():
        raise AuditError(
            f"{place} is not a run folder: it holds no {layout.LOG}.", step="bounded reads"
        )
    return trusted_keys(paths)


def parse_key(pem: bytes) -> PublicKey:
    """Read a public Ed25519 key from PEM bytes. Raises AuditError."""
    try:
        public = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if b"PRIVATE KEY" in pem:
            raise AuditError(
                f"This is a private key, which stays with its owner; pass its public half "
                f"({PUBLIC_NAME})."
            ) from error
        raise AuditError(f"This is not a public key in PEM form: {error}.") from error
    if not isinstance(public, Ed25519PublicKey):
        raise AuditError(f"Trusted keys are Ed25519 keys; this one is {type(public).__name__}.")
    return trusted_key(public)


def public_key(signer: Signer) -> PublicKey:
    """Return a signer's public key under its fingerprint. Raises AuditError unless Ed25519."""
    key = signer.public_key
    if (key.keytype, key.scheme) != ("ed25519", "ed25519"):
        raise AuditError(
            f"Audit logs are signed with Ed25519 keys; this signer has {key.keytype}/{key.scheme}."
        )
    return trusted_key(Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.keyval["public"])))


def raw_bytes(key: PublicKey) -> bytes:
    """The 32 public bytes of an Ed25519 key."""
    return bytes.fromhex(str(key.keyval["public"]))


def public_pem(key: PublicKey) -> bytes:
    """The public key as PEM (SubjectPublicKeyInfo): the same bytes for the same key."""
    public = Ed25519PublicKey.from_public_bytes(raw_bytes(key))
    return public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def sign_bytes(signer: Signer, message: bytes) -> bytes:
    """Return the 64 bytes of an Ed25519 signature over `message`."""
    return bytes.fromhex(signer.sign(message).signature)


class KeyRing:
    """The public keys that a verifier trusts. Raises AuditError if there is none."""

    def __init__(self, keys: Iterable[PublicKey]) -> None:
        fresh = [trusted_key(Ed25519PublicKey.from_public_bytes(raw_bytes(key))) for key in keys]
        self._keys = {key.keyid: key for key in fresh}
        if not self._keys:
            raise AuditError(
                "No trusted key was given. Pass the signer's public key: --key KEY.pub.pem "
                "(it must reach you apart from the bundle)."
            )

    def __iter__(self) -> Iterator[PublicKey]:
        return iter(self._keys.values())

    def find(self, fingerprint: str) -> PublicKey | None:
        """Return the trusted key of this fingerprint, or None."""
        return self._keys.get(fingerprint)

    def verifies(self, fingerprint: str, signature: bytes, message: bytes) -> bool:
        """Whether a trusted key of this fingerprint signed `message`."""
        key = self._keys.get(fingerprint)
        if key is None or len(signature) != SIGNATURE_BYTES:
            return False
        try:
            key.verify_signature(Signature(fingerprint, signature.hex()), message)
        except UnverifiedSignatureError:
            return False
        return True


def _small_file(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(LARGEST_KEY_FILE + 1)
    if len(data) > LARGEST_KEY_FILE:
        raise AuditError(f"{path} is larger than any key file.")
    return data


def _make_key(path: Path) -> bool:
    """Write a fresh key pair; False if another process was first. Raises AuditError."""
    signer = CryptoSigner.generate_ed25519()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if path.exists():
                return False
            draft = path.with_name(f".{path.name}.draft")
            draft.unlink(missing_ok=True)
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(signer.private_bytes)
                file.flush()
                os.fsync(file.fileno())
            (path.parent / PUBLIC_NAME).write_bytes(public_pem(public_key(signer)))
            draft.replace(path)
    except OSError as error:
        raise AuditError(
            f"No signing key can be made in {path.parent}: {error.strerror}. "
            "Set SAFEGYM_HOME to a folder that you may write."
        ) from error
    return True
