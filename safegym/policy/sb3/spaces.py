"""Gymnasium spaces as JSON: kind, dtype, shape, and the exact bounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import PolicyError

Space = spaces.Space[Any]
DTYPES = frozenset(
    ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AssertionError, RecursionError)
MAX_ELEMENTS = 1 << 24
"""Largest number of elements of one space that is read back: 16 million."""

MAX_CHOICES = 1 << 20
"""Most values of one Discrete space that is read back: they become inputs of a network."""


def encode_space(space: Space) -> dict[str, Any]:
    """The space as JSON; infinite bounds are the strings "inf" and "-inf".

    Raises PolicyError for a space that has no such form.
    """
    if isinstance(space, spaces.Box):
        low, high = _numbers(space.low), _numbers(space.high)
        return {"kind": "Box", **_layout(space), "low": low, "high": high}
    if isinstance(space, spaces.Discrete):
        return {
            "kind": "Discrete",
            "dtype": str(space.dtype),
            "n": int(space.n),
            "start": int(space.start),
        }
    if isinstance(space, spaces.MultiDiscrete):
        return {
            "kind": "MultiDiscrete",
            **_layout(space),
            "nvec": _numbers(space.nvec),
            "start": _numbers(space.start),
        }
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "shape": list(space.shape)}
    if isinstance(space, spaces.Dict):
        return {"kind": "Dict", "spaces": {k: encode_space(s) for k, s in space.spaces.items()}}
    raise PolicyError(
        f"A {type(space).__name__} space cannot be stored; use Box, Discrete, MultiDiscrete, "
        "MultiBinary, or a Dict of these (gymnasium.wrappers.FlattenObservation gives a Box)."
    )


def decode_space(data: Any) -> Space:
    """The space that `encode_space` wrote. Raises PolicyError on anything else."""
    if not isinstance(data, Mapping):
        raise PolicyError(f"A stored space must be a JSON object, found {type(data).__name__}.")
    try:
        return _decode(data)
    except _MALFORMED as error:
        if isinstance(error, PolicyError):
            raise
        raise PolicyError(f"A stored space is malformed: {error!r}.") from error


def _decode(data: Mapping[str, Any]) -> Space:
    kind = data["kind"]
    if kind == "Box":
        dtype, shape = _dtype(data), _shape(data)
        low, high = _array(data["low"], dtype, shape), _array(data["high"], dtype, shape)
        return spaces.Box(low=low, high=high, shape=shape, dtype=dtype.type)
    if kind == "Discrete":
        dtype, count = _dtype(data), int(data["n"])
        if count > MAX_CHOICES:
            raise PolicyError(
                f"A stored Discrete space has {count} values; {MAX_CHOICES} are read."
            )
        return spaces.Discrete(count, start=int(data["start"]), dtype=dtype.type)
    if kind == "MultiDiscrete":
        dtype, shape = _dtype(data), _shape(data)
        nvec, start = _array(data["nvec"], dtype, shape), _array(data["start"], dtype, shape)
        return spaces.MultiDiscrete(nvec, dtype=dtype.type, start=start)
    if kind == "MultiBinary":
        shape = _shape(data)
        return spaces.MultiBinary(shape[0] if len(shape) == 1 else shape)
    if kind == "Dict":
        return spaces.Dict({str(k): decode_space(s) for k, s in data["spaces"].items()})
    raise PolicyError(f"Unknown kind of stored space {kind!r}.")


def same_space(left: Space, right: Space) -> bool:
    """Whether the two agree in kind, dtype, shape and exact bounds."""
    return encode_space(left) == encode_space(right)


def _layout(space: Space) -> dict[str, Any]:
    return {"dtype": str(space.dtype), "shape": [int(n) for n in space.shape or ()]}


def _numbers(array: NDArray[Any]) -> list[Any]:
    values = np.asarray(array).ravel().tolist()
    return [str(v) if isinstance(v, float) and not np.isfinite(v) else v for v in values]


def _dtype(data: Mapping[str, Any]) -> np.dtype[Any]:
    name = data["dtype"]
    if name not in DTYPES:
        raise PolicyError(f"Unknown dtype {name!r} in a stored space.")
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


def _shape(data: Mapping[str, Any]) -> tuple[int, ...]:
    shape = tuple(int(n) for n in data["shape"])
    if any(n < 0 for n in shape) or int(np.prod(shape, dtype=np.float64)) > MAX_ELEMENTS:
        raise PolicyError(f"Shape {shape} of a stored space is out of range.")
    return shape


def _array(values: Sequence[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if dtype.kind == "f":
        return np.array([float(v) for v in values], dtype=dtype).reshape(shape)
    return np.array([int(v) for v in values], dtype=dtype).reshape(shape)
