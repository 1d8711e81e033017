"""The columns of a shard, and traces as rows of them.

One row an episode. A signal is a column `signals/<name>` of list<float64>; a vector signal is
flattened, its width is in the metadata of the schema. Actions are list<float64> with their element
type and shape beside them, observations are raw little-endian bytes likewise. Shards from before
logs could be resampled lack the columns gaps and resampling, and are read as having none.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import EXACT_TYPES
from safegym.trace.clock import Clock, exact
from safegym.trace.document import (
    gaps_in,
    gaps_out,
    read_document,
    resampling_in,
    resampling_out,
)
from safegym.trace.model import EpisodeEnd, Event, Trace

FORMAT = "safegym-shard-1"
Widths = Mapping[str, int | None]
"""Signal name -> None for a number a sample, d for a vector."""

_TEXT = pa.string()
_SHAPE = pa.list_(pa.int64())
_FLOATS = pa.list_(pa.float64())
_PLAIN: tuple[tuple[str, pa.DataType], ...] = (
    ("episode", pa.int64()),
    ("scenario_digest", _TEXT),
    ("policy_digest", _TEXT),
    ("seed", _TEXT),
    ("disturbance_seed", _TEXT),
    ("dt", _TEXT),
    ("start", _TEXT),
    ("horizon", pa.int64()),
    ("end_kind", _TEXT),
    ("end_time", pa.float64()),
    ("end_reason", _TEXT),
    ("parameters", _TEXT),
    ("events", _TEXT),
    ("versions", _TEXT),
    ("units", _TEXT),
    ("digest", _TEXT),
    ("rewards", _FLOATS),
    ("actions", _FLOATS),
    ("actions_type", _TEXT),
    ("actions_shape", _SHAPE),
    ("observations", pa.large_binary()),
    ("observations_type", _TEXT),
    ("observations_shape", _SHAPE),
    ("gaps", _TEXT),
    ("resampling", _TEXT),
)
_LATER = ("gaps", "resampling")
"""Columns that older shards lack."""
NULLABLE = frozenset(("horizon", "observations", "observations_type", "observations_shape"))


def widths_of(trace: Trace) -> Widths:
    """The layout of a trace's signals."""
    return {name: v.shape[1] if v.ndim == 2 else None for name, v in trace.signals.items()}


def shard_schema(widths: Widths, *, older: bool = False) -> pa.Schema:
    """The schema of a shard whose signals have these widths; `older`: without `_LATER`."""
    plain = [column for column in _PLAIN if not (older and column[0] in _LATER)]
    columns = [*plain, *((f"signals/{name}", _FLOATS) for name in widths)]
    fields = [pa.field(name, kind, nullable=name in NULLABLE) for name, kind in columns]
    layout = json.dumps(dict(widths), separators=(",", ":"))
    return pa.schema(fields, metadata={"format": FORMAT, "signals": layout})


def widths_in(schema: pa.Schema) -> Widths:
    """The layout that a file's schema declares. Raises TraceError if it is not a shard's schema."""
    metadata = schema.metadata or {}
    if metadata.get(b"format") != FORMAT.encode():
        raise TraceError(f"it is an Arrow file, but not of format {FORMAT}")
    layout = read_document(metadata.get(b"signals", b""), "layout of signals")
    for name, width in layout.items():
        if not (width is None or (type(width) is int and 1 <= width <= 10**6)):
            raise TraceError(f"signal {name} has width {width!r}")
    known = (shard_schema(layout, older=older) for older in (False, True))
    if not any(schema.equals(form, check_metadata=True) for form in known):
        raise TraceError(f"its columns are not those of format {FORMAT}")
    return layout


def to_batch(
    rows: Sequence[tuple[int, Trace]], widths: Widths, schema: pa.Schema
) -> pa.RecordBatch:
    """Episodes as one record batch."""
    traces = [trace for _, trace in rows]
    plain = [_row(episode, trace) for episode, trace in rows]
    columns: list[pa.Array[Any]] = []
    for name, kind in _PLAIN:
        if name in ("rewards", "actions"):
            columns.append(_lists([getattr(trace, name) for trace in traces]))
        else:
            columns.append(pa.array([row[name] for row in plain], type=kind))
    columns += [_lists([trace.signals[name] for trace in traces]) for name in widths]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _row(episode: int, trace: Trace) -> dict[str, Any]:
    seen = trace.observations
    return {
        "episode": episode,
        "scenario_digest": trace.scenario_digest,
        "policy_digest": trace.policy_digest,
        "seed": str(trace.seed),
        "disturbance_seed": str(trace.disturbance_seed),
        "dt": str(trace.clock.dt),
        "start": str(trace.clock.start),
        "horizon": trace.horizon,
        "end_kind": trace.end.kind,
        "end_time": trace.end.time,
        "end_reason": trace.end.reason,
        "parameters": json.dumps({k: v.hex() for k, v in trace.parameters.items()}),
        "events": json.dumps({"events": [[e.step, e.kind, e.detail] for e in trace.events]}),
        "versions": json.dumps(dict(trace.versions)),
        "units": json.dumps(dict(trace.units)),
        "digest": trace.digest,
        "actions_type": trace.actions.dtype.str[1:],
        "actions_shape": list(trace.actions.shape),
        "observations": None if seen is None else _bytes(seen),
        "observations_type": None if seen is None else seen.dtype.str[1:],
        "observations_shape": None if seen is None else list(seen.shape),
        "gaps": json.dumps(gaps_out(trace)),
        "resampling": json.dumps(resampling_out(trace)),
    }


