"""Writing the log of a run: one writer, whole records, signed checkpoints."""

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from filelock import FileLock

from safegym.audit import layout, merkle
from safegym.audit.artifacts import reference_artifact
from safegym.audit.basis import Leaf, basis_fault, leaf_of
from safegym.audit.chain import TIME_FORMAT
from safegym.audit.durable import AppendFile, sync_file
from safegym.audit.envelope import seal
from safegym.audit.interrupts import interrupts_held
from safegym.audit.kinds import check_payload
from safegym.audit.note import Checkpoint, sign_checkpoint
from safegym.audit.read import read_log
from safegym.audit.record import (
    FIRST_PREVIOUS,
    AuditRecord,
    leaf_bytes,
    leaf_digest,
    statement_bytes,
)
from safegym.audit.recover import Recovered, recover, resumption
from safegym.audit.references import LeafIndex
from safegym.audit.sign import Signer, default_signer, public_key, public_pem, signer_for
from safegym.audit.values import canonical, encode
from safegym.audit.writer_lock import writer_lock
from safegym.digest import PREFIX, digest_bytes
from safegym.errors import AuditError, RunFolderError

Durability = Literal["record", "epoch"]
ALWAYS_SYNCED = frozenset({"run_resumed", "attempt_started", "promotion", "run_closed"})
"""Kinds forced to disk at once, whatever the durability."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Where times come from: wall clock (UTC) and monotonic counter (nanoseconds)."""

    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], int] = time.monotonic_ns


