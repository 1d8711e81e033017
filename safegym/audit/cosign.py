"""Cosignatures: a second key signs a checkpoint, so that the first one cannot tell another tale.

The signed note gets one more signature line, under the cosigner's own name. Source: C2SP signed
note. A cosigner who holds only a bundle writes the note to a file; the owner takes it in.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from safegym.audit import layout
from safegym.audit.bounded import read_bounded
from safegym.audit.chain import read_checkpoints
from safegym.audit.durable import sync_folder
from safegym.audit.limits import Limits
from safegym.audit.note import Checkpoint, NoteSignature, cosigned, join_notes, own_line
from safegym.audit.rederive import Rederive
from safegym.audit.sign import PublicKey, Signer, public_key
from safegym.audit.source import FolderSource
from safegym.audit.verify import verify
from safegym.audit.verify_report import VerifyReport
from safegym.audit.writer_lock import writer_lock
from safegym.errors import AuditError


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A checkpoint that a second key signed, and how the log verified before it did."""

    checkpoint: Checkpoint
    report: VerifyReport


def cosign(
    run_or_bundle: str | os.PathLike[str],
    *,
    name: str,
    signer: Signer,
    keys: Iterable[PublicKey],
) -> Witnessed:
    """Verify a log, then sign its last checkpoint as well; nothing is written.

    name: stands on the signature line; no spaces, no "+". signer: the second key. keys: trusted
    keys of the run. Raises AuditError if the log is broken or has no checkpoint, if the signer is
    the run's own key, or has signed before.
    """
    report = checked(run_or_bundle, keys)
    if public_key(signer).keyid == report.records[0].actor:
        raise AuditError(
            "This is the key that signs the run: a cosignature is by another one. Make one: "
            "safegym keys create --out witness.pem"
        )
    return Witnessed(cosigned(report.checkpoints[-1], name, signer), report)


def checked(
    place: str | os.PathLike[str], keys: Iterable[PublicKey], rederive: Rederive | None = None
) -> VerifyReport:
    """Verify what somebody is about to sign. Raises AuditError if it is broken or unsealed."""
    report = verify(place, keys=keys, rederive=rederive)
    broken = report.broken
    if broken is not None:
        raise AuditError(
            f"{place} is broken at step {broken.number}, {broken.name}: {broken.detail} "
            "Nothing was signed.",
            step=broken.name,
        )
    if report.slice is not None or not report.checkpoints or not report.records:
        raise AuditError(
            f"{place} has no signed checkpoint over a whole log, so there is nothing to sign yet.",
            step="tree",
        )
    return report


def read_note(path: str | os.PathLike[str]) -> Checkpoint:
    """Read one cosigned note from a file. Raises AuditError."""
    data = read_bounded(path, "note", Limits().line_bytes)
    notes, torn = read_checkpoints(data)
    if len(notes) != 1 or torn:
        raise AuditError(f"{path} is not one signed note.", step="format")
    return notes[0]


def take_note(run_folder: str | os.PathLike[str], note: Checkpoint) -> Checkpoint:
    """Add a note's cosignatures to the same checkpoint of a run; returns it as it now stands.

    The checkpoint file is replaced whole or not at all. Raises RunFolderError while a run is at
    work in the folder; AuditError if the run has no such checkpoint, or nothing is new.
    """
    folder = Path(run_folder)
    lock = writer_lock(folder, make=False)
    try:
        notes = _notes(folder)
        place = _place(notes, note)
        known = notes[place].signatures
        fresh = [line for line in note.signatures if not _stands(line, known)]
        if not fresh:
            raise AuditError(
                f"The checkpoint of {note.size} records carries these signatures already."
            )
        notes[place] = replace(notes[place], signatures=(*known, *fresh))
        _write(folder, notes)
    finally:
        lock.release()
    return notes[place]


def _stands(line: NoteSignature, known: Sequence[NoteSignature]) -> bool:
    """Whether a line by this name and key stands there. Raises AuditError if it differs."""
    for other in known:
        if (line.name, line.key_hash) == (other.name, other.key_hash):
            if line.signature != other.signature:
                raise AuditError("The note has another signature by a key that signed before.")
            return True
    return False


def _place(notes: Sequence[Checkpoint], note: Checkpoint) -> int:
    for place, own in enumerate(notes):
        if own.text() == note.text() and own_line(own) == own_line(note):
            return place
    raise AuditError(
        f"The note is over {note.size} records of {note.origin[:60]!r}, and this run has no such "
        "checkpoint.",
        step="tree",
    )


def _notes(folder: Path) -> list[Checkpoint]:
    limits = Limits()
    data = FolderSource(folder, limits).read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    notes, torn = read_checkpoints(data)
    if torn:
        raise AuditError("The last checkpoint is torn; resume the run first.", step="format")
    return notes


def _write(folder: Path, notes: Sequence[Checkpoint]) -> None:
    path = folder / layout.CHECKPOINTS
    draft = folder / f".{layout.CHECKPOINTS}.draft"
    try:
        with draft.open("wb") as file:
            file.write(join_notes([note.note() for note in notes]))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(folder)
    except OSError as error:
        raise AuditError(f"{path} cannot be written: {error.strerror}.", step="append") from error
    finally:
        draft.unlink(missing_ok=True)
