"""Traces on their way between processes that trust each other: one block of bytes, no second hash.

Not a file format, and not for traces that come from anywhere else: the digest that travels with a
trace is believed (`Trace` as it is pickled, stored or read recomputes it).
"""

import math
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.trace.model import Trace

Packed = tuple[dict[str, Any], list[tuple[str, str, tuple[int, ...]]], bytes]
"""(fields without arrays, [(name, element type, shape)], the arrays' bytes, each 8-aligned)."""
_MAPPINGS = ("parameters", "versions", "units", "unseen", "resampling")
_ARRAYS = ("actions", "rewards", "observations")
_ALIGNED = 8


def pack(trace: Trace) -> Packed:
    """The trace as plain values that pickle in one go."""
    fields = {name: getattr(trace, name) for name in trace.__slots__ if name not in _ARRAYS}
    del fields["signals"]
    for name in _MAPPINGS:
        fields[name] = dict(fields[name])
    arrays = [(name, getattr(trace, name)) for name in _ARRAYS]
    arrays += [(f"/{name}", values) for name, values in trace.signals.items()]
    kept = [(name, values) for name, values in arrays if values is not None]
    table = [(name, values.dtype.str, values.shape) for name, values in kept]
    return fields, table, b"".join(_padded(values) for _, values in kept)


def unpack(packed: Packed) -> Trace:
    """The trace again; its arrays are read-only views of one block."""
    fields, table, block = packed
    signals: dict[str, NDArray[np.float64]] = {}
    values: dict[str, Any] = {**fields, "observations": None}
    at = 0
    for name, kind, shape in table:
        dtype = np.dtype(kind)
        count = math.prod(shape)
        array = np.frombuffer(block, dtype, count, at).reshape(shape)
        at += _rounded(count * dtype.itemsize)
        if name.startswith("/"):
            signals[name[1:]] = array
        else:
            values[name] = array
    for name in _MAPPINGS:
        values[name] = MappingProxyType(values[name])
    values["signals"] = MappingProxyType(signals)
    trace = object.__new__(Trace)
    for name, value in values.items():
        object.__setattr__(trace, name, value)
    return trace


def _padded(values: NDArray[Any]) -> bytes:
    content = values.tobytes()
    return content + bytes(_rounded(len(content)) - len(content))


def _rounded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
