"""Reading shards: bounded, checked, one batch at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.model import Trace
from safegym.trace.store.limits import Limits
from safegym.trace.store.messages import open_batches
from safegym.trace.store.schema import Widths, from_row, signal_at, widths_in
from safegym.trace.store.seal import check_digest, file_digest, read_seal, seal_path


def read_shard(
    path: str | Path, *, digest: str | None = None, limits: Limits | None = None
) -> list[Trace]:
    """The traces of a shard, in order; each is recomputed to its digest.

    digest: the shard's expected digest (as an audit log names it); by default the one in the seal
    beside it. limits: how much is read at most. A byte changed anywhere in the file is
    found. Raises TraceError naming the file and what is wrong.
    """
    return [trace for _, trace in iterate_shard(path, digest=digest, limits=limits)]


def iterate_shard(
    path: str | Path, *, digest: str | None = None, limits: Limits | None = None
) -> Iterator[tuple[int, Trace]]:
    """(episode index, trace) of each row, holding one batch at a time. As `read_shard`."""
    path, limits = Path(path), limits or Limits()
    _check_shard(path, digest, limits)
    try:
        schema, batches = open_batches(path, limits.max_rows)
        widths = widths_in(schema)
        number = 0
        for batch in batches:
            for at in range(batch.num_rows):
                yield _row(batch, at, widths, number)
                number += 1
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
    return file_digest(Path(path), limits or Limits())


def _check_shard(path: Path, digest: str | None, limits: Limits) -> None:
    """Checks the file's digest against the one given, or the one in the seal beside it."""
    limits.check_file(path)
    if digest is None:
        if not seal_path(path).is_file():
            raise TraceError(
                f"The shard {path.name} has no seal {seal_path(path).name} beside it; pass "
                f'digest="{file_digest(path, limits)}" if that is the digest you expect.'
            )
        digest = read_seal(path).shard
    check_digest(path, digest, limits)


def _row(batch: pa.RecordBatch, at: int, widths: Widths, number: int) -> tuple[int, Trace]:
    try:
        return from_row(batch, at, widths)
    except TraceError as error:
        raise TraceError(f"row {number}: {error}") from error
