"""Action spaces as JSON: the schema of a tool call, and the call's argument as an action."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import UnsupportedError
from safegym.policy.llm.brief import Entry, one_line

MOST_NUMBERS: Final = 256
"""Numbers that one action may have."""


class MalformedAnswer(Exception):  # a model's fault, not one of the program
    """An answer that is no action; its text says why, in one line that the model is shown."""


def size_of(space: spaces.Space[Any]) -> int:
    """How many numbers an action has. Raises UnsupportedError for a space that has no schema."""
    if isinstance(space, spaces.Dict):
        count = sum(size_of(part) for part in space.values())
    elif isinstance(space, spaces.Discrete):
        count = 1
    elif isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        count = math.prod(space.shape)
    else:
        raise UnsupportedError(
            f"A language model cannot act in {one_line(space)}; use a Box, Discrete, "
            "MultiDiscrete, MultiBinary or Dict action space."
        )
    if not 0 < count <= MOST_NUMBERS:
        raise UnsupportedError(
            f"An action of {count} numbers is asked for; a language model may give 1 to "
            f"{MOST_NUMBERS} a turn."
        )
    return count


def schema_of(space: spaces.Space[Any], entries: Sequence[Entry]) -> dict[str, Any]:
    """JSON schema of one action. entries: one for each number, in order.

    One number stands alone; several are an array in row-major order. Limits that differ between
    numbers are in the description, since an array's items share one schema.
    """
    size_of(space)
    if isinstance(space, spaces.Dict):
        return _dict_schema(space, entries)
    low, high = _limits(space)
    whole = not _is_float(space)
    kind = "integer" if whole else "number"
    if size_of(space) == 1:
        return {"type": kind, **_range(low, high, whole), "description": _told(entries)}
    return {
        "type": "array",
        "items": {"type": kind, **_range(low, high, whole)},
        "minItems": size_of(space),
        "maxItems": size_of(space),
        "description": _told(entries),
    }


def _dict_schema(space: spaces.Dict, entries: Sequence[Entry]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    at = 0
    for name, part in space.items():
        count = size_of(part)
        properties[str(name)] = schema_of(part, entries[at : at + count])
        at += count
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def decode(space: spaces.Space[Any], value: object, where: str = "action") -> Any:
    """The action that a JSON value stands for: an array, a dictionary of them, or a whole number.

    Raises MalformedAnswer for a missing or further number, one that is not finite or outside the
    limits, or anything that is no number. Nothing is clipped.
    """
    if isinstance(space, spaces.Dict):
        return _decode_dict(space, value, where)
    low, high = _limits(space)
    numbers = _numbers(value, size_of(space), where)
    whole = not _is_float(space)
    named = len(numbers) > 1
    for at, number in enumerate(numbers):
        _check(number, low[at], high[at], whole, f"{where}[{at}]" if named else where)
    if isinstance(space, spaces.Discrete):
        return np.int64(int(numbers[0]))
    return _within(space, numbers, low, high)


def _within(
    space: spaces.Space[Any], numbers: Sequence[float], low: Any, high: Any
) -> NDArray[Any]:
    """In the space's own type; rounding to a narrower float does not leave the limits."""
    found = np.asarray(numbers).astype(space.dtype)
    if _is_float(space):
        found = np.clip(found, low.astype(space.dtype), high.astype(space.dtype))
    return np.asarray(found).reshape(space.shape or ())


def _decode_dict(space: spaces.Dict, value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedAnswer(f"{where} must be an object with {', '.join(map(str, space))}")
    names = {str(name): part for name, part in space.items()}
    missing = [name for name in names if name not in value]
    odd = [one_line(name, 40) for name in value if name not in names]
    if missing or odd:
        raise MalformedAnswer(
            f"{where} must have exactly {', '.join(names)}; "
            + (f"{', '.join(missing)} is missing" if missing else f"{odd[0]} is not one of them")
        )
    return {name: decode(part, value[name], f"{where}.{name}") for name, part in names.items()}


def _numbers(value: object, count: int, where: str) -> list[float]:
    if count == 1 and not isinstance(value, list | tuple):
        value = [value]
    flat = _flat(value, where)
    if len(flat) != count:
        raise MalformedAnswer(f"{where} must have {count} numbers, found {len(flat)}")
    return flat


def _flat(value: object, where: str) -> list[float]:
    found: list[float] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list | tuple):
            waiting.extend(reversed(each))
        elif isinstance(each, bool) or not isinstance(each, int | float):
            raise MalformedAnswer(f"{where} must hold numbers, found {one_line(repr(each), 40)}")
        else:
            found.append(each)
        if len(found) + len(waiting) > 4 * MOST_NUMBERS:
            raise MalformedAnswer(f"{where} holds too many numbers")
    return found


