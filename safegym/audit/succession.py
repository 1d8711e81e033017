"""Rotation: a new key of one's own, vouched for by the one before.

`audit-key.succession.jsonl`, beside the public key, holds one DSSE line a rotation: the old key
signs an in-toto Statement that names the new one. Whoever trusts the old key can follow it.
"""

import base64
import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from filelock import FileLock

from safegym.audit.bounded import read_bounded
from safegym.audit.durable import sync_file, sync_folder
from safegym.audit.envelope import decode_base64, read_line, seal
from safegym.audit.key import (
    PUBLIC_NAME,
    CryptoSigner,
    PublicKey,
    load_signer,
    public_key,
    public_pem,
    raw_bytes,
    signed_by,
    trusted_key,
)
from safegym.audit.own_keys import FORMER, own_key_path, public_path, write_private
from safegym.audit.record import STATEMENT_TYPE
from safegym.audit.schema import DATE, Fields, Items, Table, Text
from safegym.audit.trust_file import stamp
from safegym.audit.values import canonical, parse
from safegym.errors import AuditError

SUCCESSION_NAME = "audit-key.succession.jsonl"
PREDICATE_TYPE = "urn:safegym:key-succession:1"
LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Succession:
    """One rotation: the fingerprint of the old key, the new key, and when (as claimed, UTC)."""

    old: str
    new: PublicKey
    time: str


def rotate() -> tuple[PublicKey, PublicKey]:
    """Replace the user's own key by a new one that the old one signs; returns (old, new).

    The old private key moves to the folder `former`: its runs can be resumed only with it, and
    verify with it as before. Raises AuditError if there is no key yet, or the disk fails; the old
    key then stays.
    """
    path = own_key_path()
    if not path.exists():
        raise AuditError("You have no key yet, so there is none to rotate: safegym keys create")
    try:
        with FileLock(path.with_name(f".{path.name}.lock")):
            old = load_signer(path)
            fresh = CryptoSigner.generate_ed25519()
            draft = write_private(path.with_name(f".{path.name}.draft"), fresh)
            _keep_former(path, old)
            new = public_key(fresh)
            _append(path.with_name(SUCCESSION_NAME), _line(old, new))
            draft.replace(path)
            (path.parent / PUBLIC_NAME).write_bytes(public_pem(new))
            sync_folder(path.parent)
    except OSError as error:
        path.with_name(f".{path.name}.draft").unlink(missing_ok=True)
        raise AuditError(
            f"No new key can be made in {path.parent}: {error.strerror}. The old one stays."
        ) from error
    return public_key(old), new


def read_successions(path: str | os.PathLike[str]) -> tuple[bytes, ...]:
    """The lines of a succession file, unchecked. Raises AuditError."""
    data = read_bounded(path, "succession", LARGEST)
    return tuple(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1])


def follow(
    lines: Iterable[bytes], trusted: Sequence[PublicKey], revoked: Container[str] = ()
) -> tuple[Succession, ...]:
    """The rotations that lead on from trusted keys, in order; each signed by the key before.

    revoked: fingerprints of keys that vouch for none, also where a trusted key leads to them.
    Lines by other keys lead nowhere and are passed over. Raises AuditError (step "signatures") for
    a line that names a trusted key and is not signed by it.
    """
    known = {key.keyid: key for key in trusted}
    found = list[Succession]()
    for number, line in enumerate(lines):
        what = f"Succession {number}"
        envelope = read_line(line, what=what)
        old = known.get(envelope.key)
        if old is None or old.keyid in revoked:
            continue
        if not signed_by(old, envelope.signature, envelope.signed_bytes()):
            raise AuditError(f"{what} does not match its signature.", step="signatures")
        found.append(_succession(envelope.payload, what))
        if found[-1].old != old.keyid:
            raise AuditError(f"{what} speaks for another key.", step="signatures")
        known[found[-1].new.keyid] = found[-1].new
    return tuple(found)


def _line(old: CryptoSigner, new: PublicKey) -> bytes:
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": "key", "digest": {"sha256": new.keyid}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "old": public_key(old).keyid,
            "new": new.keyid,
            "public_key": base64.b64encode(raw_bytes(new)).decode("ascii"),
            "time": stamp(datetime.now(UTC)),
        },
    }
    return seal(canonical(statement), old).line()


def _succession(payload: bytes, what: str) -> Succession:
    statement = parse(payload, what=what)
    wrong = _STATEMENT.fault(statement)
    if wrong is not None:
        raise AuditError(f"{what} is not a rotation of keys: {wrong}.", step="format")
    told = statement["predicate"]
    raw = decode_base64(told["public_key"], what=what)
    if len(raw) != 32:
        raise AuditError(f"{what} names no Ed25519 key.", step="format")
    new = trusted_key(Ed25519PublicKey.from_public_bytes(raw))
    subject = [{"name": "key", "digest": {"sha256": new.keyid}}]
    if told["new"] != new.keyid or statement["subject"] != subject:
        raise AuditError(f"{what} names its new key in two ways.", step="format")
    return Succession(told["old"], new, told["time"])


def _keep_former(path: Path, old: CryptoSigner) -> None:
    folder = path.parent / FORMER
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = write_private(folder / f"{public_key(old).keyid[:16]}.pem", old)
    public_path(kept).write_bytes(public_pem(public_key(old)))
    sync_folder(folder)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line + b"\n")
    sync_file(path)


_STATEMENT = Fields(
    {
        "_type": Text(STATEMENT_TYPE, (STATEMENT_TYPE,)),
        "subject": Items(Table(), least=1),
        "predicateType": Text(PREDICATE_TYPE, (PREDICATE_TYPE,)),
        "predicate": Fields(
            {
                "old": Text("a fingerprint"),
                "new": Text("a fingerprint"),
                "public_key": Text("a key in base64"),
                "time": Text("a time", pattern=DATE),
            },
            closed=True,
        ),
    },
    closed=True,
)
