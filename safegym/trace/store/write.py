"""Writing shards: one Arrow IPC file an epoch, with its index and seal beside it."""

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from safegym.digest import PREFIX
from safegym.errors import TraceError
from safegym.trace.model import Trace
from safegym.trace.store.durable import DurableFile
from safegym.trace.store.index import IndexEntry, Margins, index_path, write_index
from safegym.trace.store.schema import Widths, shard_schema, storable, to_batch, widths_of
from safegym.trace.store.seal import Seal, seal_path, write_seal

if TYPE_CHECKING:
    from typing_extensions import Buffer

BATCH_ROWS = 64
BATCH_NUMBERS = 4_000_000
"""A batch is written when it holds this many rows or numbers (8 bytes each)."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard on disk. digest: SHA-256 of its bytes. size: in bytes. traces: digests in order."""

    path: Path
    digest: str
    size: int
    traces: tuple[str, ...]


class ShardWriter:
    """Writes episodes of one signal layout to a new Arrow IPC file, one row an episode.

    `with ShardWriter("epoch-0007.arrow") as writer: writer.append(trace, episode=12)`. The shard,
    its index and its seal appear when the block ends without an error, whole or not at all; after
    an error or a kill there is no shard of that name, and no half file that readers open. A shard
    is never overwritten. Raises TraceError: the file exists, the disk is full, another layout.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.shard: Shard | None = None
        """What was written, once closed."""
        if self.path.exists():
            raise TraceError(f"{self.path} exists, and a shard is never overwritten; name another.")
        self._target = DurableFile(self.path)
        self._sink = _HashingSink(self._target.file)
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._widths: Widths = {}
        self._schema = shard_schema({})
        self._pending: list[tuple[int, Trace]] = []
        self._numbers = 0
        self._beside: tuple[Path, ...] = ()
        self._entries: list[IndexEntry] = []

    def append(
        self, trace: Trace, *, episode: int | None = None, margins: Margins | None = None
    ) -> None:
        """Adds one episode. episode: its index, by default the row's. margins: per claim id."""
        storable(trace)
        self._check_layout(trace)
        number = len(self._entries) if episode is None else episode
        self._pending.append((number, trace))
        self._entries.append(
            IndexEntry(
                number,
                trace.seed,
                trace.steps,
                trace.end.kind,
                self.path.name,
                trace.digest,
                dict(margins or {}),
            )
        )
        self._numbers += _size(trace)
        if len(self._pending) >= BATCH_ROWS or self._numbers >= BATCH_NUMBERS:
            self._flush()

    def extend(self, traces: Iterable[Trace]) -> None:
        """Adds several episodes, numbered by their row."""
        for trace in traces:
            self.append(trace)

    def _check_layout(self, trace: Trace) -> None:
        widths = widths_of(trace)
        if self._writer is None and not self._entries:
            self._widths, self._schema = widths, shard_schema(widths)
        elif widths != self._widths:
            raise TraceError(
                f"This shard holds the signals {_words(self._widths)}, the trace has "
                f"{_words(widths)}; write it to a shard of its own."
            )

    def _flush(self) -> None:
        try:
            if self._writer is None:
                self._writer = pa.ipc.new_file(self._sink, self._schema)
            if self._pending:
                self._writer.write_batch(to_batch(self._pending, self._widths, self._schema))
        except OSError as error:
            self.abort()
            raise self._target.explain(error) from error
        self._pending.clear()
        self._numbers = 0

    def close(self) -> Shard:
        """Writes what is left, puts index, seal and shard on disk, and returns the shard.

        The shard comes last: where it is, the others are.
        """
        if self.shard is not None:
            return self.shard
        try:
            self._flush()
            if self._writer is not None:
                self._writer.close()
            size, digest = self._sink.size, PREFIX + self._sink.hasher.hexdigest()
            self._beside = (index_path(self.path), seal_path(self.path))
            index = write_index(self.path, self._entries)
            write_seal(self.path, Seal(digest, index, len(self._entries)))
            self._target.commit()
        except OSError as error:
            self.abort()
            raise self._target.explain(error) from error
        except BaseException:
            self.abort()
            raise
        digests = tuple(entry.digest for entry in self._entries)
        self.shard = Shard(self.path, digest, size, digests)
        return self.shard

    def abort(self) -> None:
        """Gives up: nothing of this shard stays."""
        self._pending.clear()
        self._target.abort()
        if self.shard is None:
            for path in self._beside:
                path.unlink(missing_ok=True)

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class _HashingSink(io.RawIOBase):
    """A file for Arrow to write to, that hashes and counts what passes."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.hasher = hashlib.sha256()
        self.size = 0

    def write(self, data: "Buffer", /) -> int:
        view = memoryview(data).cast("B")
        self.hasher.update(view)
        self._file.write(view)
        self.size += len(view)
        return len(view)

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size


def _size(trace: Trace) -> int:
    seen = 0 if trace.observations is None else trace.observations.nbytes // 8
    signals = sum(values.size for values in trace.signals.values())
    return signals + trace.actions.size + trace.rewards.size + seen


def _words(widths: Widths) -> str:
    return ", ".join(name if d is None else f"{name}[{d}]" for name, d in widths.items()) or "none"