def _check(number: float, low: float, high: float, whole: bool, where: str) -> None:
    try:
        finite = math.isfinite(number)
    except OverflowError:
        finite = False
    if not finite:
        raise MalformedAnswer(f"{where} is not a finite number")
    if whole and number != int(number):
        raise MalformedAnswer(f"{where} must be a whole number, found {number:.6g}")
    if not low <= number <= high:
        raise MalformedAnswer(f"{where} = {number:.6g} is outside [{low:.6g}, {high:.6g}]")


def no_op(space: spaces.Space[Any], given: object = None) -> Any:
    """The action taken in place of an answer that is none.

    given: as a model would give it, None for zeros brought within the limits (the first choice of a
    Discrete space). Raises MalformedAnswer if `given` is not in the space.
    """
    if given is not None:
        return decode(space, given, "noop")
    if isinstance(space, spaces.Dict):
        return {name: no_op(part) for name, part in space.items()}
    low, high = _limits(space)
    if isinstance(space, spaces.Discrete):
        return np.int64(low[0])
    return _within(space, [float(x) for x in np.clip(np.zeros(len(low)), low, high)], low, high)


def unfit(space: spaces.Space[Any]) -> Any:
    """A value outside of the space: what a row without an action gives, so that its episode ends.

    NaN for floats, one below the least for whole numbers.
    """
    if isinstance(space, spaces.Dict):
        return {name: unfit(part) for name, part in space.items()}
    if _is_float(space):
        return np.full(space.shape or (), np.nan, space.dtype)
    low, _ = _limits(space)
    if isinstance(space, spaces.Discrete):
        return np.int64(low[0] - 1)
    return (low - 1).astype(np.int64).reshape(space.shape or ())


def jsonable(action: Any) -> Any:
    """An action as JSON would hold it: numbers, lists, objects."""
    if isinstance(action, Mapping):
        return {str(name): jsonable(part) for name, part in action.items()}
    found = np.asarray(action)
    flat = found.reshape(-1)
    if flat.size == 1:
        return flat[0].item()
    return [_short(each) for each in flat.tolist()]


def _short(number: Any) -> Any:
    return float(f"{number:.6g}") if isinstance(number, float) else number


def _limits(space: spaces.Space[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Least and largest value of each number, flat, inclusive."""
    if isinstance(space, spaces.Box):
        return space.low.reshape(-1).astype(np.float64), space.high.reshape(-1).astype(np.float64)
    if isinstance(space, spaces.Discrete):
        return np.array([int(space.start)]), np.array([int(space.start + space.n) - 1])
    if isinstance(space, spaces.MultiDiscrete):
        start, count = space.start.reshape(-1), space.nvec.reshape(-1)
        return start.astype(np.int64), (start + count - 1).astype(np.int64)
    switches = size_of(space)
    return np.zeros(switches, np.int64), np.ones(switches, np.int64)


def _is_float(space: spaces.Space[Any]) -> bool:
    return space.dtype is not None and space.dtype.kind == "f"


def _range(low: NDArray[Any], high: NDArray[Any], whole: bool) -> dict[str, Any]:
    """The limits that all the numbers keep; none where one has none."""
    least, most = float(low.min()), float(high.max())
    found: dict[str, Any] = {}
    if math.isfinite(least):
        found["minimum"] = int(least) if whole else least
    if math.isfinite(most):
        found["maximum"] = int(most) if whole else most
    return found


def _told(entries: Sequence[Entry]) -> str:
    return "; ".join(entry_text(entry) for entry in entries)


def entry_text(entry: Entry) -> str:
    """An entry on one line: "thrust [N], 0 to 12: pushes up"."""
    unit = "" if entry.unit in ("", "1") else f" [{one_line(entry.unit, 24)}]"
    if entry.low is not None and entry.high is not None:
        limits = f", {entry.low:.6g} to {entry.high:.6g}"
    elif entry.low is not None:
        limits = f", at least {entry.low:.6g}"
    else:
        limits = "" if entry.high is None else f", at most {entry.high:.6g}"
    meaning = f": {one_line(entry.meaning, 160)}" if entry.meaning else ""
    return f"{one_line(entry.name, 60)}{unit}{limits}{meaning}"