class AuditLog:
    """The log of one run, open for appending. Made by `create` or `open`, not directly.

    A context manager: leaving it closes the run ("completed"; after an exception "interrupted"
    or "failed"), unless `close` or `release` was called. `recovered` says what `open` found.
    """

    def __init__(
        self,
        folder: Path,
        lock: FileLock,
        signer: Signer,
        run: str,
        *,
        durability: Durability = "record",
        clocks: Clocks | None = None,
    ) -> None:
        self.folder = folder
        self.run = run
        self.recovered: Recovered | None = None
        self._lock = lock
        self._signer = signer
        self._actor = public_key(signer).keyid
        self._durability: Durability = durability
        self._clocks = clocks or Clocks()
        self._opened = self._clocks.monotonic()
        self._process = os.getpid()
        self._session = 0
        self._previous = FIRST_PREVIOUS
        self._frontier = merkle.Frontier()
        self._leaves = LeafIndex()
        self._basis: list[Leaf] = []
        self._checkpoint: Checkpoint | None = None
        self._closed = False
        self._file = AppendFile(folder / layout.LOG)
        self._notes = AppendFile(folder / layout.CHECKPOINTS)

    @classmethod
    def create(
        cls,
        run_folder: str | os.PathLike[str],
        *,
        signer: Signer | None = None,
        durability: Durability = "record",
        run: str | None = None,
        clocks: Clocks | None = None,
    ) -> Self:
        """Start the log of a new run.

        signer: the user's default key if None. durability: "record" forces each record to disk
        before `append` returns; "epoch" forces them at `checkpoint` and `close` (and always for
        ALWAYS_SYNCED). run: a run id; a fresh one if None.
        Raises RunFolderError if the folder cannot be written, is in use, or holds a log.
        """
        signer = default_signer() if signer is None else signer
        folder = Path(run_folder)
        lock = writer_lock(folder, make=True)
        try:
            _prepare(folder, public_pem(public_key(signer)))
            name = uuid.uuid4().hex if run is None else run
            return cls(folder, lock, signer, name, durability=durability, clocks=clocks)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(
        cls,
        run_folder: str | os.PathLike[str],
        *,
        signer: Signer | None = None,
        resume_from: int | Literal["checkpoint", "end"] = "checkpoint",
        reason: str = "resumed",
        durability: Durability = "record",
        clocks: Clocks | None = None,
    ) -> Self:
        """Go on with a run's log: check it, drop a torn end, append run_resumed.

        signer: None for the user's key that signed it, the present one or a former one.
        resume_from: how many records stay valid; the later ones are superseded. "checkpoint":
        those under the last signed checkpoint. "end": all.
        Raises RunFolderError if the folder holds no log or is in use; AuditError if the log does
        not verify with this signer's key (it is then left as it was found).
        """
        folder = Path(run_folder)
        signer = signer_for(folder) if signer is None else signer
        lock = writer_lock(folder, make=False)
        try:
            recovered = recover(folder, public_key(signer))
            payload = resumption(recovered, resume_from, reason)
            run = recovered.records[0].run
            log = cls(folder, lock, signer, run, durability=durability, clocks=clocks)
        except BaseException:
            lock.release()
            raise
        try:
            log._take_over(recovered, payload)
        except BaseException:
            log.release()
            raise
        return log

    @property
    def size(self) -> int:
        """Number of records."""
        return self._frontier.size

    @property
    def root(self) -> str:
        """Root of the Merkle tree over the records, "sha256:..."."""
        return PREFIX + self._frontier.root().hex()

    @property
    def closed(self) -> bool:
        """Whether this writer is done: after `close` or `release`."""
        return self._closed

    @property
    def superseded(self) -> frozenset[int]:
        """Indices of records that resumptions set aside."""
        return self._leaves.superseded

    def append(self, kind: str, payload: Mapping[str, Any]) -> AuditRecord:
        """Sign and append one record; returns it once it is as durable as promised.

        The payload goes through `values.encode`; other records are named in it by
        `record.reference()`. Raises AuditError: step "payload" if it does not fit its kind,
        "references" if it rests on records that are not there or cannot carry it, "append" if
        the disk fails (the whole records before are kept; resume later).
        """
        self._refuse_if_done()
        encoded = encode(payload)
        check_payload(kind, encoded, step="payload")
        record = self._next(kind, encoded)
        wrong = basis_fault(kind, encoded, record.leaves, self._basis)
        if wrong is not None:
            raise AuditError(f"This {kind} record is refused: {wrong}.", step="references")
        line = seal(statement_bytes(record), self._signer).line()
        record = replace(record, digest=leaf_digest(line))
        with interrupts_held():
            self._file.append(line + b"\n", sync=self._synced(kind))
            self._advance(record)
        return record

    def artifact(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return {"artifact", "digest", "size"} of a file in the run folder, forced to disk.

        `path` is absolute or relative to the run folder. The file must not change afterwards.
        Raises AuditError (step "artifacts") for files outside, links, and unreadable files.
        """
        return reference_artifact(self.folder, Path(path))

    def checkpoint(self) -> Checkpoint:
        """Force the records to disk and sign size and root; the last one if nothing is new.

        Raises AuditError (step "append") if the disk fails or there is no record yet.
        """
        self._refuse_if_done()
        last = self._checkpoint
        if last is not None and last.size == self.size:
            return last
        if not self.size:
            raise AuditError("There is no record to sign a checkpoint over yet.", step="append")
        self._file.sync()
        fresh = sign_checkpoint(self.run, self.size, self._frontier.root(), self._signer)
        blank = "\n" if self._notes.size else ""
        with interrupts_held():
            self._notes.append((blank + fresh.note()).encode("utf-8"), sync=True)
            self._checkpoint = fresh
        return fresh

    def close(self, outcome: str, **details: Any) -> Checkpoint:
        """Append run_closed (with `details` in its payload), sign the last checkpoint, let go."""
        self.append("run_closed", {**details, "outcome": outcome, "records": self.size})
        last = self.checkpoint()
        self.release()
        return last

    def release(self) -> None:
        """Let go of the files and the lock without closing the run: it can be resumed."""
        self._closed = True
        self._file.close()
        self._notes.close()
        self._lock.release()

    def records(self) -> tuple[AuditRecord, ...]:
        """Read the records back from the file. Raises AuditError if one cannot be read."""
        return read_log(self.folder)

    def live_records(self) -> tuple[AuditRecord, ...]:
        """The records that no resumption set aside."""
        gone = self.superseded
        return tuple(record for record in self.records() if record.index not in gone)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._closed:
            return
        if self._file.failed or self._notes.failed or os.getpid() != self._process:
            self.release()
        elif kind is None:
            self._close_or_release("completed")
        else:
            outcome = "failed" if issubclass(kind, Exception) else "interrupted"
            with contextlib.suppress(AuditError):
                self._close_or_release(outcome, error=kind.__name__)

    def _close_or_release(self, outcome: str, **details: Any) -> None:
        try:
            self.close(outcome, **details)
        except BaseException:
            self.release()
            raise

    def _refuse_if_done(self) -> None:
        if self._closed:
            raise AuditError(
                f"The log in {self.folder} is closed; go on with AuditLog.open(run_folder).",
                step="append",
            )
        if os.getpid() != self._process:
            raise AuditError(
                "A log has one writer, and this is another process. Workers send digests to the "
                "process that opened the log.",
                step="append",
            )

    def _synced(self, kind: str) -> bool:
        return self._durability == "record" or kind in ALWAYS_SYNCED

    def _next(self, kind: str, payload: dict[str, Any]) -> AuditRecord:
        elapsed = (self._clocks.monotonic() - self._opened) // 1000
        return AuditRecord(
            index=self.size,
            time=self._clocks.wall().astimezone(UTC).strftime(TIME_FORMAT),
            kind=kind,
            payload=payload,
            payload_digest=digest_bytes(canonical(payload)),
            previous=self._previous,
            digest="",
            run=self.run,
            actor=self._actor,
            session=self._session,
            monotonic=elapsed,
            durability="record" if self._synced(kind) else "epoch",
            leaves=self._leaves.resolve(payload),
        )

    def _advance(self, record: AuditRecord) -> None:
        self._leaves.add(record.kind, record.payload_digest, record.payload)
        self._basis.append(leaf_of(record.kind, record.payload, record.leaves))
        self._frontier.append(leaf_bytes(record.digest))
        self._previous = record.digest

    def _take_over(self, recovered: Recovered, payload: dict[str, Any]) -> None:
        for record in recovered.records:
            self._advance(record)
        self._checkpoint = recovered.checkpoints[-1] if recovered.checkpoints else None
        self._session = recovered.records[-1].session + 1
        self.recovered = recovered
        self.append("run_resumed", payload)


def _prepare(folder: Path, public: bytes) -> None:
    """Refuse a folder that holds a log, and copy the public key into it, as information only.

    A first record torn by a crash is no log yet. Raises RunFolderError.
    """
    path, notes = folder / layout.LOG, folder / layout.CHECKPOINTS
    try:
        old = path.exists() and b"\n" in path.read_bytes()
        if old or (notes.exists() and notes.stat().st_size):
            raise RunFolderError(
                f"{folder} already holds a run's log. Go on with it (safegym train --resume "
                f"{folder}, or AuditLog.open), or choose another folder."
            )
        path.unlink(missing_ok=True)
        (folder / layout.PUBLIC_KEY).write_bytes(public)
        sync_file(folder / layout.PUBLIC_KEY)
    except RunFolderError:
        raise
    except OSError as error:
        raise RunFolderError(
            f"The run folder {folder} cannot be written: {error.strerror}."
        ) from error
