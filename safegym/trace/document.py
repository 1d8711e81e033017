"""A trace as one JSON document: readable, exact, checked.

Numbers are written by `repr`, which gives every float64 back exactly; clocks as rational text;
whole numbers that may exceed 2**53 (seeds) as decimal text. Only "signals", "dt" and "end" are
required, so that a trace can be written by hand; a digest, where one is given, must be right.
"gaps" and "resampling" are written only where a trace has some.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import EXACT_TYPES
from safegym.trace.canonical import FORMAT
from safegym.trace.clock import Clock, exact
from safegym.trace.constants import first_constant
from safegym.trace.episode import END_KINDS, EpisodeEnd, Event
from safegym.trace.gaps import GapsBySignal
from safegym.trace.model import Trace
from safegym.trace.resampling import Resampling

MAX_BYTES = 256 * 2**20
"""Largest text read, in bytes."""
_FIELDS = (
    "actions",
    "digest",
    "disturbance_seed",
    "dt",
    "end",
    "events",
    "format",
    "gaps",
    "horizon",
    "observations",
    "parameters",
    "policy_digest",
    "resampling",
    "rewards",
    "scenario_digest",
    "seed",
    "signals",
    "start",
    "units",
    "versions",
)
_WHOLE = re.compile(r"-?\d{1,100}")


def to_text(trace: Trace) -> str:
    """The document of a trace as text, one field a line."""
    lines = [f"  {_plain(name)}: {_plain(value)}" for name, value in to_json(trace).items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def to_json(trace: Trace) -> dict[str, Any]:
    """The document of a trace: plain dictionaries, lists, texts and numbers, and its digest."""
    observations = trace.observations
    document = {
        "format": FORMAT,
        "scenario_digest": trace.scenario_digest,
        "policy_digest": trace.policy_digest,
        "seed": str(trace.seed),
        "disturbance_seed": str(trace.disturbance_seed),
        "dt": str(trace.clock.dt),
        "start": str(trace.clock.start),
        "horizon": trace.horizon,
        "end": {"kind": trace.end.kind, "time": trace.end.time, "reason": trace.end.reason},
        "parameters": dict(trace.parameters),
        "events": [[event.step, event.kind, event.detail] for event in trace.events],
        "versions": dict(trace.versions),
        "units": dict(trace.units),
        "signals": {name: values.tolist() for name, values in trace.signals.items()},
        "actions": _array_out(trace.actions),
        "rewards": trace.rewards.tolist(),
        "observations": None if observations is None else _array_out(observations),
    }
    if trace.unseen:
        document["gaps"] = gaps_out(trace)
    if trace.resampling:
        document["resampling"] = resampling_out(trace)
    return {**document, "digest": trace.digest}


def gaps_out(trace: Trace) -> dict[str, list[list[int]]]:
    """Signal -> its gaps as lists."""
    return {name: [list(interval) for interval in gaps] for name, gaps in trace.unseen.items()}


def resampling_out(trace: Trace) -> dict[str, dict[str, Any]]:
    """Signal -> what was done to its log, as plain texts and numbers."""
    return {name: record.to_json() for name, record in trace.resampling.items()}


def _array_out(values: NDArray[Any]) -> dict[str, Any]:
    """Element type and shape beside the values: an empty list alone would not tell them."""
    return {
        "type": values.dtype.str[1:],
        "shape": list(values.shape),
        "values": values.reshape(-1).tolist(),
    }


def from_text(text: str | bytes) -> Trace:
    """The trace that a JSON text holds. Raises TraceError naming what is wrong with it."""
    return from_json(read_document(text, "trace"))


def read_document(text: str | bytes, what: str) -> dict[str, Any]:
    """One JSON object: UTF-8, bounded, no duplicate keys, no NaN or infinity, or a TraceError."""
    if len(text) > MAX_BYTES:
        raise TraceError(f"This {what} has {len(text)} bytes; at most {MAX_BYTES} are read.")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=float)
    except RecursionError:
        raise TraceError(f"This {what} is nested too deeply.") from None
    except ValueError as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"This {what} is not valid JSON: {error}.") from error
    if not isinstance(found, dict):
        raise TraceError(f"This {what} is a JSON {type(found).__name__}; it must be an object.")
    bad = first_constant(found) if "NaN" in text or "Infinity" in text else None
    if bad is not None:
        raise TraceError(
            f"{bad[0]} is not allowed (at {bad[1]}): every number of a trace is finite. Cut the "
            'trace before it and end it with "interrupted".'
        )
    return cast(dict[str, Any], found)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise TraceError(f"The key {twice!r} appears twice in one JSON object.")
    return found


def from_json(document: Mapping[str, Any]) -> Trace:
    """The trace of a document. Raises TraceError: unknown or missing fields, wrong types."""
    unknown = sorted(set(document) - set(_FIELDS))
    if unknown:
        raise TraceError(
            f"A trace has no field {', '.join(unknown)}; its fields are {', '.join(_FIELDS)}."
        )
    for name in ("signals", "dt", "end"):
        if name not in document:
            raise TraceError(f'This trace has no "{name}".')
    if document.get("format", FORMAT) != FORMAT:
        raise TraceError(f"The format is {document['format']!r}; this version reads {FORMAT}.")
    signals = _signals_in(document["signals"])
    steps = max(len(next(iter(signals.values()))) - 1, 0)
    clock = Clock(exact(document["dt"]), exact(document.get("start", "0"), what="start"))
    actions, seen = document.get("actions"), document.get("observations")
    return Trace(
        scenario_digest=_text(document, "scenario_digest"),
        policy_digest=_text(document, "policy_digest"),
        seed=_whole(document.get("seed", 0), "seed"),
        clock=clock,
        signals=signals,
        actions=np.zeros((steps, 0)) if actions is None else _array_in(actions, "actions"),
        rewards=_rewards_in(document.get("rewards"), steps),
        end=_end_in(document["end"], clock, steps),
        horizon=_horizon_in(document.get("horizon")),
        observations=None if seen is None else _array_in(seen, "observations"),
        parameters=_mapping(document, "parameters", float, "finite numbers"),
        disturbance_seed=_whole(document.get("disturbance_seed", 0), "disturbance_seed"),
        events=tuple(_event_in(entry) for entry in _list(document.get("events", []), "events")),
        versions=_mapping(document, "versions", str, "texts"),
        units=_mapping(document, "units", str, "texts"),
        unseen=gaps_in(document.get("gaps", {})),
        resampling=resampling_in(document.get("resampling", {})),
        digest=_text(document, "digest"),
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str):
        raise TraceError(f'"{name}" is {value!r}; it must be text.')
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise TraceError(f'"{name}" must be a list, found {type(value).__name__}.')
    return value


def _whole(value: Any, name: str) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TraceError(f'"{name}" is {value!r}; it must be a whole number, as text or as a number.')


def _mapping(document: Mapping[str, Any], name: str, kind: type, meant: str) -> dict[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise TraceError(f'"{name}" must be an object, found {type(value).__name__}.')
    entries = cast(dict[str, Any], value)
    for key, entry in entries.items():
        fits = _is_number(entry) if kind is float else isinstance(entry, kind)
        if not fits:
            raise TraceError(f'"{name}" maps names to {meant}; {key!r} is {entry!r}.')
    return {key: kind(entry) for key, entry in entries.items()}


def gaps_in(value: Any) -> GapsBySignal:
    """Gaps as `gaps_out` writes them; the trace checks where they lie. Raises TraceError."""
    if not isinstance(value, dict):
        raise TraceError(f'"gaps" must be an object, found {type(value).__name__}.')
    entries = cast(dict[str, Any], value)
    return {
        name: tuple(_interval(pair) for pair in _list(pairs, f"gaps.{name}"))
        for name, pairs in entries.items()
    }


def _interval(pair: Any) -> tuple[int, int]:
    if isinstance(pair, list) and len(pair) == 2 and all(type(end) is int for end in pair):
        return pair[0], pair[1]
    raise TraceError(f'A gap is [first, last], two sample indices; found {pair!r:.60} in "gaps".')


def resampling_in(value: Any) -> dict[str, Resampling]:
    """Records as `resampling_out` writes them. Raises TraceError."""
    if not isinstance(value, dict):
        raise TraceError(f'"resampling" must be an object, found {type(value).__name__}.')
    entries = cast(dict[str, Any], value)
    return {name: Resampling.from_json(entry) for name, entry in entries.items()}


def _is_number(value: Any) -> bool:
    """A JSON number that float64 holds exactly; 1e400 and 2**53 + 1 are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 2**53 if isinstance(value, int) else bool(np.isfinite(value))


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    """A list of numbers, or of equally long lists of numbers."""
    rows = _list(values, name)
    vectors = bool(rows) and all(isinstance(row, list) for row in rows)
    flat = [value for row in rows for value in row] if vectors else rows
    bad = next((value for value in flat if not _is_number(value)), None)
    if bad is not None or (vectors and len({len(row) for row in rows}) > 1):
        found = "lists of different lengths" if bad is None else f"{bad!r}"
        raise TraceError(
            f'"{name}" must hold finite numbers that float64 holds exactly, or equally long lists '
            f"of them; found {found}."
        )
    return np.array(rows, dtype=np.float64)


