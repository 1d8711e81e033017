"""Steps 1 to 5 of verification: reads, format, signatures, sequence, tree."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from safegym.audit import layout
from safegym.audit.chain import (
    LogText,
    check_sequence,
    check_signatures,
    check_tree,
    clock_warnings,
    read_checkpoints,
    read_records,
    split_log,
)
from safegym.audit.envelope import Envelope
from safegym.audit.limits import Limits
from safegym.audit.merkle import root as tree_root
from safegym.audit.note import Checkpoint, check_note
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.schema import DIGEST
from safegym.audit.sign import KeyRing, public_pem
from safegym.audit.source import Source
from safegym.audit.verify_report import Result, Step, VerifyReport
from safegym.digest import PREFIX
from safegym.errors import AuditError

Level = Literal["broken", "incomplete", "skipped", "warning", "note"]
Pinned = Checkpoint | tuple[int, str]
"""A checkpoint that a reviewer noted: signed, or as (size, "sha256:..." root)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a step found, in words."""

    level: Level
    detail: str


@dataclass(slots=True)
class Examination:
    """What the steps have read so far. Later steps trust only what earlier ones have checked."""

    place: Path
    ring: KeyRing
    limits: Limits
    pinned: tuple[int, bytes] | None = None
    run: str | None = None
    policy: str | None = None
    source: Source | None = None
    text: LogText = field(default_factory=lambda: LogText((), b""))
    notes: bytes = b""
    envelopes: list[Envelope] = field(default_factory=list[Envelope])
    records: list[AuditRecord] = field(default_factory=list[AuditRecord])
    checkpoints: list[Checkpoint] = field(default_factory=list[Checkpoint])
    root: bytes = b""
    superseded: frozenset[int] = frozenset()
    covered: set[str] = field(default_factory=set[str])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def files(self) -> Source:
        """The opened source. Raises AuditError before step 1."""
        if self.source is None:
            raise AuditError("Nothing was opened yet.", step="bounded reads")
        return self.source

    def report(self, steps: tuple[Step, ...]) -> VerifyReport:
        """Sum up: broken over incomplete over intact."""
        statuses = {step.result for step in steps}
        result: Result = "intact"
        if "broken" in statuses:
            result = "broken"
        elif "incomplete" in statuses:
            result = "incomplete"
        return VerifyReport(
            result,
            steps,
            tuple(self.records),
            PREFIX + self.root.hex() if self.root else "",
            tuple(self.warnings),
            tuple(self.checkpoints),
            self.superseded,
            self.records[0].run if self.records else "",
        )


def bounded_reads(
    examined: Examination, opener: Callable[[Path, Limits], Source]
) -> Iterator[Finding]:
    """Step 1: open the folder or bundle, refuse links and foreign paths, read within limits."""
    limits = examined.limits
    examined.source = opener(examined.place, limits)
    names = examined.source.names()
    if layout.LOG not in names:
        raise AuditError(f"{examined.place} holds no {layout.LOG}.", step="bounded reads")
    examined.text = split_log(examined.source.read(layout.LOG, limits.log_bytes), limits)
    if layout.CHECKPOINTS in names:
        examined.notes = examined.source.read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    yield Finding("note", f"{len(names)} files")


def form(examined: Examination) -> Iterator[Finding]:
    """Step 2: canonical JSON, DSSE envelopes, in-toto statements, payloads that fit their kind."""
    examined.checkpoints, torn_notes = read_checkpoints(examined.notes)
    examined.envelopes, examined.records = read_records(examined.text)
    if examined.text.torn:
        yield Finding(
            "incomplete",
            f"the last line is torn ({len(examined.text.torn)} bytes after record "
            f"{len(examined.records) - 1}); resuming the run drops and reports it",
        )
    if torn_notes:
        yield Finding("incomplete", f"the last checkpoint is torn ({torn_notes} bytes)")
    yield Finding("note", f"{len(examined.records)} records")


def signatures(examined: Examination) -> Iterator[Finding]:
    """Step 3: trusted keys signed every record and checkpoint."""
    check_signatures(examined.envelopes, examined.checkpoints, examined.ring)
    signer = examined.ring.find(examined.envelopes[0].key) if examined.envelopes else None
    if signer is not None and layout.PUBLIC_KEY in examined.files.names():
        copy = examined.files.read(layout.PUBLIC_KEY, 64 * 1024)
        if copy != public_pem(signer):
            raise AuditError(
                f"{layout.PUBLIC_KEY} in the bundle is another key than the one that you trust "
                "and that signs the records.",
                step="signatures",
            )
    if signer is not None:
        yield Finding("note", f"signed by {signer.keyid[:16]}...")


def sequence(examined: Examination) -> Iterator[Finding]:
    """Step 4: one run, one key, an unbroken chain that ends in run_closed."""
    records = examined.records
    check_sequence(records)
    if records and examined.run is not None and records[0].run != examined.run:
        raise AuditError(
            f"The log is of run {records[0].run[:40]!r}, you asked about {examined.run!r}.",
            step="sequence",
        )
    if not records:
        yield Finding("incomplete", "the log holds no record")
    elif records[-1].kind != "run_closed":
        yield Finding(
            "incomplete",
            f"the run is not closed: record {records[-1].index} ({records[-1].kind}) is the last",
        )
    for warning in clock_warnings(records):
        yield Finding("warning", warning)


def tree(examined: Examination) -> Iterator[Finding]:
    """Step 5: the Merkle tree against every checkpoint, and against the pinned one."""
    records, checkpoints = examined.records, examined.checkpoints
    examined.root = check_tree(records, checkpoints)
    signed = checkpoints[-1].size if checkpoints else 0
    if signed < len(records):
        yield Finding(
            "incomplete", f"no signed checkpoint covers records {signed} to {len(records) - 1}"
        )
    yield from _against_pinned(examined)
    yield Finding("note", f"{len(checkpoints)} checkpoints")


def _against_pinned(examined: Examination) -> Iterator[Finding]:
    if examined.pinned is None:
        yield Finding(
            "warning",
            "No pinned checkpoint was given: a log cut back to an earlier closed state would "
            "not be noticed.",
        )
        return
    size, root = examined.pinned
    if size > len(examined.records):
        raise AuditError(
            f"Your pinned checkpoint has {size} records, the log {len(examined.records)}: its "
            "end was cut off, or it was rolled back.",
            step="tree",
        )
    leaves = [leaf_bytes(record.digest) for record in examined.records[:size]]
    if tree_root(leaves) != root:
        raise AuditError(
            f"The log's first {size} records are not those of your pinned checkpoint.", step="tree"
        )


def pin(pinned: Pinned | None, ring: KeyRing) -> tuple[int, bytes] | None:
    """Check a pinned checkpoint. Raises AuditError if it is malformed or wrongly signed."""
    if pinned is None:
        return None
    if isinstance(pinned, Checkpoint):
        check_note(pinned, ring, what="The pinned checkpoint")
        return pinned.size, pinned.root
    size, root = pinned
    if size < 0 or not DIGEST.match(root):
        raise AuditError(
            f"Pin a checkpoint as (size, 'sha256:<64 hex digits>'), not ({size}, {root!r}).",
            step="tree",
        )
    return size, leaf_bytes(root)


def read_pinned(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a note that was kept aside: the last one of a file of checkpoints. Raises AuditError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise AuditError(f"The checkpoint {path} cannot be read: {error.strerror}.") from error
    checkpoints, torn = read_checkpoints(data)
    if not checkpoints or torn:
        raise AuditError(f"{path} is not a signed checkpoint.", step="format")
    return checkpoints[-1]
