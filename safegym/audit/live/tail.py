"""Reading the whole lines of a log that may still grow, from where the last reading ended."""

import os
from pathlib import Path
from typing import BinaryIO

from safegym.audit import layout
from safegym.audit.limits import Limits
from safegym.audit.source import FolderSource
from safegym.errors import AuditError

CHUNK = 1 << 20
"""Bytes read at a time."""
CUT = "The log no longer holds what this view had read of it: it was cut back or written anew."


class LogTail:
    """The lines of a run folder's log, each given once, in order.

    The file is opened for reading only and for a moment only: no lock is taken, so that nothing
    here makes the run's writer wait. offset: bytes of the whole lines given so far. total: bytes
    of the log when it was last looked at. torn: bytes after the last whole line, once all whole
    lines are given. modified: when the file was last written, in seconds since 1970.
    """

    def __init__(self, place: Path, limits: Limits | None = None) -> None:
        self.place = place
        self.limits = limits or Limits()
        self.offset = 0
        self.total = 0
        self.torn = 0
        self.modified = 0.0
        self._last = b""
        self._source = FolderSource(place, self.limits)

    def checkpoints(self) -> bytes:
        """What the checkpoint file holds now, b"" without one. Raises AuditError."""
        if not self._source.has(layout.CHECKPOINTS):
            return b""
        return self._source.read(layout.CHECKPOINTS, self.limits.checkpoint_bytes)

    def lines(self) -> list[bytes]:
        """The next whole lines, about a megabyte of them; none when there are no more.

        Raises AuditError if the log does not begin any more with the lines given before, or if a
        line or the log is longer than the limits.
        """
        if not self._source.has(layout.LOG):
            if self.offset:
                raise AuditError(CUT, step="tree")
            return []
        try:
            with self._source.open(layout.LOG) as file:
                return self._next(file)
        except OSError as error:
            raise AuditError(f"The log cannot be read: {error.strerror}.") from error

    def _next(self, file: BinaryIO) -> list[bytes]:
        self._measure(file)
        file.seek(self.offset - len(self._last))
        if self.total < self.offset or file.read(len(self._last)) != self._last:
            raise AuditError(CUT, step="tree")
        data = file.read(CHUNK)
        while data and b"\n" not in data and len(data) <= self.limits.line_bytes:
            more = file.read(CHUNK)
            if not more:
                break
            data += more
        return self._whole(data)

    def _measure(self, file: BinaryIO) -> None:
        found = os.fstat(file.fileno())
        self.total, self.modified = found.st_size, found.st_mtime
        if self.total > self.limits.log_bytes:
            raise AuditError(
                f"The log has more than {self.limits.log_bytes} bytes.", step="bounded reads"
            )

    def _whole(self, data: bytes) -> list[bytes]:
        end = data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")[:-1]
        if max(map(len, lines), default=len(data) - end) > self.limits.line_bytes:
            raise AuditError(
                f"The log has a line of more than {self.limits.line_bytes} bytes.",
                step="bounded reads",
            )
        self.offset += end
        self.torn = 0 if lines else len(data) - end
        self._last = lines[-1] + b"\n" if lines else self._last
        return lines
