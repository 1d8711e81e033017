"""How long a control step of somebody else's environment is."""

from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

_LONGEST = 10.0
"""Seconds; what is longer is no control step."""


def control_step(env: Any) -> tuple[str, str]:
    """The control step in s as text, and where it comes from."""
    base = env.unwrapped
    dt = _seconds(_attribute(base, "dt"))
    if dt is not None:
        return f"{dt:.6g}", "the environment's own dt"
    for holder in (base, _attribute(base, "_env")):
        control = _attribute(holder, "control_timestep")
        step = _seconds(_called(control) if callable(control) else control)
        if step is not None:
            call = "()" if callable(control) else ""
            return f"{step:.6g}", f"the environment's own control_timestep{call}"
    metadata = _attribute(env, "metadata")
    for key in ("render_fps", "video.frames_per_second"):
        rate = metadata.get(key) if isinstance(metadata, dict) else None
        if _seconds(rate, largest=1e6) is not None:
            frame = 1 / Fraction(str(rate)).limit_denominator(1000)
            return str(frame), f"metadata[{key!r}]: check that a step is a frame"
    return "0.05", "EDIT: not found in the environment, 0.05 is a guess"


def _seconds(value: Any, largest: float = _LONGEST) -> float | None:
    """A positive number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, float | int | np.number):
        return None
    return float(value) if isfinite(value) and 0.0 < value < largest else None


def _attribute(holder: Any, name: str) -> Any:
    """An attribute, None where there is none or a property of this name fails."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _called(function: Any) -> Any:
    try:
        return function()
    except Exception:
        return None
