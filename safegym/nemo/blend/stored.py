"""Rows in files: JSON lines as they are, and Parquet, one row at a time.

In Parquet files that safegym writes, column `row` holds each row as JSON text, so nothing is lost;
`agent` and `pass_rate` stand beside it to be queried. In other Parquet files each column is a key,
and a null stands for a key that is not there.
"""

import gzip
import hashlib
import io
import struct
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Protocol, cast

from safegym.digest import PREFIX
from safegym.errors import BlendError
from safegym.nemo.blend.places import Place, published
from safegym.nemo.rows.forms import agent_of, fields_of
from safegym.nemo.rows.lines import Line, lines_of, row_of, text_of

MARK = b"safegym.rows"
BATCH = 1000
"""Rows of a Parquet file that are in memory at a time."""
LARGEST_BATCH = 8 << 20
"""Bytes of rows after which a Parquet row group is closed."""
TICK = 2048
Tell = Callable[[str, int], None]
"""Hears what is being done, and how many rows of it are."""


def silent(stage: str, rows: int) -> None:
    """Hears progress and says nothing."""


class Sink(Protocol):
    """Takes rows one by one."""

    def write(self, text: bytes) -> None:
        """One row, as the bytes of its line."""
        ...


class Written:
    """What was written: `rows`, and the `digest` of their lines, whatever the file's kind."""

    def __init__(self, sink: Sink, stage: str, tell: Tell) -> None:
        self._sink, self._stage, self._tell = sink, stage, tell
        self._hash = hashlib.sha256()
        self.rows = 0

    @property
    def digest(self) -> str:
        """`sha256:<hex>` of the lines so far."""
        return PREFIX + self._hash.hexdigest()

    def write(self, text: bytes) -> None:
        """One row, as the bytes of its line without the line's end."""
        self._hash.update(text)
        self._hash.update(b"\n")
        self._sink.write(text)
        self.rows += 1
        if self.rows % TICK == 0:
            self._tell(self._stage, self.rows)

    def row(self, row: Mapping[str, Any]) -> None:
        """One row as an object."""
        self.write(text_of(row))


def stored_lines(place: Place, tell: Tell = silent, stage: str = "") -> Iterator[Line]:
    """The rows of a file, one in memory at a time (of Parquet, a batch).

    Raises BlendError for a file that cannot be read as what its name says.
    """
    kind = place.kind
    with place.opened() as stream:
        if kind == "parquet":
            found = _parquet_lines(stream, place.text)
        elif kind == "jsonl.gz":
            found = _unpacked(stream, place.text)
        else:
            found = lines_of(_buffered(stream), place.text)
        for done, line in enumerate(found, 1):
            yield line
            if done % TICK == 0:
                tell(stage or f"reading {place.text}", done)


def stored_rows(
    place: Place, tell: Tell = silent, stage: str = ""
) -> Iterator[tuple[Line, dict[str, Any]]]:
    """The rows of a file, parsed. Raises BlendError naming the line that is broken."""
    for line in stored_lines(place, tell, stage):
        yield line, row_of(line, place.text)


@contextmanager
def writing(place: Place, tell: Tell = silent) -> Generator[Written]:
    """Takes rows; the file appears when the block ends without an error, whole."""
    kind = place.kind
    with published(place) as stream:
        stage = f"writing {place.text}"
        if kind == "parquet":
            table = _ParquetSink(stream)
            yield Written(table, stage, tell)
            table.close()
        elif kind == "jsonl.gz":
            with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                yield Written(_LineSink(cast(IO[bytes], packed)), stage, tell)
        else:
            yield Written(_LineSink(stream), stage, tell)


class _LineSink:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, text: bytes) -> None:
        self._stream.write(text)
        self._stream.write(b"\n")


class _ParquetSink:
    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, pa.DataType] = {"row": pa.string(), "agent": pa.string()}
        columns["pass_rate"] = pa.float64()
        self._schema = pa.schema(columns, metadata={MARK: b"1"})
        self._writer = pq.ParquetWriter(stream, self._schema, compression="zstd")
        self._rows: list[tuple[str, str | None, float | None]] = []
        self._bytes = 0

    def write(self, text: bytes) -> None:
        row = row_of(Line(0, text), "row")
        rate = fields_of(row).get("pass_rate")
        known = isinstance(rate, int | float) and not isinstance(rate, bool)
        self._rows.append(
            (
                text.decode("utf-8"),
                agent_of(row) or None,
                float(cast(float, rate)) if known else None,
            )
        )
        self._bytes += len(text)
        if len(self._rows) >= BATCH or self._bytes >= LARGEST_BATCH:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            columns = [pa.array(list(column)) for column in zip(*self._rows, strict=True)]
            cast = [c.cast(f.type) for c, f in zip(columns, self._schema, strict=True)]
            self._writer.write_table(pa.Table.from_arrays(cast, schema=self._schema))
        self._rows, self._bytes = [], 0


def _parquet_lines(stream: IO[bytes], name: str) -> Iterator[Line]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        table = pq.ParquetFile(stream)
        ours = MARK in (table.schema_arrow.metadata or {})
        for batch in table.iter_batches(batch_size=BATCH, columns=["row"] if ours else None):
            for record in batch.to_pylist():
                number += 1
                if ours:
                    yield Line(number, str(record["row"]).encode("utf-8"))
                else:
                    yield Line(number, _record_text(record, f"{name} row {number}"))
    except (pa.ArrowException, struct.error) as error:
        raise BlendError(
            f"{name}: no readable Parquet file, {str(error).splitlines()[0]}"
        ) from error


def _record_text(record: Mapping[str, Any], where: str) -> bytes:
    try:
        return text_of(cast(dict[str, Any], _without_nulls(record)))
    except BlendError as error:
        raise BlendError(f"{where}: {error}") from error


def _without_nulls(value: Any) -> Any:
    """Arrow has no absent keys: it holds null for them."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _unpacked(stream: IO[bytes], name: str) -> Iterator[Line]:
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as packed:
            yield from lines_of(cast(IO[bytes], packed), name)
    except (gzip.BadGzipFile, EOFError) as error:
        raise BlendError(f"{name}: no whole gzip file, {error}.") from error


def _buffered(stream: IO[bytes]) -> IO[bytes]:
    """Local files are buffered already; pyarrow's have a slow readline of their own."""
    if isinstance(stream, io.BufferedReader):
        return stream
    return cast(IO[bytes], io.BufferedReader(cast(Any, stream), 1 << 20))
