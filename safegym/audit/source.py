"""Where a verifier reads from: a run folder or a bundle file, both bounded, links refused."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from safegym.audit.archive import StoredZip
from safegym.audit.limits import Limits
from safegym.audit.paths import path_fault
from safegym.errors import AuditError

STEP = "bounded reads"


class Source(Protocol):
    """Files by relative path. Every method raises AuditError (step "bounded reads")."""

    def names(self) -> tuple[str, ...]:
        """All regular files, sorted."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        ...

    def open(self, name: str) -> BinaryIO:
        """Open one file for reading."""
        ...

    def read(self, name: str, limit: int) -> bytes:
        """Read one whole file of at most `limit` bytes."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


def open_source(path: str | os.PathLike[str], limits: Limits) -> Source:
    """Open a run folder or a bundle. Raises AuditError."""
    place = Path(path)
    if place.is_dir():
        return FolderSource(place, limits)
    if place.is_file():
        return ZipSource(place, limits)
    raise AuditError(f"{place} is neither a run folder nor a bundle file.", step=STEP)


class FolderSource:
    """A run folder. Links inside it are refused, hidden files passed over."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """All regular files, sorted; a link anywhere is refused."""
        if self._names is None:
            found = list[str]()
            for name in self._walk(self._folder, ""):
                found.append(name)
                if len(found) > self._limits.files:
                    raise AuditError(
                        f"{self._folder} holds more than {self._limits.files} files.", step=STEP
                    )
            self._names = tuple(sorted(found))
        return self._names

    def has(self, name: str) -> bool:
        """Whether the path names something; a link counts, and is refused by `open`."""
        return path_fault(name) is None and os.path.lexists(self._folder / name)

    def open(self, name: str) -> BinaryIO:
        """Open a regular file that no link leads to."""
        wrong = path_fault(name) or self._link_fault(name)
        if wrong is not None:
            raise AuditError(f"Refused to read: {wrong}.", step=STEP)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            descriptor = os.open(self._folder / name, flags | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise AuditError(f"{name} cannot be read: {error.strerror}.", step=STEP) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise AuditError(f"{name} is not a regular file.", step=STEP)
        return os.fdopen(descriptor, "rb")

    def read(self, name: str, limit: int) -> bytes:
        """Read one whole file of at most `limit` bytes."""
        return _read_all(self.open(name), name, limit)

    def close(self) -> None:
        """Nothing is kept open."""

    def _link_fault(self, name: str) -> str | None:
        place = self._folder
        for part in name.split("/"):
            place = place / part
            if place.is_symlink():
                return f"{name} goes through a link"
        return None

    def _walk(self, folder: Path, prefix: str) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            raise AuditError(f"{folder} cannot be read: {error.strerror}.", step=STEP) from error
        for entry in entries:
            name = prefix + entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                raise AuditError(f"{name[:80]!r} is a link; a run has none.", step=STEP)
            if entry.is_dir(follow_symlinks=False):
                if name.count("/") < 16:
                    yield from self._walk(folder / entry.name, name + "/")
            elif entry.is_file(follow_symlinks=False):
                yield name


class ZipSource:
    """A bundle file, as `bundle.export` writes it and in no other form."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._zip = StoredZip(path, limits)

    def names(self) -> tuple[str, ...]:
        """All files, sorted."""
        return self._zip.names

    def has(self, name: str) -> bool:
        """Whether the bundle holds this file."""
        return name in self._zip.names

    def open(self, name: str) -> BinaryIO:
        """Open one file for reading; its checksum is checked at its end."""
        return self._zip.open(name)

    def read(self, name: str, limit: int) -> bytes:
        """Read one whole file of at most `limit` bytes."""
        return _read_all(self.open(name), name, limit)

    def close(self) -> None:
        """Close the bundle file."""
        self._zip.close()


def _read_all(file: BinaryIO, name: str, limit: int) -> bytes:
    try:
        with file:
            data = file.read(limit + 1)
    except OSError as error:
        raise AuditError(f"{name} cannot be read: {error.strerror}.", step=STEP) from error
    if len(data) > limit:
        raise AuditError(f"{name} is larger than {limit} bytes.", step=STEP)
    return data
