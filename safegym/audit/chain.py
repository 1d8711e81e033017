"""Reading a log: lines to records, each signed, each following the one before.

Used by the verifier and, before it appends, by the writer. Steps 2 to 5 of verification.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from safegym.audit import merkle
from safegym.audit.envelope import Envelope, check_signature, read_line
from safegym.audit.limits import Limits
from safegym.audit.newer import Newer
from safegym.audit.note import (
    Checkpoint,
    check_note,
    join_notes,
    origin_of,
    parse_note,
    split_notes,
)
from safegym.audit.record import FIRST_PREVIOUS, AuditRecord, leaf_bytes, record_of
from safegym.audit.sign import KeyRing
from safegym.errors import AuditError

TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"
_TIME = re.compile(
    r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
CLOCK_SLACK = timedelta(seconds=5)
"""Wall clock against monotonic counter between neighbours, before a warning."""


@dataclass(frozen=True, slots=True)
class LogText:
    """The whole lines of a log, and what follows the last line end (a torn append)."""

    lines: tuple[bytes, ...]
    torn: bytes

    @property
    def size(self) -> int:
        """Bytes of the whole lines."""
        return sum(len(line) + 1 for line in self.lines)


def split_log(data: bytes, limits: Limits) -> LogText:
    """Split a log into lines. Raises AuditError (step "bounded reads") beyond the limits."""
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    if len(lines) > limits.records:
        raise AuditError(
            f"The log has {len(lines)} records, at most {limits.records} are read.",
            step="bounded reads",
        )
    longest = max(map(len, lines), default=0)
    if max(longest, len(data) - end) > limits.line_bytes:
        raise AuditError(
            f"The log has a line of more than {limits.line_bytes} bytes.", step="bounded reads"
        )
    return LogText(tuple(lines), data[end:])


def read_records(
    text: LogText, newer: Newer | None = None
) -> tuple[list[Envelope], list[AuditRecord]]:
    """Step "format": every line an envelope, a statement, and a payload that fits its kind.

    newer: collects what a later version may have written; without it, that is an error.
    """
    envelopes: list[Envelope] = []
    records: list[AuditRecord] = []
    for index, line in enumerate(text.lines):
        what = f"Record {index}"
        envelopes.append(read_line(line, what=what))
        records.append(record_of(envelopes[-1], line, what=what, newer=newer))
        _read_time(records[-1], what)
    return envelopes, records


def read_checkpoints(data: bytes) -> tuple[list[Checkpoint], int]:
    """Step "format": the notes of a checkpoint file, and how many bytes at its end are torn."""
    notes, torn = split_notes(data)
    if join_notes(notes) != data[: len(data) - torn]:
        raise AuditError("The checkpoint file is not a row of signed notes.", step="format")
    checkpoints = [parse_note(note, what=f"Checkpoint {i}") for i, note in enumerate(notes)]
    return checkpoints, torn


def check_signatures(
    envelopes: Sequence[Envelope], checkpoints: Sequence[Checkpoint], ring: KeyRing
) -> None:
    """Step "signatures": trusted keys signed every record and every checkpoint."""
    for index, envelope in enumerate(envelopes):
        check_signature(envelope, ring, what=f"Record {index}")
    for position, checkpoint in enumerate(checkpoints):
        signers = check_note(checkpoint, ring, what=f"Checkpoint {position}")
        if envelopes and envelopes[0].key not in signers:
            raise AuditError(
                f"Checkpoint {position} is not signed by the key that signs the records.",
                step="signatures",
            )


def check_sequence(records: Sequence[AuditRecord]) -> None:
    """Step "sequence": one run, one key, no gap, each record naming the digest before it."""
    previous, before = FIRST_PREVIOUS, None
    for index, record in enumerate(records):
        wrong = sequence_fault(record, index, previous, before)
        if wrong is not None:
            raise AuditError(f"Record {index} {wrong}.", step="sequence")
        previous, before = record.digest, record


def sequence_fault(
    record: AuditRecord, index: int, previous: str, before: AuditRecord | None
) -> str | None:
    """What is wrong with a record after `before` (None: the first), or None."""
    if record.index != index:
        return f"says that it is record {record.index}"
    if record.previous != previous:
        return "does not follow the record before it (its `previous` is another digest)"
    if before is None:
        opened = record.session == 0 and record.kind != "run_resumed"
        return None if opened else "opens the log as if it had been opened before"
    return next_fault(record, before)


def next_fault(record: AuditRecord, before: AuditRecord) -> str | None:
    """What is wrong with a record as the one after `before`, numbers and digests apart, or None."""
    if record.run != before.run:
        return f"belongs to run {record.run[:40]!r}, the one before to {before.run[:40]!r}"
    if record.actor != before.actor:
        return "is signed by another key than the one before"
    if record.kind == "run_resumed":
        return _resume_fault(record, before)
    if record.session != before.session:
        return f"jumps from session {before.session} to {record.session}"
    if before.kind == "run_closed":
        return "follows a closed run without resuming it"
    if record.monotonic < before.monotonic:
        return "has a monotonic counter below the one before"
    return _closing_fault(record)


def _resume_fault(record: AuditRecord, before: AuditRecord) -> str | None:
    if record.session != before.session + 1:
        return f"resumes session {before.session} as session {record.session}"
    return range_fault(record)


def range_fault(record: AuditRecord) -> str | None:
    """What is wrong with the range that a run_resumed or run_closed record speaks of, or None."""
    if record.kind != "run_resumed":
        return _closing_fault(record)
    start, count = record.payload["from"]["size"], record.payload["superseded"]
    if start < 1 or start + count != record.index:
        return f"says that it supersedes {count} records from {start}"
    return None


def _closing_fault(record: AuditRecord) -> str | None:
    if record.kind == "run_closed" and record.payload["records"] != record.index:
        return f"closes a run of {record.payload['records']} records"
    return None


def check_tree(
    records: Sequence[AuditRecord],
    checkpoints: Sequence[Checkpoint],
    leaves: Sequence[bytes] | None = None,
) -> bytes:
    """Step "tree": return the root. Every checkpoint and resumption commits to these records.

    leaves: leaf hashes of the lines, where the records themselves cannot be read.
    """
    hashes = [leaf_bytes(record.digest) for record in records] if leaves is None else leaves
    wanted = _commitments(records, checkpoints)
    frontier = merkle.Frontier()
    for size in range(len(hashes) + 1):
        if size:
            frontier.append(hashes[size - 1])
        for what, root in wanted.pop(size, ()):
            if frontier.root() != root:
                raise AuditError(
                    f"{what} commits to another tree of {size} records than this log has.",
                    step="tree",
                )
    for size, (first, *_) in sorted(wanted.items()):
        raise AuditError(
            f"{first[0]} commits to {size} records, but the log has {len(hashes)}: "
            "its end was cut off.",
            step="tree",
        )
    return frontier.root()


def _commitments(
    records: Sequence[AuditRecord], checkpoints: Sequence[Checkpoint]
) -> dict[int, list[tuple[str, bytes]]]:
    """What the tree must be at which size: (who says so, root)."""
    wanted: dict[int, list[tuple[str, bytes]]] = {}
    largest = 0
    for position, checkpoint in enumerate(checkpoints):
        what = f"Checkpoint {position}"
        if records and checkpoint.origin != origin_of(records[0].run):
            raise AuditError(f"{what} is of another log ({checkpoint.origin}).", step="tree")
        if checkpoint.size <= largest:
            raise AuditError(
                f"{what} commits to {checkpoint.size} records, no more than the one before "
                f"({largest}).",
                step="tree",
            )
        largest = checkpoint.size
        wanted.setdefault(checkpoint.size, []).append((what, checkpoint.root))
    for record in records:
        if record.kind == "run_resumed":
            start = record.payload["from"]
            pair = (f"Record {record.index} (run_resumed)", leaf_bytes(start["root"]))
            wanted.setdefault(start["size"], []).append(pair)
    return wanted


def clock_warnings(records: Sequence[AuditRecord]) -> Iterator[str]:
    """Yield where the claimed wall clock went back, or parted from the monotonic counter."""
    times = [_read_time(record, "") for record in records]
    for (before, record), (then, now) in zip(pairwise(records), pairwise(times), strict=True):
        wall = now - then
        if wall < timedelta(0):
            yield (
                f"Record {record.index} claims a time before record {before.index}: the clock "
                f"was set back by {-wall.total_seconds():g} s."
            )
        elif record.session == before.session:
            counted = timedelta(microseconds=record.monotonic - before.monotonic)
            if abs(wall - counted) > CLOCK_SLACK:
                yield (
                    f"Between records {before.index} and {record.index} the clock moved "
                    f"{wall.total_seconds():g} s, the monotonic counter "
                    f"{counted.total_seconds():g} s."
                )


def _read_time(record: AuditRecord, what: str) -> datetime:
    try:
        if _TIME.fullmatch(record.time) is None:
            raise ValueError(record.time)
        return datetime.fromisoformat(record.time)
    except ValueError as error:
        raise AuditError(f"{what} has no time in the form {TIME_FORMAT}.", step="format") from error
