"""What people add to a log, also after the run has ended: one rule for all of it.

A withdrawal, a waiver, a review and a tombstone are a person's word. Each is one more record, by
the key that signed the run; the log is opened again for it and closed as it was closed. It stands
also where a resumed run sets its record aside: a trainer does not undo what a person decided.
"""

import contextlib
import os
from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from safegym.audit.kinds import BY_PEOPLE
from safegym.audit.log import AuditLog
from safegym.audit.record import AuditRecord
from safegym.audit.sign import Signer, signer_for

AFTER_THE_END = BY_PEOPLE | {"run_resumed"}
"""Kinds that may follow the end of a run without anything being trained again."""


@contextlib.contextmanager
def reopened(
    run_folder: str | os.PathLike[str], *, signer: Signer | None = None, reason: str
) -> Generator[AuditLog]:
    """Open a run's log for a person's record; afterwards it is left as it was found.

    signer: the key that the run was signed with, None for the user's own (present or former) one.
    A run that had ended is closed with the same outcome; another is sealed by a checkpoint, and can
    go on. Raises RunFolderError while a run is at work in the folder; AuditError if the log is
    broken or of another key (then nothing is written).
    """
    folder = Path(run_folder)
    signer = signer_for(folder) if signer is None else signer
    with AuditLog.open(folder, signer=signer, resume_from="end", reason=reason) as log:
        before = log.records()
        try:
            yield log
        finally:
            _leave(log, before)


def person() -> str:
    """The user name, "unknown" where the system has none for this process."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def standing(
    records: Sequence[AuditRecord], superseded: AbstractSet[int]
) -> tuple[AuditRecord, ...]:
    """The records that count: those in force, and what people said."""
    return tuple(r for r in records if r.kind in BY_PEOPLE or r.index not in superseded)


def _leave(log: AuditLog, before: Sequence[AuditRecord]) -> None:
    """Close the log again as the run had ended, or seal it for the run to go on."""
    ended = _ending(before)
    if ended is None:
        log.checkpoint()
        log.release()
    else:
        log.close(**ended)


def _ending(records: Sequence[AuditRecord]) -> dict[str, Any] | None:
    """How the run had ended: what its last run_closed record says, unless it went on since."""
    for record in reversed(records):
        if record.kind == "run_closed":
            return {name: value for name, value in record.payload.items() if name != "records"}
        if record.kind not in AFTER_THE_END:
            return None
    return None
