"""NaN and infinity in a JSON document: found, with their place, so that they can be refused."""

import math
from typing import Any, cast


def first_constant(document: Any) -> tuple[str, str] | None:
    """Returns the first NaN or infinity as ("NaN", "signals.x[2]"), None if all is finite.

    Walks without recursion, in the document's order.
    """
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return name, path
        waiting.extend(reversed(_parts(path, value)))
    return None


def _parts(path: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        start = f"{path}." if path else ""
        return [(f"{start}{key}", part) for key, part in cast(dict[str, Any], value).items()]
    if isinstance(value, list):
        items: list[Any] = value
        return [(f"{path}[{number}]", part) for number, part in enumerate(items)]
    return []
