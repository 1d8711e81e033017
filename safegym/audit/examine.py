"""Steps 1 to 5 of verification: reads, format, signatures, sequence, tree."""

import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from safegym.audit import layout
from safegym.audit.bundle_file import BundleNote, read_bundle_note
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
from safegym.audit.envelope import Envelope, read_line
from safegym.audit.limits import Limits
from safegym.audit.merkle import leaf_hash
from safegym.audit.merkle import root as tree_root
from safegym.audit.newer import LaterFormat, Newer
from safegym.audit.note import Checkpoint, check_note
from safegym.audit.record import AuditRecord, leaf_bytes
from safegym.audit.schema import DIGEST
from safegym.audit.sign import KeyRing, public_pem
from safegym.audit.slice_file import Slice, read_slice
from safegym.audit.source import Source
from safegym.audit.verify_report import Result, SliceFacts, Step, VerifyReport
from safegym.digest import PREFIX
from safegym.errors import AuditError

Level = Literal["broken", "incomplete", "skipped", "warning", "note"]
Pinned = Checkpoint | tuple[int, str]
"""A checkpoint that a reviewer noted: signed, or as (size, "sha256:..." root)."""
_NOTED = re.compile(r"([0-9]{1,15}):(sha256:[0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a step found, in words."""

    level: Level
    detail: str


@dataclass(slots=True)
class Examination:
    """What the steps have read so far. Later steps trust only what earlier ones have checked.

    unread: why the records could not be read although the log may be sound: a later format.
    slice: what a slice says of itself, None for a whole log. bundle: what a bundle does.
    """

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
    newer: Newer = field(default_factory=Newer)
    unread: str = ""
    slice: Slice | None = None
    bundle: BundleNote | None = None
    covered: set[str] = field(default_factory=set[str])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def leaves(self) -> list[bytes]:
        """Leaf hashes of the lines, in order."""
        return [leaf_hash(line) for line in self.text.lines]

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
            None if self.slice is None else SliceFacts(self.slice.about.words(), self.slice.size),
        )


def bounded_reads(
    examined: Examination, opener: Callable[[Path, Limits], Source]
) -> Iterator[Finding]:
    """Step 1: open the folder or bundle, refuse links and foreign paths, read within limits."""
    limits = examined.limits
    examined.source = opener(examined.place, limits)
    names = examined.source.names()
    log = _log_name(examined.place, names)
    examined.text = split_log(examined.source.read(log, limits.log_bytes), limits)
    if layout.CHECKPOINTS in names:
        examined.notes = examined.source.read(layout.CHECKPOINTS, limits.checkpoint_bytes)
    yield Finding("note", f"{len(names)} files")


def _log_name(place: Path, names: Collection[str]) -> str:
    """The log's file, or a slice's. Raises AuditError if there is none, or both."""
    whole, part = layout.LOG in names, layout.SLICE_LOG in names
    if whole == part:
        wrong = "a log and a slice of one" if whole else f"no {layout.LOG}"
        raise AuditError(f"{place} holds {wrong}.", step="bounded reads")
    if part and layout.SLICE not in names:
        raise AuditError(
            f"{place} holds a slice without its proofs ({layout.SLICE}).", step="bounded reads"
        )
    return layout.LOG if whole else layout.SLICE_LOG


def form(examined: Examination) -> Iterator[Finding]:
    """Step 2: canonical JSON, DSSE envelopes, in-toto statements, payloads that fit their kind."""
    examined.checkpoints, torn_notes = read_checkpoints(examined.notes)
    yield from _derived(examined)
    try:
        examined.envelopes, examined.records = read_records(examined.text, examined.newer)
    except LaterFormat as error:
        examined.unread = str(error)
        lines = enumerate(examined.text.lines)
        examined.envelopes = [read_line(line, what=f"Record {i}") for i, line in lines]
        yield Finding("incomplete", str(error))
        return
    examined.newer.refuse_faults()
    if examined.newer.kinds:
        yield Finding("incomplete", examined.newer.told())
    if examined.text.torn and examined.slice is not None:
        raise AuditError("The slice's last line is torn.", step="format")
    if examined.text.torn:
        yield Finding(
            "incomplete",
            f"the last line is torn ({len(examined.text.torn)} bytes after record "
            f"{len(examined.records) - 1}); resuming the run drops and reports it",
        )
    if torn_notes:
        yield Finding("incomplete", f"the last checkpoint is torn ({torn_notes} bytes)")
    yield Finding("note", f"{len(examined.records)} records")


def _derived(examined: Examination) -> Iterator[Finding]:
    """What the bundle and the slice say of themselves."""
    files, limits = examined.files, examined.limits
    names = files.names()
    if layout.BUNDLE in names:
        examined.bundle = read_bundle_note(files.read(layout.BUNDLE, limits.checkpoint_bytes))
        if examined.bundle.later:
            yield Finding(
                "incomplete",
                f"the bundle is of format {examined.bundle.later}, which a later version wrote: "
                "what it adds was not checked",
            )
    if layout.SLICE_LOG in names:
        examined.slice = read_slice(files.read(layout.SLICE, limits.log_bytes))


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
    checkpoints, leaves = examined.checkpoints, examined.leaves
    examined.root = check_tree(examined.records, checkpoints, leaves)
    signed = checkpoints[-1].size if checkpoints else 0
    if signed < len(leaves):
        yield Finding(
            "incomplete", f"no signed checkpoint covers records {signed} to {len(leaves) - 1}"
        )
    yield from _against_pinned(examined, leaves)
    yield Finding("note", f"{len(checkpoints)} checkpoints")


def _against_pinned(examined: Examination, leaves: list[bytes]) -> Iterator[Finding]:
    if examined.pinned is None:
        yield Finding(
            "warning",
            "No pinned checkpoint was given: a log cut back to an earlier closed state would "
            "not be noticed.",
        )
        return
    size, root = examined.pinned
    if size > len(leaves):
        raise AuditError(
            f"Your pinned checkpoint has {size} records, the log {len(leaves)}: its "
            "end was cut off, or it was rolled back.",
            step="tree",
        )
    if tree_root(leaves[:size]) != root:
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


def read_pinned(path: str | os.PathLike[str]) -> Pinned:
    """Read what was kept aside: a file of checkpoints (the last one counts), or SIZE:sha256:ROOT.

    Raises AuditError.
    """
    noted = _NOTED.match(os.fspath(path))
    if noted is not None:
        return int(noted[1]), noted[2]
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise AuditError(f"The checkpoint {path} cannot be read: {error.strerror}.") from error
    checkpoints, torn = read_checkpoints(data)
    if not checkpoints or torn:
        raise AuditError(f"{path} is not a signed checkpoint.", step="format")
    return checkpoints[-1]
