"""Following a log while it grows: each record is checked once, when it appears."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from safegym.audit import merkle
from safegym.audit.chain import read_checkpoints, sequence_fault
from safegym.audit.envelope import check_signature, read_line
from safegym.audit.live.tail import LogTail
from safegym.audit.newer import LaterFormat, Newer
from safegym.audit.note import Checkpoint, check_note, origin_of
from safegym.audit.record import FIRST_PREVIOUS, AuditRecord, leaf_bytes, record_of
from safegym.audit.references import LeafIndex
from safegym.audit.sign import KeyRing
from safegym.digest import PREFIX
from safegym.errors import AuditError

State = Literal["empty", "reading", "open", "closed", "unread", "broken"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A log as far as it was read.

    state: "empty" (no whole record yet), "reading" (more lines wait to be read), "open" (no
    run_closed at its end), "closed", "unread" (a later version wrote a form that this one cannot
    read; `fault` says so) or "broken" (`fault` says where; the records before it hold). later: what
    a later version wrote among the records, in words.
    share: of the log's bytes that were read, 0 to 1. torn: bytes after the last whole line: a
    record that is being written, or that a crash cut off. signed: records under the last signed
    checkpoint. modified: when the file was last written, seconds since 1970.
    """

    state: State
    records: tuple[AuditRecord, ...]
    superseded: frozenset[int]
    root: str
    share: float = 1.0
    torn: int = 0
    signed: int = 0
    checkpoints: int = 0
    fault: str = ""
    later: str = ""
    modified: float = 0.0

    @property
    def version(self) -> str:
        """Equal for equal states: what a page is drawn again for."""
        torn = "torn" if self.torn else "whole"
        return f"{self.state}-{len(self.records)}-{self.root[7:19]}-{self.signed}-{torn}"


class Follower:
    """Reads a run folder's log as it grows, and checks what it reads.

    Format, signatures, sequence and tree are checked as the verifier checks them; artifacts,
    references and verdicts are not. Once something is broken nothing more is read. ring: the keys
    that count. Nothing is written, and no lock is taken.
    """

    def __init__(self, place: Path, ring: KeyRing) -> None:
        self._tail = LogTail(place)
        self._ring = ring
        self._records: list[AuditRecord] = []
        self._roots: list[bytes] = [merkle.EMPTY_ROOT]
        self._frontier = merkle.Frontier()
        self._leaves = LeafIndex()
        self._notes = b""
        self._committed: list[Checkpoint] = []
        self._held = 0
        self._fault = ""
        self._unread = False
        self._newer = Newer()

    def refresh(self, seconds: float) -> Seen:
        """Read on for about `seconds` of wall time, and say what is known then. Never raises."""
        behind = False
        if not self._fault:
            try:
                behind = self._read_on(time.monotonic() + seconds)
            except LaterFormat as error:
                self._fault, self._unread = str(error), True
            except AuditError as error:
                self._fault = str(error)
            except (OSError, MemoryError, RecursionError) as error:
                self._fault = f"it cannot be read ({type(error).__name__}: {error})"
        return self._seen(behind)

    def _read_on(self, until: float) -> bool:
        notes = self._tail.checkpoints()  # before the log: what they commit to is on disk already
        if notes != self._notes:
            self._commit(read_checkpoints(notes)[0])
            self._notes = notes
        while lines := self._tail.lines():
            for line in lines:
                self._take(line)
            if time.monotonic() > until:
                self._compare()
                return self._tail.offset < self._tail.total
        self._compare()
        self._refuse_cut()
        return False

    def _commit(self, fresh: list[Checkpoint]) -> None:
        """Take in the checkpoint file as it is now; what was held against the log must stay."""
        before = [(held.size, held.root) for held in self._committed[: self._held]]
        if [(held.size, held.root) for held in fresh[: self._held]] != before:
            raise AuditError(
                "The checkpoint file no longer holds what this view had read of it: it was cut "
                "back or written anew.",
                step="tree",
            )
        self._committed = fresh

    def _take(self, line: bytes) -> None:
        index = len(self._records)
        what = f"Record {index}"
        before = self._records[-1] if self._records else None
        envelope = read_line(line, what=what)
        record = record_of(envelope, line, what=what, newer=self._newer)
        self._newer.refuse_faults()
        check_signature(envelope, self._ring, what=what)
        previous = FIRST_PREVIOUS if before is None else before.digest
        wrong = sequence_fault(record, index, previous, before)
        if wrong is not None:
            raise AuditError(f"{what} {wrong}.", step="sequence")
        self._resumed(record)
        self._leaves.add(record.kind, record.payload_digest, record.payload)
        self._frontier.append(leaf_bytes(record.digest))
        self._roots.append(self._frontier.root())
        self._records.append(record)

    def _resumed(self, record: AuditRecord) -> None:
        """A resumption commits to the records that it goes on from."""
        if record.kind != "run_resumed":
            return
        start = record.payload["from"]
        if self._roots[start["size"]] != leaf_bytes(start["root"]):
            raise AuditError(
                f"Record {record.index} (run_resumed) commits to another tree of {start['size']} "
                "records than this log has.",
                step="tree",
            )

    def _compare(self) -> None:
        """Hold the checkpoints that the log has reached against it, each once."""
        while self._held < len(self._committed) and self._records:
            checkpoint = self._committed[self._held]
            if checkpoint.size > len(self._records):
                return
            what = f"Checkpoint {self._held}"
            signers = check_note(checkpoint, self._ring, what=what)
            if self._records[0].actor not in signers:
                raise AuditError(
                    f"{what} is not signed by the key that signs the records.", step="signatures"
                )
            if checkpoint.origin != origin_of(self._records[0].run):
                raise AuditError(f"{what} is of another log.", step="tree")
            if checkpoint.root != self._roots[checkpoint.size]:
                raise AuditError(
                    f"{what} commits to another tree of {checkpoint.size} records than this log "
                    "has.",
                    step="tree",
                )
            self._held += 1

    def _refuse_cut(self) -> None:
        """Checkpoints were read before the log, so that none may be ahead of it."""
        if self._held < len(self._committed):
            raise AuditError(
                f"Checkpoint {self._held} commits to {self._committed[self._held].size} records, "
                f"but the log has {len(self._records)}: its end was cut off.",
                step="tree",
            )

    def _seen(self, behind: bool) -> Seen:
        total = self._tail.total
        return Seen(
            self._state(behind),
            tuple(self._records),
            self._leaves.superseded,
            PREFIX + self._roots[-1].hex(),
            self._tail.offset / total if behind and total else 1.0,
            self._tail.torn,
            self._committed[self._held - 1].size if self._held else 0,
            self._held,
            self._fault,
            self._newer.told(),
            self._tail.modified,
        )

    def _state(self, behind: bool) -> State:
        if self._fault:
            return "unread" if self._unread else "broken"
        if behind:
            return "reading"
        if not self._records:
            return "empty"
        return "closed" if _closed(self._records) else "open"


def _closed(records: list[AuditRecord]) -> bool:
    """Whether the run's last word on itself is that it is closed."""
    told = (r.kind for r in reversed(records) if r.kind in ("run_closed", "run_resumed"))
    return next(told, "") == "run_closed"
