"""An append-only, fsynced, chained JSON Lines file that several processes may share."""

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from filelock import FileLock, Timeout

from safegym.digest import PREFIX, canonical_json, digest_bytes, digest_json
from safegym.errors import EvidenceError, SafegymError

MOST_BYTES: Final = 1 << 28
LOCK_SECONDS: Final = 60.0
FIRST: Final = PREFIX + "0" * 64
_FIELDS: Final = {"index", "kind", "payload", "previous", "time", "digest"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One record: position from 0, kind, payload (JSON object), claimed UTC time, digest."""

    index: int
    kind: str
    payload: Mapping[str, Any]
    time: str
    digest: str


class Journal:
    """The file at `path`; `<path>.lock` guards it, `<path>.head` says how many records it has.

    A record is one line of RFC 8785 JSON that holds the digest of the one before. `append` returns
    when the line is on the disk. A last line torn by a crash is taken off, and that it was is
    itself recorded (kind "recovered"). Anything else that is not as it was written is refused:
    changed bytes, records taken out, moved or repeated, whole records cut from the end. (Someone
    who rewrites file and head together is not detected: nothing here is signed.)
    Raises EvidenceError for all of these and for a folder that cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head_path = path.with_name(path.name + ".head")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._entries: list[Entry] = []
        self._offset = 0
        with self.exclusive():
            pass

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All records as of the last time the file was read."""
        return tuple(self._entries)

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Holds the file for this process alone, up to date, for reading and appending.

        Raises EvidenceError if another process does not let go of it within a minute.
        """
        try:
            self._lock.acquire(timeout=LOCK_SECONDS)
        except Timeout as error:
            raise EvidenceError(
                f"{self._path} has been locked by another process for {LOCK_SECONDS:g} s; wait for "
                "it to end, then run again."
            ) from error
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            try:
                self._refresh()
            except OSError as error:
                raise self._unwritable(error) from error
            yield
        finally:
            self._lock.release()

    def refresh_if_grown(self) -> None:
        """Reads what other processes have appended since; without a lock when there is nothing."""
        if self._size() != self._offset:
            with self.exclusive():
                pass

    def append(self, kind: str, payload: Mapping[str, Any]) -> Entry:
        """Writes one record; it is on the disk on return. Raises EvidenceError if it cannot."""
        with self.exclusive():
            return self._write(kind, payload)

    def _write(self, kind: str, payload: Mapping[str, Any]) -> Entry:
        body: dict[str, Any] = {
            "index": len(self._entries),
            "kind": kind,
            "payload": dict(payload),
            "previous": self._last_digest,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        try:
            digest = digest_json(body)
            line = canonical_json(body | {"digest": digest}) + b"\n"
        except SafegymError as error:
            raise EvidenceError(f"This cannot be written to {self._path.name}: {error}") from error
        entry = self._parse(line[:-1], len(self._entries), self._last_digest)
        try:
            self._put(line)
        except OSError as error:
            raise self._unwritable(error) from error
        self._accept(entry, len(line))
        try:
            self._write_head()
        except OSError as error:
            raise self._unwritable(error) from error
        return entry

    @property
    def _last_digest(self) -> str:
        return self._entries[-1].digest if self._entries else FIRST

    def _accept(self, entry: Entry, length: int) -> None:
        self._entries.append(entry)
        self._offset += length

    def _put(self, line: bytes) -> None:
        created = not self._path.exists()
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            try:
                written = 0
                while written < len(line):
                    written += os.write(file, line[written:])
                os.fsync(file)
            except OSError:
                os.ftruncate(file, self._offset)
                raise
        finally:
            os.close(file)
        if created:
            _sync_folder(self._path.parent)

    def _write_head(self) -> None:
        head = canonical_json({"records": len(self._entries), "digest": self._last_digest})
        fresh = self._head_path.with_name(self._head_path.name + ".new")
        with fresh.open("wb") as file:
            file.write(head)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._head_path)
        _sync_folder(self._path.parent)

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def _refresh(self) -> None:
        size = self._size()
        if size < self._offset:
            raise self._tampered(f"it shrank from {self._offset} to {size} bytes while in use")
        if size > MOST_BYTES:
            raise self._tampered(f"it holds {size} bytes, more than the {MOST_BYTES} that are read")
        tail = b""
        if size > self._offset:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                tail = self._read_lines(file.read(size - self._offset))
        self._check_head()
        if tail:
            self._recover(tail)

    def _read_lines(self, data: bytes) -> bytes:
        """Takes in the whole lines; returns what follows the last line feed."""
        *lines, tail = data.split(b"\n")
        for line in lines:
            self._accept(self._parse(line, len(self._entries), self._last_digest), len(line) + 1)
        return tail

    def _recover(self, tail: bytes) -> None:
        """The last append never returned: keep its record if it is whole, else take it off."""
        try:
            whole = self._parse(tail, len(self._entries), self._last_digest)
        except EvidenceError:
            os.truncate(self._path, self._offset)
            self._write("recovered", {"lost_bytes": len(tail), "lost_digest": digest_bytes(tail)})
            return
        self._offset += len(tail)
        self._put(b"\n")
        self._accept(whole, 1)
        self._write_head()

    def _check_head(self) -> None:
        """The head is written after each record, so it is level with the file or one behind."""
        have = len(self._entries)
        try:
            head = json.loads(self._head_path.read_bytes()[:1000])
            records, digest = int(head["records"]), str(head["digest"])
        except FileNotFoundError:
            records, digest = 0, FIRST
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._tampered(f"its head file is not readable ({error})") from error
        if records > have:
            raise self._tampered(f"{records} records were written, {have} are left")
        if records < have - 1 or records < 0:
            raise self._tampered(f"its head file names {records} records, the file holds {have}")
        if digest != (self._entries[records - 1].digest if records else FIRST):
            raise self._tampered(f"record {records - 1} is not the one that was written")
        if records == have - 1:
            self._write_head()

    def _parse(self, line: bytes, index: int, previous: str) -> Entry:
        try:
            record = json.loads(line.decode("utf-8"))
            canonical = canonical_json(record)
        except (ValueError, RecursionError, SafegymError) as error:
            raise self._tampered(f"record {index} is not readable ({error})") from error
        if not isinstance(record, dict) or canonical != line or record.keys() != _FIELDS:
            raise self._tampered(f"record {index} is not in the form in which it was written")
        fields = cast("dict[str, Any]", record)
        body = {name: value for name, value in fields.items() if name != "digest"}
        texts = (fields["kind"], fields["time"], fields["previous"], fields["digest"])
        if not isinstance(fields["payload"], dict) or not all(isinstance(t, str) for t in texts):
            raise self._tampered(f"record {index} has fields of the wrong kind")
        if digest_json(body) != fields["digest"]:
            raise self._tampered(f"record {index} was changed")
        if fields["index"] != index or fields["previous"] != previous:
            raise self._tampered(f"record {index} does not follow the one before it")
        payload = cast("dict[str, Any]", fields["payload"])
        return Entry(index, fields["kind"], payload, fields["time"], fields["digest"])

    def _tampered(self, found: str) -> EvidenceError:
        return EvidenceError(
            f"{self._path} cannot be trusted: {found}. Restore it from a copy; certification is "
            "refused until then. (A new registry, SAFEGYM_HOME=<folder>, starts again at attempt 1 "
            "and hides earlier attempts: say so wherever its evidence is shown.)"
        )

    def _unwritable(self, error: OSError) -> EvidenceError:
        return EvidenceError(
            f"{self._path} cannot be read or written ({error}); free space or permissions there, "
            "or name another registry with SAFEGYM_HOME=<folder>."
        )


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
