"""Hyperparameters from the command line: `--set name=value`, as often as wanted."""

import json
from collections.abc import Iterable
from typing import Any

from safegym.errors import GateError


def assigned(texts: Iterable[str]) -> dict[str, Any]:
    """Plain data of the assignments: {"tau": 0.01, "penalty": {"weight": 4}}.

    A value is read as JSON (numbers, true, null, [64, 64], {"start": 3e-4, "end": 0}), and as text
    where it is none. The first two dots of a name go into nested fields (penalty.weight=4), later
    ones belong to it (penalty.claims.cart.upright=2 is of the claim cart.upright).
    Raises GateError for what is no assignment, and for a name that is given twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        parts = name.strip().split(".", 2)
        if not sign or not all(parts):
            raise GateError(
                f"--set {text!r} is no assignment; write --set NAME=VALUE, such as --set "
                "learning_rate=1e-4 or --set penalty.weight=4."
            )
        _put(found, parts, _value(value.strip()), text)
    return found


def _put(found: dict[str, Any], parts: list[str], value: Any, text: str) -> None:
    place = found
    for part in parts[:-1]:
        inner = place.setdefault(part, {})
        if not isinstance(inner, dict):
            raise _twice(text)
        place = inner
    if parts[-1] in place:
        raise _twice(text)
    place[parts[-1]] = value


def _twice(text: str) -> GateError:
    return GateError(f"--set {text} gives a value that was given before; leave one of them out.")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
