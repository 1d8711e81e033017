"""The tool that a model calls to act: a JSON schema made from an action space."""

import math
from typing import Any

import numpy as np

from safegym.errors import BlendError

APPLY_ACTION = "apply_action"


def action_tool(space: Any, *, dt: str) -> dict[str, Any]:
    """The function `apply_action`, as the Responses API declares tools.

    space: Box, Discrete, MultiDiscrete, MultiBinary, or a Dict of them. dt: seconds of a control
    step, for the description. Raises BlendError for other spaces.
    """
    return {
        "type": "function",
        "name": APPLY_ACTION,
        "description": f"Apply one action for one control step of {dt} s.",
        "parameters": {
            "type": "object",
            "properties": {"action": action_schema(space)},
            "required": ["action"],
            "additionalProperties": False,
        },
        "strict": True,
    }


def action_schema(space: Any) -> dict[str, Any]:
    """JSON schema of one action of a space. Raises BlendError for a space without one."""
    kind = type(space).__name__
    if kind == "Discrete":
        first, last = int(space.start), int(space.start + space.n - 1)
        return {"type": "integer", "minimum": first, "maximum": last}
    if kind == "Box" and len(space.shape) <= 1:
        low, high = np.ravel(space.low).tolist(), np.ravel(space.high).tolist()
        whole = np.issubdtype(space.dtype, np.integer)
        return _numbers("integer" if whole else "number", low, high, scalar=not space.shape)
    if kind in ("MultiDiscrete", "MultiBinary") and len(space.shape) == 1:
        start = np.ravel(getattr(space, "start", np.zeros(space.shape, int))).astype(int)
        sizes = np.ravel(space.nvec) if kind == "MultiDiscrete" else np.full(space.shape, 2)
        return _numbers("integer", start.tolist(), (start + sizes - 1).tolist(), scalar=False)
    if kind == "Dict":
        inner = {str(name): action_schema(part) for name, part in space.spaces.items()}
        return {
            "type": "object",
            "properties": inner,
            "required": list(inner),
            "additionalProperties": False,
        }
    raise BlendError(
        f"An action of {space!r:.120} has no tool schema; Box and MultiDiscrete of one dimension, "
        "Discrete, MultiBinary and Dict of these have."
    )


def _numbers(kind: str, low: list[float], high: list[float], *, scalar: bool) -> dict[str, Any]:
    """Numbers with bounds. Where these differ by place the schema has the widest, words all."""
    item: dict[str, Any] = {"type": kind}
    if math.isfinite(min(low)):
        item["minimum"] = min(low)
    if math.isfinite(max(high)):
        item["maximum"] = max(high)
    if scalar:
        return item
    array = {"type": "array", "items": item, "minItems": len(low), "maxItems": len(low)}
    if len(set(low)) > 1 or len(set(high)) > 1:
        each = ", ".join(f"[{a:g}, {b:g}]" for a, b in zip(low, high, strict=True))
        array["description"] = f"Bounds by place: {each}."
    return array