def _signals_in(value: Any) -> dict[str, NDArray[np.float64]]:
    if not isinstance(value, dict) or not value:
        raise TraceError('"signals" must be an object with at least one signal: {"x": [0.0, 1.0]}.')
    return {name: _numbers(values, f"signals.{name}") for name, values in value.items()}


def _rewards_in(value: Any, steps: int) -> NDArray[np.float64]:
    return np.zeros(steps) if value is None else _numbers(value, "rewards")


def _array_in(value: Any, name: str) -> NDArray[Any]:
    """An array written with its type and shape, or a plain list of numbers."""
    if isinstance(value, list):
        return _typed_list(value, name)
    if not isinstance(value, dict) or set(value) != {"type", "shape", "values"}:
        raise TraceError(f'"{name}" must be a list, or an object of "type", "shape" and "values".')
    entry = cast(dict[str, Any], value)
    shape, kind, values = _list(entry["shape"], name), entry["type"], _list(entry["values"], name)
    if kind not in EXACT_TYPES:
        raise TraceError(f'"{name}" has type {kind!r}; it must be one of {", ".join(EXACT_TYPES)}.')
    if not 1 <= len(shape) <= 8 or not all(type(d) is int and 0 <= d < 2**40 for d in shape):
        raise TraceError(f'"{name}" has shape {shape!r}; it must be a list of whole numbers.')
    exactly = _exactly(values, np.dtype(str(kind)), name)
    if exactly.size != _product(shape):
        raise TraceError(f'"{name}" has {exactly.size} values for the shape {shape}.')
    return exactly.reshape(shape)


