"""Kinds of option values, and the check of each. Values are plain data, as JSON has them."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from safegym.errors import GateError

Kind = Literal[
    "number",
    "number or none",
    "number or auto",
    "count",
    "integer",
    "flag",
    "widths",
    "noise",
    "share",
    "deviation",
    "fraction",
    "whole",
    "whole or -1",
    "start or auto",
]
NOISES = ("none", "normal", "ornstein-uhlenbeck")


def checked(name: str, value: Any, kind: Kind) -> Any:
    """The value as that kind has it: numbers as floats, widths as a list. Raises GateError."""
    found = _READ[kind](value)
    if found is _BAD:
        raise GateError(f"{name} is {value!r}; give {_WANTED[kind]}.")
    return found


def _number(value: Any) -> Any:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else _BAD


def _number_or_none(value: Any) -> Any:
    return None if value is None else _number(value)


def _number_or_auto(value: Any) -> Any:
    if not isinstance(value, str):
        return _number(value)
    head, _, start = value.partition("_")
    return value if head == "auto" and (not start or _is_decimal(start)) else _BAD


def _is_decimal(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _integer(value: Any) -> Any:
    return value if isinstance(value, int) and not isinstance(value, bool) else _BAD


def _count(value: Any) -> Any:
    found = _integer(value)
    return found if found is _BAD or found >= 1 else _BAD


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else _BAD


def _widths(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return _BAD
    widths = [_count(width) for width in value]
    return _BAD if any(width is _BAD for width in widths) else widths


def _share(value: Any) -> Any:
    found = _number(value)
    return found if found is _BAD or 0.0 <= found <= 0.5 else _BAD


def _deviation(value: Any) -> Any:
    found = _number(value)
    return found if found is _BAD or found >= 0.0 else _BAD


def _fraction(value: Any) -> Any:
    found = _number(value)
    return found if found is _BAD or 0.0 <= found <= 1.0 else _BAD


def _whole(value: Any) -> Any:
    found = _integer(value)
    return found if found is _BAD or found >= 0 else _BAD


def _whole_or_all(value: Any) -> Any:
    return -1 if _integer(value) == -1 else _whole(value)


def _start_or_auto(value: Any) -> Any:
    found = _number_or_auto(value)
    if found is _BAD or found == "auto":
        return found
    start = float(str(found).removeprefix("auto_"))
    return found if start > 0.0 or found == 0.0 else _BAD


def _noise(value: Any) -> Any:
    return value if value in NOISES else _BAD


_BAD: Any = object()
_READ: Mapping[Kind, Callable[[Any], Any]] = {
    "number": _number,
    "number or none": _number_or_none,
    "number or auto": _number_or_auto,
    "count": _count,
    "integer": _integer,
    "flag": _flag,
    "widths": _widths,
    "noise": _noise,
    "share": _share,
    "deviation": _deviation,
    "fraction": _fraction,
    "whole": _whole,
    "whole or -1": _whole_or_all,
    "start or auto": _start_or_auto,
}
_WANTED: Mapping[Kind, str] = {
    "number": "a finite number",
    "number or none": "a finite number, or none",
    "number or auto": "a finite number, 'auto', or 'auto_0.1' to begin at 0.1",
    "count": "a whole number of at least 1",
    "integer": "a whole number",
    "flag": "true or false",
    "widths": "a list of layer widths, such as [64, 64]",
    "noise": f"one of {', '.join(NOISES)}",
    "share": "a share in [0, 0.5]",
    "deviation": "a finite number of at least 0",
    "fraction": "a number in [0, 1]",
    "whole": "a whole number of at least 0",
    "whole or -1": "a whole number of at least 0, or -1",
    "start or auto": "a number of at least 0, 'auto', or 'auto_0.1' to begin at 0.1",
}
