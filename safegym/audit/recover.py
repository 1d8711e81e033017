"""What a resuming writer finds in a run folder, and what it drops: torn ends, nothing else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safegym.audit import layout, merkle
from safegym.audit.chain import (
    check_sequence,
    check_signatures,
    check_tree,
    read_checkpoints,
    read_records,
    split_log,
)
from safegym.audit.durable import cut
from safegym.audit.limits import Limits
from safegym.audit.note import Checkpoint
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.sign import KeyRing, PublicKey
from safegym.audit.source import FolderSource
from safegym.digest import PREFIX, digest_bytes
from safegym.errors import AuditError, RunFolderError


@dataclass(frozen=True, slots=True)
class Recovered:
    """A log as found: its whole records and checkpoints, and the torn bytes that were dropped."""

    records: tuple[AuditRecord, ...]
    checkpoints: tuple[Checkpoint, ...]
    torn_record: bytes = b""
    torn_checkpoint_bytes: int = 0

    def message(self) -> str:
        """What was recovered, in a sentence; "" if nothing was lost."""
        if not self.torn_record and not self.torn_checkpoint_bytes:
            return ""
        return (
            f"Recovered to record {len(self.records) - 1}: dropped {len(self.torn_record)} bytes "
            f"of a torn record and {self.torn_checkpoint_bytes} bytes of a torn checkpoint."
        )


def recover(folder: Path, key: PublicKey) -> Recovered:
    """Check a log with the writer's key and drop its torn end from the disk.

    Raises RunFolderError if there is no whole record; AuditError if the log does not verify.
    Nothing is changed on disk unless all of the rest verifies.
    """
    limits = Limits()
    source = FolderSource(folder, limits)
    text = split_log(source.read(layout.LOG, limits.log_bytes), limits)
    if not text.lines:
        raise RunFolderError(
            f"The log in {folder} holds no whole record, so there is nothing to resume; start "
            "again with AuditLog.create(run_folder)."
        )
    notes = b""
    if source.has(layout.CHECKPOINTS):
        notes = source.read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    envelopes, records = read_records(text)
    checkpoints, torn_notes = read_checkpoints(notes)
    check_signatures(envelopes, checkpoints, KeyRing([key]))
    check_sequence(records)
    check_tree(records, checkpoints)
    if text.torn:
        cut(folder / layout.LOG, text.size)
    if torn_notes:
        cut(folder / layout.CHECKPOINTS, len(notes) - torn_notes)
    return Recovered(tuple(records), tuple(checkpoints), text.torn, torn_notes)


def resumption(
    found: Recovered, start: int | Literal["checkpoint", "end"], reason: str
) -> dict[str, Any]:
    """The payload of run_resumed. Raises AuditError (step "payload") for a start outside."""
    total = len(found.records)
    if start == "checkpoint":
        size = found.checkpoints[-1].size if found.checkpoints else total
    else:
        size = total if start == "end" else start
    if not 1 <= size <= total:
        raise AuditError(
            f"Asked to resume after {size} records; the log has {total}, so 1 to {total} can stay.",
            step="payload",
        )
    root = merkle.root([leaf_bytes(record.digest) for record in found.records[:size]])
    torn = {"bytes": len(found.torn_record), "digest": digest_bytes(found.torn_record)}
    return {
        "from": {"size": size, "root": PREFIX + root.hex()},
        "superseded": total - size,
        "torn": torn if found.torn_record else None,
        "reason": reason,
    }
