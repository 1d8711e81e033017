"""Record batches of an untrusted Arrow file, one at a time, without trusting a size in it.

The file is mapped into memory, so no length written in it can make us allocate; compressed,
dictionary and extension content is refused, so no small file can unfold into a large one.
Layout: "ARROW1" and two zero bytes, a schema message, record batch messages, an end mark, a footer
(of which only the length is read), its length in 4 bytes, "ARROW1".
Source: Arrow columnar format, "IPC File Format" and Message.fbs.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from safegym.errors import TraceError

MAGIC = b"ARROW1\0\0"
_TAIL = b"ARROW1"
_HEADER_FIELD, _COMPRESSION_FIELD = 2, 3


def open_batches(path: Path, rows: int) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema of an Arrow file and its batches, at most `rows` rows. Raises TraceError."""
    try:
        source = pa.memory_map(str(path))
        head = source.read(len(MAGIC))
        source.seek(max(source.size() - len(_TAIL), 0))
        if head != MAGIC or source.read(len(_TAIL)) != _TAIL:
            raise TraceError("it is not an Arrow file, or its end is missing")
        source.seek(len(MAGIC))
        messages = pa.ipc.MessageReader.open_stream(source)
        first = messages.read_next_message()
        if first.type != "schema":
            raise TraceError(f"its first message is a {first.type}, not a schema")
        schema = pa.ipc.read_schema(first)
    except (pa.ArrowException, OSError, StopIteration, ValueError, KeyError) as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"it is not a readable Arrow file: {_short(error)}") from error
    return schema, _batches(source, messages, schema, rows)


def _batches(
    source: pa.MemoryMappedFile, messages: pa.ipc.MessageReader, schema: pa.Schema, rows: int
) -> Iterator[pa.RecordBatch]:
    number = 0
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            _check_end(source)
            return
        except (pa.ArrowException, OSError) as error:
            raise TraceError(f"it breaks off in batch {number}: {_short(error)}") from error
        batch = _batch(message, schema, number)
        rows -= batch.num_rows
        if rows < 0:
            raise TraceError("it has more rows than the limit allows")
        yield batch
        number += 1


def _check_end(source: pa.MemoryMappedFile) -> None:
    """Between the end mark and the end of the file there must be the footer, and nothing else."""
    here = source.tell()
    source.seek(source.size() - len(_TAIL) - 4)
    footer = int.from_bytes(source.read(4), "little")
    if here + footer + 4 + len(_TAIL) != source.size():
        raise TraceError("its batches break off before its footer")


def _batch(message: pa.ipc.Message, schema: pa.Schema, number: int) -> pa.RecordBatch:
    if message.type != "record batch":
        raise TraceError(f"message {number} is a {message.type}, not a record batch")
    if is_compressed(message.metadata.to_pybytes()):
        raise TraceError(f"batch {number} is compressed, which a shard never is")
    try:
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        for field, column in zip(schema, batch.columns, strict=True):
            if column.null_count and not field.nullable:
                raise TraceError(f"batch {number} has an empty field in {field.name}")
    except TraceError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TraceError(f"batch {number} is damaged: {_short(error)}") from error
    return batch


def is_compressed(message: bytes) -> bool:
    """Whether a record batch message declares compressed buffers (RecordBatch field 3).

    Raises TraceError if the message's tables point outside of it.
    """
    root = _uint(message, 0, 4)
    header = _field(message, root, _HEADER_FIELD)
    if header is None:
        raise TraceError("a message has no header")
    batch = header + _uint(message, header, 4)
    return _field(message, batch, _COMPRESSION_FIELD) is not None


def _field(message: bytes, table: int, number: int) -> int | None:
    """Place of a field of a flatbuffer table, None if it is absent."""
    vtable = table - int.from_bytes(_slice(message, table, 4), "little", signed=True)
    entry = 4 + 2 * number
    if entry + 2 > _uint(message, vtable, 2):
        return None
    offset = _uint(message, vtable + entry, 2)
    return table + offset if offset else None


def _uint(message: bytes, at: int, size: int) -> int:
    return int.from_bytes(_slice(message, at, size), "little")


def _slice(message: bytes, at: int, size: int) -> bytes:
    if not 0 <= at <= len(message) - size:
        raise TraceError("a message points outside of itself")
    return message[at : at + size]


def _short(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
