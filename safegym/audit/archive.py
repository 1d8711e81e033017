"""Bundle files: zip archives of stored (uncompressed) files in one fixed byte layout.

Entries stand in byte order of their names, with a fixed time and mode, without extra fields or
comments; so equal contents give equal archives on every machine, every byte of an archive is
checked, and nothing can be inflated. Any unzip program reads them.
Source: PKWARE APPNOTE 6.3.10, sections 4.3.7 (local header), 4.3.12 (central), 4.3.16 (end).
"""

import io
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from safegym.audit.limits import Limits
from safegym.audit.paths import LONGEST_PATH, path_fault
from safegym.errors import AuditError

STEP = "bounded reads"
PIECE = 1 << 20
LARGEST = 0xFFFFFFFF - 1
MOST_FILES = 0xFFFF - 1
LONGEST_NAME = 4 * LONGEST_PATH
"""Bytes of a name: no path that is accepted is longer, so a directory's size is bounded."""
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_NEEDED, _UTF8, _STORED, _TIME, _DATE = 10, 0x0800, 0, 0, 0x0021
_MADE_BY, _MODE = 0x0314, 0o100644 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored file: name, CRC-32, size in bytes, offset of its local header."""

    name: str
    crc: int
    size: int
    offset: int

    @property
    def data_offset(self) -> int:
        """Where the file's bytes begin."""
        return self.offset + _LOCAL.size + len(self.name.encode("utf-8"))

    def local(self) -> bytes:
        """The local header."""
        name = self.name.encode("utf-8")
        return (
            _LOCAL.pack(
                b"PK\x03\x04", _NEEDED, _UTF8, _STORED, _TIME, _DATE,
                self.crc, self.size, self.size, len(name), 0,
            )
            + name
        )  # fmt: skip

    def central(self) -> bytes:
        """The entry in the central directory."""
        name = self.name.encode("utf-8")
        return (
            _CENTRAL.pack(
                b"PK\x01\x02", _MADE_BY, _NEEDED, _UTF8, _STORED, _TIME, _DATE,
                self.crc, self.size, self.size, len(name), 0, 0, 0, 0, _MODE, self.offset,
            )
            + name
        )  # fmt: skip


def directory(entries: Sequence[Entry], offset: int) -> bytes:
    """The central directory and the end record of an archive whose directory is at `offset`."""
    central = b"".join(entry.central() for entry in entries)
    count = len(entries)
    return central + _END.pack(b"PK\x05\x06", 0, 0, count, count, len(central), offset, 0)


def write_stored(target: BinaryIO, files: Sequence[tuple[str, Path | bytes]]) -> None:
    """Write (name, file or its bytes) as an archive. Raises AuditError if it were too large."""
    entries, offset = list[Entry](), 0
    for name, content in sorted(files, key=lambda pair: pair[0].encode("utf-8")):
        crc, size = _checksum(content)
        entry = Entry(name, crc, size, offset)
        offset = entry.data_offset + size
        if offset > LARGEST or len(entries) >= MOST_FILES:
            raise AuditError(
                "This run is too large for one bundle file (4 GiB, 65,534 files); hand over the "
                "run folder itself, verify reads it too.",
                step="export",
            )
        entries.append(entry)
        target.write(entry.local())
        _copy(content, target, entry)
    target.write(directory(entries, offset))


def _open(content: Path | bytes) -> BinaryIO:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _checksum(content: Path | bytes) -> tuple[int, int]:
    crc = size = 0
    with _open(content) as file:
        while piece := file.read(PIECE):
            crc, size = zlib.crc32(piece, crc), size + len(piece)
    return crc, size


def _copy(content: Path | bytes, target: BinaryIO, entry: Entry) -> None:
    crc = size = 0
    with _open(content) as file:
        while piece := file.read(PIECE):
            crc, size = zlib.crc32(piece, crc), size + len(piece)
            target.write(piece)
    if (crc, size) != (entry.crc, entry.size):
        raise AuditError(f"{entry.name} changed while it was exported.", step="export")


