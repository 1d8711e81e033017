"""Sorting more than fits into memory: sorted runs on disk, merged; stable.

Source: Knuth, The Art of Computer Programming, volume 3, section 5.4 (external sorting).
"""

import heapq
import struct
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import IO

Record = tuple[bytes, bytes]
"""Key and payload."""
BUDGET = 16 << 20
"""Bytes of records that are in memory at a time."""
SMALL = 4 << 20
"""The same, where the records are keys and numbers and not rows."""
FAN_IN = 32
"""Runs that are merged at a time."""
_OVERHEAD = 150
"""Bytes that Python needs for a record beside its own."""
_SIZES = struct.Struct("<II")
_BUFFER = 8 << 10


class ExternalSort:
    """Takes records in any order, gives them back by key, equal keys in the order they came.

    Keys compare as bytes. Make one with `external_sort`, which removes its files.
    """

    def __init__(self, folder: str, budget: int) -> None:
        self._folder, self._budget = folder, budget
        self._records: list[Record] = []
        self._held = 0
        self._runs: list[IO[bytes]] = []

    def add(self, key: bytes, payload: bytes) -> None:
        """Take one record."""
        self._records.append((key, payload))
        self._held += len(key) + len(payload) + _OVERHEAD
        if self._held >= self._budget:
            self._spill()

    def merged(self) -> Iterator[Record]:
        """All records by key; once, after the last `add`."""
        self._spill()
        while len(self._runs) > FAN_IN:
            groups = [self._runs[i : i + FAN_IN] for i in range(0, len(self._runs), FAN_IN)]
            self._runs = [self._written(self._merge(group)) for group in groups]
        return self._merge(self._runs)

    def close(self) -> None:
        """Close the files."""
        for run in self._runs:
            run.close()

    def _spill(self) -> None:
        if self._records:
            self._records.sort(key=itemgetter(0))
            self._runs.append(self._written(iter(self._records)))
        self._records, self._held = [], 0

    def _written(self, records: Iterator[Record]) -> IO[bytes]:
        run = tempfile.TemporaryFile(dir=self._folder, buffering=_BUFFER)  # noqa: SIM115 - kept open
        for key, payload in records:
            run.write(_SIZES.pack(len(key), len(payload)) + key + payload)
        run.seek(0)
        return run

    def _merge(self, runs: list[IO[bytes]]) -> Iterator[Record]:
        yield from heapq.merge(*(_read(run) for run in runs), key=itemgetter(0))
        for run in runs:
            run.close()


@contextmanager
def external_sort(*, budget: int = BUDGET) -> Generator[ExternalSort]:
    """A sort whose files are gone when the block ends. budget: bytes held in memory."""
    with tempfile.TemporaryDirectory(prefix="safegym-sort-") as folder:
        sort = ExternalSort(folder, budget)
        try:
            yield sort
        finally:
            sort.close()


def _read(run: IO[bytes]) -> Iterator[Record]:
    while head := run.read(_SIZES.size):
        key_size, size = _SIZES.unpack(head)
        key = run.read(key_size)
        yield key, run.read(size)
