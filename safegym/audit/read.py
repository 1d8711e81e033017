"""Reading a log without judging it: for reports and for the run's own writer."""

import os

from safegym.audit import layout
from safegym.audit.chain import read_checkpoints, read_records, split_log
from safegym.audit.limits import Limits
from safegym.audit.note import Checkpoint
from safegym.audit.record import AuditRecord
from safegym.audit.source import open_source


def read_log(run_or_bundle: str | os.PathLike[str]) -> tuple[AuditRecord, ...]:
    """Return the whole records of a run folder or bundle, superseded ones included.

    Checks format only: use `verify.verify` before believing them. A torn last line is left out.
    Raises AuditError.
    """
    limits = Limits()
    source = open_source(run_or_bundle, limits)
    try:
        text = split_log(source.read(layout.LOG, limits.log_bytes), limits)
    finally:
        source.close()
    return tuple(read_records(text)[1])


def read_checkpoint_file(run_or_bundle: str | os.PathLike[str]) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of a run folder or bundle, signatures unchecked. Raises AuditError."""
    limits = Limits()
    source = open_source(run_or_bundle, limits)
    try:
        if not source.has(layout.CHECKPOINTS):
            return ()
        data = source.read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    finally:
        source.close()
    return tuple(read_checkpoints(data)[0])
