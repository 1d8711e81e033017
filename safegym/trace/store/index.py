"""The index beside a shard: which episodes it holds, without opening it.

Parquet, one row an episode in shard order: episode, seed, length (T, in steps), end_kind, shard,
digest, and for each claim whose margins were given `margin_lo/<claim>` and `margin_hi/<claim>` (in
multiples of the claim's scale, null where unknown).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from safegym.errors import TraceError
from safegym.trace.store.durable import DurableFile
from safegym.trace.store.limits import Limits
from safegym.trace.store.seal import check_digest, file_digest, read_seal

FORMAT = "safegym-index-1"
Margins = Mapping[str, tuple[float, float]]
_PLAIN = (
    ("episode", pa.int64()),
    ("seed", pa.string()),
    ("length", pa.int64()),
    ("end_kind", pa.string()),
    ("shard", pa.string()),
    ("digest", pa.string()),
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One episode of a shard. margins: claim id -> (lo, hi) of its robustness."""

    episode: int
    seed: int
    length: int
    end_kind: str
    shard: str
    digest: str
    margins: Margins = field(default_factory=dict[str, tuple[float, float]])


def index_path(shard: Path) -> Path:
    """Where the index of a shard stands: `a.arrow` -> `a.index.parquet`."""
    return shard.with_name(f"{shard.stem}.index.parquet")


def write_index(shard: Path, entries: Sequence[IndexEntry]) -> str:
    """Writes the index beside its shard, whole or not at all; returns its digest.

    Raises TraceError when the disk is full or the folder is gone.
    """
    path = index_path(shard)
    table = _table(entries)
    with DurableFile(path) as target:
        try:
            pq.write_table(
                table,
                target.file,
                compression="none",
                use_dictionary=False,
                write_page_checksum=True,
                write_statistics=False,
            )
        except OSError as error:
            raise target.explain(error) from error
        target.commit()
    return file_digest(path, Limits())


def _table(entries: Sequence[IndexEntry]) -> pa.Table:
    columns: dict[str, pa.Array[Any]] = {}
    for name, kind in _PLAIN:
        values = [getattr(entry, name) for entry in entries]
        columns[name] = pa.array([str(v) for v in values] if name == "seed" else values, kind)
    for claim in sorted({claim for entry in entries for claim in entry.margins}):
        for place, end in enumerate(("lo", "hi")):
            values = [e.margins[claim][place] if claim in e.margins else None for e in entries]
            columns[f"margin_{end}/{claim}"] = pa.array(values, pa.float64())
    return pa.table(columns).replace_schema_metadata({"format": FORMAT})


def read_index(shard: str | Path, limits: Limits | None = None) -> tuple[IndexEntry, ...]:
    """The index of a shard (given by the shard's path), once its bytes match the seal.

    Raises TraceError if a file is missing, changed or of another form. A seal forged to fit a
    malicious Parquet file is not detected here: for files of strangers, read the shard itself.
    """
    shard, limits = Path(shard), limits or Limits()
    path, seal = index_path(shard), read_seal(shard)
    check_digest(path, seal.index, limits)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_parquet(file, limits)
            table = file.read()
            table.validate(full=True)
        return _entries(table)
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise TraceError(f"The index {path.name} cannot be trusted: {reason}.") from error


def _check_parquet(file: pq.ParquetFile, limits: Limits) -> None:
    """Refuses what could unfold into more than the file's own size, before reading it."""
    metadata = file.metadata
    if metadata.num_rows > limits.max_rows or metadata.num_row_groups > 1000:
        raise TraceError(f"it has {metadata.num_rows} rows; at most {limits.max_rows} are read")
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            if column.compression != "UNCOMPRESSED" or column.has_dictionary_page:
                raise TraceError("it is compressed, which an index never is")
    schema = file.schema_arrow
    if (schema.metadata or {}).get(b"format") != FORMAT.encode():
        raise TraceError(f"it is a Parquet file, but not of format {FORMAT}")
    for position, (name, kind) in enumerate(_PLAIN):
        if schema.names[position : position + 1] != [name] or schema.field(position).type != kind:
            raise TraceError(f"it lacks the column {name}")
    for extra in schema.names[len(_PLAIN) :]:
        known = extra.startswith(("margin_lo/", "margin_hi/"))
        if not known or schema.field(extra).type != pa.float64():
            raise TraceError(f"it has an unknown column {extra[:60]!r}")


def _entries(table: pa.Table) -> tuple[IndexEntry, ...]:
    rows: Sequence[dict[str, Any]] = table.to_pylist()
    claims = [n.removeprefix("margin_lo/") for n in table.column_names if n.startswith("margin_lo")]
    entries: list[IndexEntry] = []
    for row in rows:
        if any(row[name] is None for name, _ in _PLAIN):
            raise TraceError("a row has an empty field")
        lows = {claim: (row[f"margin_lo/{claim}"], row[f"margin_hi/{claim}"]) for claim in claims}
        entries.append(
            IndexEntry(
                episode=row["episode"],
                seed=int(row["seed"]),
                length=row["length"],
                end_kind=row["end_kind"],
                shard=row["shard"],
                digest=row["digest"],
                margins={claim: pair for claim, pair in lows.items() if None not in pair},
            )
        )
    return tuple(entries)
