"""The canonical bytes of a trace, and their digest.

SHA-256 over, in order: the length of the header in bytes (8 bytes, little-endian), the header,
and the bytes of each array that the header lists, little-endian, C order, in the header's order.
The header is compact JSON with sorted keys; floats in it are written as hexadecimal text, seeds
as decimal text, so that no reader can round them. Units, gaps and resampling are in it only where
a trace has some.
"""

import hashlib
import json
import sys
from typing import Any

from numpy.typing import NDArray

from safegym.digest import PREFIX
from safegym.errors import TraceError
from safegym.trace.model import Trace

FORMAT = "safegym-trace-1"


def trace_digest(trace: Trace) -> str:
    """Digest of everything in a trace but its digest, `sha256:<hex>`.

    Two traces differ in it if any bit does: 0.0 and -0.0 are not the same content.
    """
    arrays = named_arrays(trace)
    header = header_bytes(trace, arrays)
    hasher = hashlib.sha256(len(header).to_bytes(8, "little"))
    hasher.update(header)
    for _, values in arrays:
        hasher.update(_little_endian(values))
    return PREFIX + hasher.hexdigest()


def named_arrays(trace: Trace) -> list[tuple[str, NDArray[Any]]]:
    """Every array of the trace under its canonical name, sorted by name."""
    arrays: list[tuple[str, NDArray[Any]]] = [
        ("actions", trace.actions),
        ("rewards", trace.rewards),
        *((f"signals/{name}", values) for name, values in trace.signals.items()),
    ]
    if trace.observations is not None:
        arrays.append(("observations", trace.observations))
    return sorted(arrays, key=_first)


def _first(pair: tuple[str, NDArray[Any]]) -> str:
    return pair[0]


def header_bytes(trace: Trace, arrays: list[tuple[str, NDArray[Any]]]) -> bytes:
    """The canonical header. Raises TraceError if a text in it is not valid Unicode."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "scenario": trace.scenario_digest,
        "policy": trace.policy_digest,
        "seed": str(trace.seed),
        "dt": str(trace.clock.dt),
        "start": str(trace.clock.start),
        "horizon": trace.horizon,
        "end": [trace.end.kind, float(trace.end.time).hex(), trace.end.reason],
        "parameters": {name: value.hex() for name, value in trace.parameters.items()},
        "disturbance_seed": str(trace.disturbance_seed),
        "events": [[event.step, event.kind, event.detail] for event in trace.events],
        "versions": dict(trace.versions),
        "arrays": [[name, values.dtype.str[1:], list(values.shape)] for name, values in arrays],
    }
    if trace.units:
        header["units"] = dict(trace.units)
    if trace.unseen:
        header["gaps"] = {name: list(map(list, gaps)) for name, gaps in trace.unseen.items()}
    if trace.resampling:
        header["resampling"] = {name: r.to_json() for name, r in trace.resampling.items()}
    try:
        return _ENCODER.encode(header).encode("utf-8")
    except (UnicodeEncodeError, TypeError) as error:
        raise TraceError(f"A text of the trace cannot be encoded: {error}.") from error


_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
)


def _little_endian(values: NDArray[Any]) -> memoryview:
    """The array's values in a row, as little-endian bytes in memory."""
    if sys.byteorder == "big":
        values = values.astype(values.dtype.newbyteorder("<"))
    return values.reshape(-1).data
