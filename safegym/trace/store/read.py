"""Reading shards: bounded, checked, one batch at a time."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safegym.digest import PREFIX
from safegym.errors import TraceError
from safegym.trace.model import Trace
from safegym.trace.store.index import index_path, read_index
from safegym.trace.store.limits import Limits
from safegym.trace.store.messages import open_batches
from safegym.trace.store.schema import Widths, from_row, signal_at, widths_in


def read_shard(
    path: str | Path, *, digest: str | None = None, limits: Limits | None = None
) -> list[Trace]:
    """The traces of a shard, in order; each is recomputed to its digest.

    digest: the shard's expected digest (as an audit log names it); by default the one that the
    index beside it holds. limits: how much is read at most. A byte changed anywhere in the file is
    found. Raises TraceError naming the file and what is wrong.
    """
    return [trace for _, trace in iterate_shard(path, digest=digest, limits=limits)]


def iterate_shard(
    path: str | Path, *, digest: str | None = None, limits: Limits | None = None
) -> Iterator[tuple[int, Trace]]:
    """(episode index, trace) of each row, holding one batch at a time. As `read_shard`."""
    path, limits = Path(path), limits or Limits()
    expected = _check_shard(path, digest, limits)
    try:
        schema, batches = open_batches(path, limits.max_rows)
        widths = widths_in(schema)
        found: list[str] = []
        for batch in batches:
            for at in range(batch.num_rows):
                episode, trace = _row(batch, at, widths, len(found))
                found.append(trace.digest)
                yield episode, trace
        if expected is not None and tuple(found) != expected:
            raise TraceError("its traces are not those that its index lists")
    except TraceError as error:
        raise TraceError(f"The shard {path.name} cannot be trusted: {error}.") from error


def read_signals(
    path: str | Path,
    names: Sequence[str],
    *,
    digest: str | None = None,
    limits: Limits | None = None,
) -> Iterator[tuple[int, dict[str, NDArray[np.float64]]]]:
    """(episode index, chosen signals) of each row, without touching the other columns.

    The shard's digest is checked, the traces' own digests are not. Raises TraceError, also if a
    signal is not in the shard.
    """
    path, limits = Path(path), limits or Limits()
    _check_shard(path, digest, limits)
    try:
        schema, batches = open_batches(path, limits.max_rows)
        widths = widths_in(schema)
        missing = [name for name in names if name not in widths]
        if missing:
            raise TraceError(f"it has no signal {', '.join(missing)}, only {', '.join(widths)}")
        for batch in batches:
            for at in range(batch.num_rows):
                chosen = {name: signal_at(batch, at, name, widths[name]) for name in names}
                yield batch.column("episode")[at].as_py(), chosen
    except TraceError as error:
        raise TraceError(f"The shard {path.name} cannot be trusted: {error}.") from error


def shard_digest(path: str | Path, *, limits: Limits | None = None) -> str:
    """SHA-256 of a shard's bytes. Raises TraceError if it is missing or too large."""
    path = Path(path)
    (limits or Limits()).check_file(path)
    try:
        with path.open("rb") as file:
            return PREFIX + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TraceError(f"Cannot read {path}: {error.strerror or error}.") from error


def _check_shard(path: Path, digest: str | None, limits: Limits) -> tuple[str, ...] | None:
    """Checks the file's digest; returns the trace digests of its index, None if it was not used."""
    found = shard_digest(path, limits=limits)
    listed: tuple[str, ...] | None = None
    if digest is None:
        if not index_path(path).is_file():
            raise TraceError(
                f"The shard {path.name} has no index {index_path(path).name} beside it; pass "
                f'digest="{found}" if that is the digest you expect.'
            )
        index = read_index(path, limits)
        digest = index.shard_digest
        listed = tuple(entry.digest for entry in index.entries)
    if found != digest:
        raise TraceError(
            f"The shard {path.name} was changed or damaged: its digest is {found}, expected "
            f"{digest}."
        )
    return listed


def _row(batch: pa.RecordBatch, at: int, widths: Widths, number: int) -> tuple[int, Trace]:
    try:
        return from_row(batch, at, widths)
    except TraceError as error:
        raise TraceError(f"row {number}: {error}") from error
