"""One key: the public part, a signer with the private part, and their files.

A key is known by its fingerprint: the SHA-256 of its 32 public bytes, in hex.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
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

from safegym.errors import AuditError

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


def load_signer(path: str | os.PathLike[str]) -> CryptoSigner:
    """Read a private Ed25519 key (PEM, no passphrase). Raises AuditError.

    Refuses a file that others may read: `chmod 600` it.
    """
    path = Path(path)
    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise AuditError(f"Others may read the private key {path}. Run: chmod 600 {path}")
        private = serialization.load_pem_private_key(small_file(path), None)
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
        return parse_key(small_file(Path(path)))
    except OSError as error:
        raise AuditError(f"The key {path} cannot be read: {error.strerror}.") from error
    except AuditError as error:
        raise AuditError(f"{path}: {error}") from error


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


def signed_by(key: PublicKey, signature: bytes, message: bytes) -> bool:
    """Whether `key` made this Ed25519 signature over `message`."""
    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        key.verify_signature(Signature(key.keyid, signature.hex()), message)
    except UnverifiedSignatureError:
        return False
    return True


def small_file(path: Path) -> bytes:
    """The bytes of a file that is no larger than a key file may be. Raises AuditError, OSError."""
    with path.open("rb") as file:
        data = file.read(LARGEST_KEY_FILE + 1)
    if len(data) > LARGEST_KEY_FILE:
        raise AuditError(f"{path} is larger than any key file.")
    return data
