"""Files that are there whole or not at all."""

import errno
import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from safegym.errors import TraceError


class DurableFile:
    """A new file that appears under its name only when it is complete and on disk.

    Bytes go to a hidden file beside it; `commit` flushes it to disk and renames it, `abort`
    removes it. A process killed in between leaves at most the hidden file, which nobody reads.
    Raises TraceError when the disk is full, or the folder is missing or not writable.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hidden = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
        self._file: BinaryIO | None = None
        try:
            self._file = self._hidden.open("xb")
        except OSError as error:
            raise _explained(error, path) from error

    @property
    def file(self) -> BinaryIO:
        """The open file, to be written to."""
        if self._file is None:
            raise TraceError(f"{self.path.name} is closed; open a new writer.")
        return self._file

    def commit(self) -> None:
        """Puts the bytes on disk and the file under its name; undone if the disk refuses."""
        renamed = False
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            self._file = None
            os.replace(self._hidden, self.path)
            renamed = True
            _sync_folder(self.path.parent)
        except OSError as error:
            self.abort()
            if renamed:
                self.path.unlink(missing_ok=True)
            raise _explained(error, self.path) from error

    def abort(self) -> None:
        """Removes what was written; harmless after a commit."""
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError:
            pass  # the unwritten rest cannot be flushed; the file goes away anyhow
        finally:
            self._hidden.unlink(missing_ok=True)

    def explain(self, error: OSError) -> TraceError:
        """The error a caller should see when writing to `file` failed."""
        return _explained(error, self.path)

    def __enter__(self) -> "DurableFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self.abort()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _explained(error: OSError, path: Path) -> TraceError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return TraceError(
            f"No room on disk for {path}: {os.strerror(error.errno)}. Nothing was left half "
            "written; free some space and write it again."
        )
    return TraceError(f"Cannot write {path}: {error.strerror or error}.")
