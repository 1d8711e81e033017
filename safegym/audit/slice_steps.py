"""Steps 4, 5 and 7 of verifying a slice: its records' places, proofs and references."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from safegym.audit.basis import Leaf, basis_fault, leaf_of
from safegym.audit.chain import next_fault, range_fault
from safegym.audit.cover import check_policy
from safegym.audit.examine import Examination, Finding
from safegym.audit.merkle import check_consistency, check_inclusion
from safegym.audit.note import origin_of
from safegym.audit.record import FIRST_PREVIOUS, AuditRecord, leaf_bytes
from safegym.audit.references import LiveLeaves, named_records
from safegym.audit.slice_file import Slice
from safegym.audit.slicing import chosen
from safegym.errors import AuditError

HIDES = (
    "A slice shows that its records stand in the log, not what else stands there: a later "
    "withdrawal, waiver or attempt may have been left out. The whole bundle shows that."
)


def places(examined: Examination) -> Iterator[Finding]:
    """Step 4: one run, one key, in order, and no resumption left out."""
    slice_, records = _of(examined), examined.records
    if [record.index for record in records] != list(slice_.proofs):
        raise AuditError(
            "The slice's lines are not the records that slice.json lists.", step="sequence"
        )
    if examined.run not in (None, slice_.run):
        raise AuditError(
            f"The slice is of run {slice_.run[:40]!r}, you asked about {examined.run!r}.",
            step="sequence",
        )
    _check_ends(slice_, records)
    for before, record in pairwise(records):
        wrong = _fault(before, record)
        if wrong is not None:
            raise AuditError(f"Record {record.index} {wrong}.", step="sequence")
    resumed = sum(record.kind == "run_resumed" for record in records)
    if resumed != records[-1].session:
        raise AuditError(
            f"The slice holds {resumed} resumptions of {records[-1].session}: what they set aside "
            "cannot be told.",
            step="sequence",
        )
    if records[-1].kind != "run_closed":
        yield Finding("incomplete", "the run was not closed when the slice was cut")
    left = slice_.size - len(records)
    about = slice_.about.words()
    yield Finding("note", f"a slice about {about}: {len(records)} of {slice_.size} records")
    yield Finding("warning", f"This is a slice ({about}) without {left} records. {HIDES}")


def _check_ends(slice_: Slice, records: list[AuditRecord]) -> None:
    if records[-1].index != slice_.size - 1:
        raise AuditError(
            f"The log has {slice_.size} records, and its last one is not in the slice, which every "
            "slice must have.",
            step="sequence",
        )
    for record in records:
        if record.run != slice_.run:
            raise AuditError(
                f"Record {record.index} belongs to run {record.run[:40]!r}, the slice to "
                f"{slice_.run[:40]!r}.",
                step="sequence",
            )
    if records[0].index == 0 and records[0].previous != FIRST_PREVIOUS:
        raise AuditError("Record 0 names a record before it.", step="sequence")


def _fault(before: AuditRecord, record: AuditRecord) -> str | None:
    """What is wrong with two records that follow each other in a slice."""
    if record.index == before.index + 1:
        if record.previous != before.digest:
            return "does not follow the record before it (its `previous` is another digest)"
        return next_fault(record, before)
    if record.actor != before.actor:
        return "is signed by another key than the one before"
    if record.session < before.session:
        return f"falls from session {before.session} to {record.session}"
    if record.session == before.session and record.monotonic < before.monotonic:
        return "has a monotonic counter below the one before"
    return range_fault(record)


def inclusion(examined: Examination) -> Iterator[Finding]:
    """Step 5: each record stands in the tree that the last signed checkpoint commits to."""
    slice_, points = _of(examined), examined.checkpoints
    last = points[-1] if points else None
    if last is None or (last.size, last.root) != (slice_.size, slice_.root):
        raise AuditError(
            f"No signed checkpoint commits to the {slice_.size} records that the slice was cut "
            "from.",
            step="tree",
        )
    if [point.size for point in points] != list(slice_.prefixes):
        raise AuditError("The slice's checkpoints are not those it has proofs of.", step="tree")
    for point in points:
        if point.origin != origin_of(slice_.run):
            raise AuditError(f"A checkpoint is of another log ({point.origin}).", step="tree")
        proof = slice_.prefixes[point.size]
        if not check_consistency(point.size, point.root, last.size, last.root, proof):
            raise AuditError(
                f"The checkpoint of {point.size} records commits to others than the last one.",
                step="tree",
            )
    for record in examined.records:
        leaf, proof = leaf_bytes(record.digest), slice_.proofs[record.index]
        if not check_inclusion(leaf, record.index, last.size, proof, last.root):
            raise AuditError(
                f"Record {record.index} does not stand in the log of the last checkpoint.",
                step="tree",
            )
    examined.root = last.root
    yield from _against_pinned(examined, slice_)
    yield Finding("note", f"{len(points)} checkpoints")


def _against_pinned(examined: Examination, slice_: Slice) -> Iterator[Finding]:
    if examined.pinned is None:
        yield Finding("warning", "No pinned checkpoint was given: the slice may be of an old log.")
        return
    size, root = examined.pinned
    if size > slice_.size:
        raise AuditError(
            f"Your pinned checkpoint has {size} records, the slice was cut from a log of "
            f"{slice_.size}: it is older, or its end was cut off.",
            step="tree",
        )
    roots = {point.size: point.root for point in examined.checkpoints}
    if size not in roots:
        yield Finding("incomplete", f"the slice has no proof about your checkpoint of {size}")
    elif roots[size] != root:
        raise AuditError(
            f"The log's first {size} records are not those of your pinned checkpoint.", step="tree"
        )


def references(examined: Examination) -> Iterator[Finding]:
    """Step 7: what each record rests on is in the slice, live, and can carry it.

    What the slice is about is unsigned, so the records about it are chosen again.
    """
    names = {r.index: (r.kind, r.payload_digest) for r in examined.records}
    before, live = dict[int, Leaf](), LiveLeaves()
    for record in examined.records:
        if record.kind == "run_resumed":
            live.cut(record.payload["from"]["size"])
        wrong = _named_fault(record, names, before, live)
        wrong = wrong or basis_fault(record.kind, record.payload, record.leaves, before)
        if wrong is not None:
            raise AuditError(f"Record {record.index} ({record.kind}): {wrong}.", step="references")
        before[record.index] = leaf_of(record.kind, record.payload, record.leaves)
        live.add(record.index)
    examined.superseded = live.superseded
    check_policy(examined)
    about = _of(examined).about
    if chosen(examined.records, about) != [record.index for record in examined.records]:
        raise AuditError(
            f"The slice says that it is about {about.words()}, and holds other records than a "
            "slice about that.",
            step="references",
        )
    if live.superseded:
        aside = _set_aside(examined.records)
        yield Finding("warning", f"Resumptions set aside {aside} records of the log.")


def _set_aside(records: list[AuditRecord]) -> int:
    """How many records of the log its resumptions set aside, each counted once."""
    total, end = 0, 0
    resumed = [r for r in records if r.kind == "run_resumed"]
    for start, stop in sorted((r.payload["from"]["size"], r.index) for r in resumed):
        total += max(stop - max(start, end), 0)
        end = max(end, stop)
    return total


def _named_fault(
    record: AuditRecord, names: dict[int, tuple[str, str]], before: dict[int, Any], live: LiveLeaves
) -> str | None:
    named = {(entry["kind"], entry["record"]) for entry in named_records(record.payload)}
    absent = [leaf for leaf in record.leaves if leaf not in before]
    if absent:
        return f"it rests on record {absent[0]}, which the slice does not have before it"
    if {names[leaf] for leaf in record.leaves} != named or len(record.leaves) != len(named):
        return "it lists other leaves than its payload names"
    dead = [leaf for leaf in record.leaves if live.is_superseded(leaf)]
    return f"it rests on record {dead[0]}, which a resumption set aside" if dead else None


def _of(examined: Examination) -> Slice:
    if examined.slice is None:
        raise AuditError("This is no slice.", step="format")
    return examined.slice
