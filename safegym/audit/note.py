"""Signed checkpoints: the size and root of the log, as a signed note.

Source: C2SP signed-note (format, key hash, Ed25519 signature type 0x01) and C2SP tlog-checkpoint
(origin, size, root). `checkpoints.txt` holds the notes one after another, a blank line between.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from safegym.audit.envelope import decode_base64
from safegym.audit.key import PublicKey, Signer, public_key, raw_bytes, sign_bytes, signed_by
from safegym.audit.ring import KeyRing
from safegym.errors import AuditError

ORIGIN = "safegym.audit/"
ED25519 = b"\x01"
_DASH = "\N{EM DASH} "
_SIZE = re.compile(r"(0|[1-9][0-9]{0,15})\Z")
_NAME = re.compile(r"[\x21-\x2a\x2c-\x7e]+\Z")


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line: the key's name, the first 4 bytes of its hash, the signature."""

    name: str
    key_hash: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The log `origin` had `size` records and this root (32 bytes) when the note was signed."""

    origin: str
    size: int
    root: bytes
    signatures: tuple[NoteSignature, ...] = ()

    def text(self) -> str:
        """The signed text: three lines."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode('ascii')}\n"

    def note(self) -> str:
        """The whole note: text, blank line, signature lines."""
        lines = [
            f"{_DASH}{s.name} {base64.b64encode(s.key_hash + s.signature).decode('ascii')}\n"
            for s in self.signatures
        ]
        return self.text() + "\n" + "".join(lines)


def origin_of(run: str) -> str:
    """Origin line of a run's checkpoints, and the name its key signs them under."""
    return ORIGIN + run


def key_hash(name: str, key: PublicKey) -> bytes:
    """The 4 bytes by which a signature line names its key."""
    return hashlib.sha256(name.encode("utf-8") + b"\n" + ED25519 + raw_bytes(key)).digest()[:4]


def sign_checkpoint(run: str, size: int, root: bytes, signer: Signer) -> Checkpoint:
    """Sign that the run's log has this size and root."""
    origin = origin_of(run)
    bare = Checkpoint(origin, size, root)
    signature = NoteSignature(
        origin,
        key_hash(origin, public_key(signer)),
        sign_bytes(signer, bare.text().encode("utf-8")),
    )
    return Checkpoint(origin, size, root, (signature,))


def check_note(checkpoint: Checkpoint, ring: KeyRing, *, what: str) -> tuple[str, ...]:
    """Return the fingerprints of the trusted keys that signed, each counted once.

    Lines by keys that are not trusted count for nothing, as signed notes have it (`unknown_lines`
    lists them). Raises AuditError (step "signatures") where no trusted key signed, a line does not
    match the trusted key that it names, or a key signs twice.
    """
    message = checkpoint.text().encode("utf-8")
    signers: list[str] = []
    for entry in checkpoint.signatures:
        key = _named_key(entry, ring)
        if key is None:
            continue
        if not signed_by(key, entry.signature, message):
            raise AuditError(f"{what} does not match its signature.", step="signatures")
        if key.keyid in signers:
            raise AuditError(f"{what} is signed twice by one key.", step="signatures")
        signers.append(key.keyid)
    lines = [(entry.name, entry.key_hash) for entry in checkpoint.signatures]
    if len(set(lines)) < len(lines):
        raise AuditError(f"{what} is signed twice by one key.", step="signatures")
    if not signers:
        raise AuditError(f"{what} is signed by a key that you do not trust.", step="signatures")
    return tuple(signers)


def unknown_lines(checkpoint: Checkpoint, ring: KeyRing) -> tuple[str, ...]:
    """Names on signature lines whose keys are not trusted."""
    return tuple(e.name for e in checkpoint.signatures if _named_key(e, ring) is None)


def own_line(checkpoint: Checkpoint) -> Checkpoint:
    """The note as the run's key signed it: cosignatures left out."""
    lines = tuple(e for e in checkpoint.signatures if e.name == checkpoint.origin)
    return replace(checkpoint, signatures=lines)


def cosigned(checkpoint: Checkpoint, name: str, signer: Signer) -> Checkpoint:
    """The note with one more signature line, by another key under its own name.

    Raises AuditError for a name that no signature line can have, and if the key signed already.
    """
    if not _NAME.match(name) or name == checkpoint.origin:
        raise AuditError(
            f"{name[:60]!r} cannot stand on a signature line: use a name without spaces and '+', "
            "such as example.org/ann."
        )
    key = public_key(signer)
    if any(key_hash(entry.name, key) == entry.key_hash for entry in checkpoint.signatures):
        raise AuditError(f"This key has signed the checkpoint of {checkpoint.size} records before.")
    signature = sign_bytes(signer, checkpoint.text().encode("utf-8"))
    line = NoteSignature(name, key_hash(name, key), signature)
    return replace(checkpoint, signatures=(*checkpoint.signatures, line))


def _named_key(entry: NoteSignature, ring: KeyRing) -> PublicKey | None:
    return next(
        (key for key in ring.attesting if key_hash(entry.name, key) == entry.key_hash), None
    )


def split_notes(data: bytes) -> tuple[list[str], int]:
    """Split the notes of a checkpoint file; also return how many bytes at its end are torn.

    A note is whole when a blank line, at least one signature line and the last line's end are
    there. Raises AuditError (step "format") if the whole part is not such notes.
    """
    whole = _last_end(data)
    try:
        text = data[:whole].decode("utf-8")
    except UnicodeDecodeError as error:
        raise AuditError(f"The checkpoint file is not UTF-8: {error}.", step="format") from error
    blocks = text.removesuffix("\n").split("\n\n") if text else []
    if len(blocks) % 2:
        raise AuditError("The checkpoint file is not a row of signed notes.", step="format")
    notes = [f"{blocks[i]}\n\n{blocks[i + 1]}\n" for i in range(0, len(blocks), 2)]
    return notes, len(data) - whole


def _last_end(data: bytes) -> int:
    """Length of the part that ends in a whole note: its last line is a signature line."""
    end = data.rfind(b"\n") + 1
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        if data[start:end].startswith(_DASH.encode("utf-8")):
            return end
        end = start
    return 0


def parse_note(text: str, *, what: str) -> Checkpoint:
    """Read one signed note. Raises AuditError (step "format"); checks no signature."""
    body, blank, signed = text.partition("\n\n")
    lines = body.split("\n")
    if not blank or len(lines) != 3 or not _NAME.match(lines[0]) or not _SIZE.match(lines[1]):
        raise AuditError(f"{what} is not a checkpoint (origin, size, root).", step="format")
    root = decode_base64(lines[2], what=what)
    signatures = tuple(_signature_line(line, what) for line in signed.split("\n")[:-1])
    checkpoint = Checkpoint(lines[0], int(lines[1]), root, signatures)
    if len(root) != 32 or not signatures or checkpoint.note() != text:
        raise AuditError(f"{what} is not a checkpoint in its one spelling.", step="format")
    return checkpoint


def _signature_line(line: str, what: str) -> NoteSignature:
    parts = line.removeprefix(_DASH).split(" ")
    if not line.startswith(_DASH) or len(parts) != 2 or not _NAME.match(parts[0]):
        raise AuditError(f"{what} has a line that is not a signature.", step="format")
    data = decode_base64(parts[1], what=what)
    return NoteSignature(parts[0], data[:4], data[4:])


def join_notes(notes: Sequence[str]) -> bytes:
    """The bytes of a checkpoint file that holds these notes."""
    return "\n".join(notes).encode("utf-8")
