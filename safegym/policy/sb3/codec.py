"""Constructor parameters as JSON and back, without pickle.

Tagged objects carry one key with a dollar sign: {"$class": name}, {"$tuple": [...]},
{"$float": text}, {"$int": digits}, {"$space": {...}}, {"$schedule": {...}},
{"$every": [number, unit]}, {"$noise": {...}}. Whole floats are tagged, since canonical JSON writes
1.0 as 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import TrainFreq, TrainFrequencyUnit
from stable_baselines3.common.utils import ConstantSchedule, FloatSchedule, LinearSchedule

from safegym.errors import PolicyError
from safegym.policy.sb3.names import class_name, class_of
from safegym.policy.sb3.noise import decode_noise, encode_noise
from safegym.policy.sb3.spaces import decode_space, encode_space

EXACT_INTEGER = 1 << 53
MAX_DEPTH = 32


def encode(value: Any, *, where: str = "value") -> Any:
    """The value as JSON. Raises PolicyError, naming `where`, for what has no such form."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return _encode_int(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        plain = math.isfinite(number) and not number.is_integer()
        return number if plain else {"$float": repr(number)}
    if isinstance(value, type):
        return {"$class": class_name(cast("type[Any]", value))}
    if isinstance(value, spaces.Space):
        return {"$space": encode_space(value)}
    if isinstance(value, TrainFreq):
        return {"$every": [int(value.frequency), value.unit.value]}
    if isinstance(value, ActionNoise):
        return {"$noise": encode_noise(value)}
    if isinstance(value, Mapping):
        return _encode_mapping(value, where)
    if isinstance(value, (list, tuple)):
        return _encode_sequence(cast("Sequence[Any]", value), where)
    if callable(value):
        return {"$schedule": encode_schedule(cast("Callable[[float], float]", value), where=where)}
    raise PolicyError(
        f"{where} is a {type(value).__name__}, which a checkpoint cannot store as data."
    )


def decode(data: Any, *, depth: int = 0) -> Any:
    """The value that `encode` wrote. Raises PolicyError on a malformed or unknown tag."""
    if depth > MAX_DEPTH:
        raise PolicyError(f"A checkpoint's JSON is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(data, list):
        return [decode(item, depth=depth + 1) for item in data]
    if not isinstance(data, dict):
        return data
    mapping = cast("dict[str, Any]", data)
    tags = [key for key in mapping if key.startswith("$")]
    if not tags:
        return {key: decode(item, depth=depth + 1) for key, item in mapping.items()}
    if len(mapping) != 1:
        raise PolicyError(f"A tagged value has keys {sorted(mapping)}; one was expected.")
    return _decode_tag(tags[0], mapping[tags[0]], depth)


def encode_schedule(schedule: Callable[[float], float], *, where: str = "schedule") -> Any:
    """A constant or linear schedule as data. Raises PolicyError for other callables."""
    inner: Any = schedule
    while isinstance(inner, FloatSchedule):
        inner = inner.value_schedule
    if isinstance(inner, ConstantSchedule):
        return {"kind": "constant", "value": float(inner.val)}
    if isinstance(inner, LinearSchedule):
        return {
            "kind": "linear",
            "start": float(inner.start),
            "end": float(inner.end),
            "end_fraction": float(inner.end_fraction),
        }
    raise PolicyError(
        f"{where} is a callable that cannot be stored as data; pass a number, or "
        "stable_baselines3.common.utils.LinearSchedule(start, end, end_fraction)."
    )


def decode_schedule(data: Mapping[str, Any]) -> Callable[[float], float]:
    """The schedule of that data. Raises PolicyError for an unknown kind."""
    try:
        if data["kind"] == "constant":
            return ConstantSchedule(float(data["value"]))
        if data["kind"] == "linear":
            return LinearSchedule(
                float(data["start"]), float(data["end"]), float(data["end_fraction"])
            )
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"A stored schedule is malformed: {error!r}.") from error
    raise PolicyError(f"Unknown kind of stored schedule {data['kind']!r}.")


def _encode_int(value: int) -> Any:
    return value if abs(value) <= EXACT_INTEGER else {"$int": str(value)}


def _encode_mapping(value: Mapping[Any, Any], where: str) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str) or key.startswith("$"):
            raise PolicyError(f"{where} has the key {key!r}; keys must be text without a '$'.")
        encoded[key] = encode(item, where=f"{where}.{key}")
    return encoded


def _encode_sequence(value: Sequence[Any], where: str) -> Any:
    items = [encode(item, where=f"{where}[{i}]") for i, item in enumerate(value)]
    return {"$tuple": items} if isinstance(value, tuple) else items


def _decode_tag(tag: str, body: Any, depth: int) -> Any:
    try:
        if tag == "$class":
            return class_of(body)
        if tag == "$tuple":
            return tuple(decode(item, depth=depth + 1) for item in body)
        if tag == "$float":
            return float(body)
        if tag == "$int":
            return int(body)
        if tag == "$space":
            return decode_space(body)
        if tag == "$schedule":
            return decode_schedule(body)
        if tag == "$every":
            return TrainFreq(int(body[0]), TrainFrequencyUnit(body[1]))
        if tag == "$noise":
            return decode_noise(body)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, PolicyError):
            raise
        raise PolicyError(f"The stored value of {tag} is malformed: {error!r}.") from error
    raise PolicyError(f"Unknown tag {tag!r} in a checkpoint.")