class StoredZip:
    """Reads an archive of this layout, and refuses every other. Raises AuditError."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        try:
            self._file = path.open("rb")
            self._end = self._file.seek(0, io.SEEK_END)
        except OSError as error:
            raise AuditError(f"{path} cannot be read: {error.strerror}.", step=STEP) from error
        try:
            self._entries = {entry.name: entry for entry in self._read_entries(limits)}
        except BaseException:
            self._file.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """All file names, in archive order."""
        return tuple(self._entries)

    def open(self, name: str) -> BinaryIO:
        """Open one file; reading its end checks its checksum."""
        entry = self._entries.get(name)
        if entry is None:
            raise AuditError(f"The bundle holds no {name[:80]!r}.", step=STEP)
        return io.BufferedReader(_Stored(self._file, entry), PIECE)

    def close(self) -> None:
        """Close the archive."""
        self._file.close()

    def _at(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def _read_entries(self, limits: Limits) -> list[Entry]:
        tail = self._at(max(0, self._end - _END.size), _END.size)
        if len(tail) != _END.size or not tail.startswith(b"PK\x05\x06"):
            raise AuditError(
                f"{self._path} does not end as a bundle does: it is cut short, has something "
                "appended, or is no bundle.",
                step=STEP,
            )
        _, _, _, _, count, length, offset, _ = _END.unpack(tail)
        largest = count * (_CENTRAL.size + LONGEST_NAME)
        if count > limits.files or length > largest or offset + length + _END.size != self._end:
            raise AuditError(f"{self._path} has a directory of the wrong size.", step=STEP)
        entries = self._walk(self._at(offset, length), count)
        self._check_layout(entries, offset, limits)
        if directory(entries, offset) != self._at(offset, length + _END.size):
            raise AuditError(f"{self._path} is not in a bundle's layout.", step=STEP)
        return entries

    def _walk(self, central: bytes, count: int) -> list[Entry]:
        entries, position = list[Entry](), 0
        for number in range(count):
            if position + _CENTRAL.size > len(central):
                raise AuditError(f"{self._path} has a directory cut short.", step=STEP)
            fields = _CENTRAL.unpack_from(central, position)
            start = position + _CENTRAL.size
            raw = central[start : start + fields[10]]
            entries.append(_entry(fields, raw, number))
            position = start + fields[10] + fields[11] + fields[12]
        return entries

    def _check_layout(self, entries: Sequence[Entry], end: int, limits: Limits) -> None:
        position, before, folded = 0, b"", set[str]()
        for entry in entries:
            raw = entry.name.encode("utf-8")
            if raw <= before or entry.name.casefold() in folded:
                raise AuditError(f"The bundle's names clash at {entry.name!r}.", step=STEP)
            if entry.size > limits.artifact_bytes:
                raise AuditError(f"{entry.name} exceeds {limits.artifact_bytes} bytes.", step=STEP)
            local = entry.local()
            if entry.offset != position or self._at(position, len(local)) != local:
                raise AuditError(
                    f"The header of {entry.name!r} is not one that safegym writes: another tool "
                    "rewrote this ZIP. Unzip it and verify the folder.",
                    step=STEP,
                )
            position, before = entry.data_offset + entry.size, raw
            folded.add(entry.name.casefold())
        if position != end:
            raise AuditError(f"{self._path} has bytes that belong to no file.", step=STEP)


def _entry(fields: tuple[int, ...], raw: bytes, number: int) -> Entry:
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AuditError(f"File {number} of the bundle has no UTF-8 name.", step=STEP) from error
    wrong = path_fault(name)
    if wrong is not None:
        raise AuditError(f"File {number} of the bundle is refused: {wrong}.", step=STEP)
    if fields[15] != _MODE:
        raise AuditError(
            f"{name!r} is a link, a folder or has another mode than a bundle's files.", step=STEP
        )
    if fields[4] != _STORED or fields[8] != fields[9]:
        raise AuditError(
            f"{name!r} is compressed; a bundle stores its files as they are. If you packed it "
            "yourself, verify the unpacked folder.",
            step=STEP,
        )
    return Entry(name, fields[7], fields[9], fields[16])


class _Stored(io.RawIOBase):
    """The bytes of one entry, with its CRC-32 checked when the end is reached."""

    def __init__(self, file: BinaryIO, entry: Entry) -> None:
        self._source, self._entry = file, entry
        self._done = self._crc = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]
        """Read the next bytes of the entry."""
        wanted = min(len(buffer), self._entry.size - self._done)
        self._source.seek(self._entry.data_offset + self._done)
        piece = self._source.read(wanted)
        self._crc = zlib.crc32(piece, self._crc)
        self._done += len(piece)
        if len(piece) < wanted or (self._done == self._entry.size and self._crc != self._entry.crc):
            raise AuditError(f"{self._entry.name} does not match its checksum.", step=STEP)
        buffer[: len(piece)] = piece
        return len(piece)