def _bytes(values: NDArray[Any]) -> bytes:
    return values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()


def _lists(arrays: Sequence[NDArray[Any]]) -> "pa.Array[Any]":
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([values.size for values in arrays], out=offsets[1:])
    if offsets[-1] >= 2**31:
        raise TraceError(f"One batch of a shard would hold {offsets[-1]} numbers; split the trace.")
    flat = np.concatenate([values.reshape(-1) for values in arrays]).astype(np.float64)
    made = pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32), pa.int32()), pa.array(flat, pa.float64())
    )
    return cast("pa.Array[Any]", made)


def storable(trace: Trace) -> None:
    """Raises TraceError if float64 columns would change an action."""
    kind = trace.actions.dtype
    if kind.kind not in "iu" or kind.itemsize < 8 or trace.actions.size == 0:
        return
    if max(abs(int(trace.actions.max())), abs(int(trace.actions.min()))) > 2**53:
        raise TraceError(
            "An action is a whole number beyond 2**53, which a shard cannot hold exactly."
        )


def from_row(batch: pa.RecordBatch, at: int, widths: Widths) -> tuple[int, Trace]:
    """(episode, trace) of one row of a validated batch. Raises TraceError if its digest is off."""
    row: dict[str, Any] = dict.fromkeys(_LATER, "{}")
    for name, _ in _PLAIN:
        if name in _LATER and name not in batch.schema.names:
            continue
        column = batch.column(name)
        row[name] = _numbers(column, at) if name in ("rewards", "actions") else column[at].as_py()
    trace = Trace(
        scenario_digest=row["scenario_digest"],
        policy_digest=row["policy_digest"],
        seed=_whole(row["seed"]),
        clock=Clock(exact(row["dt"]), exact(row["start"], what="start")),
        signals={name: signal_at(batch, at, name, width) for name, width in widths.items()},
        actions=_shaped(row["actions"], row["actions_type"], row["actions_shape"]),
        rewards=row["rewards"],
        end=EpisodeEnd(row["end_kind"], row["end_time"], row["end_reason"]),
        horizon=row["horizon"],
        observations=_observations(row),
        parameters=_parameters(row["parameters"]),
        disturbance_seed=_whole(row["disturbance_seed"]),
        events=_events(row["events"]),
        versions=_texts(row["versions"], "versions"),
        units=_texts(row["units"], "units"),
        unseen=gaps_in(read_document(row["gaps"], "set of gaps")),
        resampling=resampling_in(read_document(row["resampling"], "set of resamplings")),
        digest=row["digest"] or "missing",
    )
    return row["episode"], trace


def signal_at(batch: pa.RecordBatch, at: int, name: str, width: int | None) -> NDArray[np.float64]:
    """One signal of one row, (T+1,) or (T+1, d)."""
    values = _numbers(batch.column(f"signals/{name}"), at)
    if width is None:
        return values
    if values.size % width:
        raise TraceError(f"signal {name} has {values.size} numbers for width {width}")
    return values.reshape(-1, width)


def _numbers(column: Any, at: int) -> NDArray[np.float64]:
    values = column[at].values
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _whole(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 100):
        raise TraceError(f"a seed is {text[:40]!r}, not a whole number")
    return int(text)


def _shaped(values: NDArray[np.float64], kind: str, shape: list[int]) -> NDArray[Any]:
    if kind not in EXACT_TYPES:
        raise TraceError(f"actions have the element type {kind[:20]!r}")
    with np.errstate(all="ignore"):
        array = values.astype(np.dtype(kind))
    return _reshaped(array, shape, "actions")


def _reshaped(array: NDArray[Any], shape: list[int], what: str) -> NDArray[Any]:
    try:
        if any(extent < 0 for extent in shape):
            raise ValueError
        return array.reshape(shape)
    except (ValueError, TypeError):
        raise TraceError(f"{what} have {array.size} values for the shape {shape}") from None


def _observations(row: Mapping[str, Any]) -> NDArray[Any] | None:
    parts = [row[f"observations{part}"] for part in ("", "_type", "_shape")]
    if all(part is None for part in parts):
        return None
    raw, kind, shape = parts
    if raw is None or shape is None or kind not in EXACT_TYPES:
        raise TraceError("observations are there only in part")
    stored = np.dtype(kind).newbyteorder("<")
    if len(raw) % stored.itemsize:
        raise TraceError("observations end in the middle of a value")
    return _reshaped(np.frombuffer(raw, dtype=stored), shape, "observations")


def _parameters(text: str) -> dict[str, float]:
    try:
        found = read_document(text, "set of parameters")
        return {name: float.fromhex(value) for name, value in found.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceError(f"parameters are not numbers: {error}") from error


def _texts(text: str, what: str) -> dict[str, str]:
    found = read_document(text, f"set of {what}")
    if not all(isinstance(value, str) for value in found.values()):
        raise TraceError(f"{what} are not texts")
    return found


def _events(text: str) -> tuple[Event, ...]:
    try:
        entries = read_document(text, "list of events")["events"]
        return tuple(Event(int(step), str(kind), str(detail)) for step, kind, detail in entries)
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"events are malformed: {error}") from error