def _typed_list(values: list[Any], name: str) -> NDArray[Any]:
    numbers = _numbers(values, name)
    first: Any = values[0] if values else 0.0
    first = first[0] if isinstance(first, list) and first else first
    return numbers.astype(np.int64) if _all_whole(values) and isinstance(first, int) else numbers


def _all_whole(values: list[Any]) -> bool:
    return all(_all_whole(v) if isinstance(v, list) else isinstance(v, int) for v in values)


def _exactly(values: list[Any], kind: np.dtype[Any], name: str) -> NDArray[Any]:
    """Values that the element type holds without a change."""
    wanted: tuple[type, ...] = {"f": (int, float), "b": (bool,)}.get(kind.kind, (int,))
    try:
        if not {type(value) for value in values} <= set(wanted):
            raise ValueError("an element is of another type")
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=kind)
        if array.tolist() != values:
            raise ValueError("an element would be rounded")
    except (ValueError, OverflowError) as error:
        raise TraceError(f'"{name}" does not hold {kind.str[1:]} values: {error}.') from error
    return array


def _product(shape: list[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _end_in(value: Any, clock: Clock, steps: int) -> EpisodeEnd:
    """An end written as {kind, time, reason}, or by its kind alone."""
    entry: Any = {"kind": value} if isinstance(value, str) else value
    if not isinstance(entry, dict) or not {"kind"} <= set(entry) <= {"kind", "time", "reason"}:
        raise TraceError('"end" must be a kind, or an object of "kind", "time" and "reason".')
    time = entry.get("time", clock.time(steps))
    if entry["kind"] not in END_KINDS or not _is_number(time):
        raise TraceError(
            f'"end" has kind {entry["kind"]!r} and time {time!r}; the kind must be one of '
            f"{', '.join(END_KINDS)}, the time a number of seconds."
        )
    return EpisodeEnd(entry["kind"], float(time), _text(entry, "reason"))


def _horizon_in(value: Any) -> int | None:
    return None if value is None else _whole(value, "horizon")


def _event_in(entry: Any) -> Event:
    match entry:
        case [int(step), str(kind), str(detail)] if not isinstance(entry[0], bool):
            return Event(step, kind, detail)
        case _:
            raise TraceError(f'An event is [step, kind, detail]; found {entry!r} in "events".')
