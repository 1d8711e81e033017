"""The user's own signing keys: the present one, made at first use, and former ones."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from safegym.audit import layout
from safegym.audit.durable import sync_folder
from safegym.audit.key import (
    PRIVATE_NAME,
    PUBLIC_NAME,
    CryptoSigner,
    PublicKey,
    load_signer,
    public_key,
    public_pem,
    read_key,
)
from safegym.audit.trust_file import read_trust, stamp
from safegym.errors import AuditError
from safegym.home import keys_folder

FORMER = "former"
"""Folder of the keys that a rotation replaced: their runs can be resumed only with them."""
_logger = logging.getLogger("safegym.audit")


def default_signer(*, notify: Callable[[str], None] | None = None) -> CryptoSigner:
    """Return a signer with the user's own key, making the key at first use.

    The private key is PEM (PKCS 8), readable by its owner only; the public key lies beside it.
    `notify` receives a note when the key is made (default: a warning in the log "safegym.audit").
    Raises AuditError if the folder cannot be written or the key is not a private Ed25519 key.
    """
    path = keys_folder() / PRIVATE_NAME
    if not path.exists() and make_key(path):
        note = (
            f"Made a new signing key for your audit logs: {path}. Keep it private, and keep it: "
            "a run can be resumed only with its own key. "
            f"Reviewers need its public half: {path.parent / PUBLIC_NAME}"
        )
        (notify or _logger.warning)(note)
    return _unrevoked(load_signer(path))


def default_key() -> PublicKey | None:
    """Return the public part of the user's own key, or None if none was made yet."""
    path = keys_folder() / PRIVATE_NAME
    return public_key(load_signer(path)) if path.exists() else None


def own_key_path() -> Path:
    """Where the user's present private key is, or will be."""
    return keys_folder() / PRIVATE_NAME


def former_signers() -> tuple[CryptoSigner, ...]:
    """Signers with the user's former keys, by file name. Raises AuditError."""
    return tuple(load_signer(path) for path in _former_files())


def own_keys() -> tuple[PublicKey, ...]:
    """The public parts of the user's keys: the present one first, then former ones."""
    own = default_key()
    former = tuple(public_key(signer) for signer in former_signers())
    return former if own is None else (own, *former)


def signer_for(run_folder: str | os.PathLike[str]) -> CryptoSigner:
    """The user's key that signed the run in this folder: the present one, or a former one.

    Falls back on the present key, which is then refused where it has to fit. Which key it is goes
    by the copy in the run folder, which is no proof of anything: the log is checked with the key.
    """
    present = default_signer()
    former = _former_files()
    if not former:
        return present
    try:
        wanted = read_key(Path(run_folder) / layout.PUBLIC_KEY).keyid
    except AuditError:
        return present
    signers = (present, *map(load_signer, former))
    return _unrevoked(next((s for s in signers if public_key(s).keyid == wanted), present))


def make_key(path: Path) -> bool:
    """Write a fresh key pair; False if there is one by now. Raises AuditError.

    path: of the private half (mode 0600); the public half becomes NAME.pub.pem beside it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if path.exists():
                return False
            signer = CryptoSigner.generate_ed25519()
            draft = write_private(path.with_name(f".{path.name}.draft"), signer)
            public_path(path).write_bytes(public_pem(public_key(signer)))
            draft.replace(path)
            sync_folder(path.parent)
    except OSError as error:
        raise AuditError(
            f"No signing key can be made in {path.parent}: {error.strerror}. "
            "Set SAFEGYM_HOME to a folder that you may write."
        ) from error
    return True


def write_private(path: Path, signer: CryptoSigner) -> Path:
    """Write a private key that only its owner may read, durably; replaces a draft left behind."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(signer.private_bytes)
        file.flush()
        os.fsync(file.fileno())
    return path


def public_path(path: Path) -> Path:
    """Where the public half of a private key file lies: key.pem has key.pub.pem beside it."""
    return path.with_name(path.name.removesuffix(".pem") + ".pub.pem")


def _unrevoked(signer: CryptoSigner) -> CryptoSigner:
    """The signer. Raises AuditError if the user's trust file says that its key is revoked."""
    entry = read_trust().find(public_key(signer).keyid)
    if entry is not None and entry.revocation is not None:
        raise AuditError(
            f"Your key {entry.key.keyid[:16]}... was revoked on {stamp(entry.revocation.on)} "
            f"({entry.revocation.why}), so it signs nothing more. Make a new one: safegym keys "
            "rotate"
        )
    return signer


def _former_files() -> list[Path]:
    folder = keys_folder() / FORMER
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.glob("*.pem") if not p.name.endswith(".pub.pem"))
