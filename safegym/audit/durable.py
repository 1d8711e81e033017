"""A file that only grows, by whole pieces: written, forced to disk, or taken back."""

import contextlib
import io
import os
from pathlib import Path

from safegym.errors import AuditError


class AppendFile:
    """Appends pieces to a file so that a failed append leaves the whole pieces before it.

    `raw` replaces the unbuffered file, for tests of failing disks. Raises AuditError if the file
    cannot be opened.
    """

    def __init__(self, path: Path, *, raw: io.FileIO | None = None) -> None:
        self.path = path
        try:
            self._raw = io.FileIO(str(path), "ab") if raw is None else raw
            self.size = os.fstat(self._raw.fileno()).st_size
            sync_folder(path.parent)
        except OSError as error:
            raise AuditError(
                f"{path} cannot be written: {error.strerror}.", step="append"
            ) from error
        self._failed = ""

    @property
    def failed(self) -> str:
        """Why nothing more is appended, or ""."""
        return self._failed

    def append(self, piece: bytes, *, sync: bool) -> None:
        """Append all of `piece`; when `sync`, return only once it is on disk.

        Raises AuditError (step "append") if the disk is full or fails: the file is cut back to
        the pieces before, and takes no more.
        """
        self._refuse_if_failed()
        try:
            view = memoryview(piece)
            while view:
                written = self._raw.write(view)
                view = view[written or 0 :]
            if sync:
                os.fsync(self._raw.fileno())
        except OSError as error:
            self._take_back(error)
        self.size += len(piece)

    def sync(self) -> None:
        """Force to disk what was appended. Raises AuditError (step "append")."""
        self._refuse_if_failed()
        try:
            os.fsync(self._raw.fileno())
        except OSError as error:
            self._take_back(error)

    def close(self) -> None:
        """Close the file; appends nothing."""
        with contextlib.suppress(OSError):
            self._raw.close()

    def _refuse_if_failed(self) -> None:
        if self._failed:
            raise AuditError(
                f"{self.path} takes no more records since {self._failed}. Make room, then resume "
                "the run.",
                step="append",
            )

    def _take_back(self, error: OSError) -> None:
        self._failed = error.strerror or str(error) or type(error).__name__
        kept = "the whole records before it are kept"
        try:
            self._raw.truncate(self.size)
            os.fsync(self._raw.fileno())
        except OSError:
            kept = "its torn end is dropped when the run is resumed"
        raise AuditError(
            f"{self.path} could not take a record ({self._failed}); {kept}. Make room, then "
            "resume the run.",
            step="append",
        ) from error


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Force a file written by someone else to disk, with its folder's entry."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_folder(path.parent)


def cut(path: Path, size: int) -> None:
    """Cut a file back to `size` bytes and force that to disk."""
    with path.open("r+b") as file:
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
