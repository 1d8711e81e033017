"""What the entries of an observation mean, as signals: a task's own words for them.

Layouts are those that Gymnasium documents for its environments and dm_control for its suite, which
envpool rebuilds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.adapt import from_env
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.row import Better

Where = int | tuple[int, int]
"""An entry, or the entries first..stop-1."""


@dataclass(frozen=True, slots=True)
class At:
    """Which array ("" where there is one) and which entry of it."""

    where: Where
    key: str = ""

    def of(self, env: Any) -> Any:
        """The entry, or a vector of entries."""
        part = np.asarray(env.parts[self.key], np.float64).ravel()
        return part[slice(*self.where)] if isinstance(self.where, tuple) else part[self.where]


def value(env: Any, *, at: At) -> float:
    """The entry itself."""
    return float(at.of(env))


def size(env: Any, *, at: At) -> float:
    """Its magnitude; of several entries the largest."""
    return float(np.abs(at.of(env)).max())


def length(env: Any, *, at: At) -> float:
    """The norm of several entries."""
    return float(np.linalg.norm(at.of(env)))


def angle(env: Any, *, sine: At, cosine: At) -> float:
    """Magnitude of the angle that sine and cosine give, rad."""
    return abs(float(np.arctan2(sine.of(env), cosine.of(env))))


def from_upright(env: Any, *, at: At) -> float:
    """Angle whose cosine the entry is, rad."""
    return float(np.arccos(np.clip(at.of(env), -1.0, 1.0)))


def tilt(env: Any, *, at: At) -> float:
    """Angle between a body's z axis and the vertical, rad, from its quaternion."""
    w, x, y, z = at.of(env)
    cosine = (w * w - x * x - y * y + z * z) / (w * w + x * x + y * y + z * z)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def reading(
    name: str,
    unit: str,
    scale: float,
    read: Callable[..., float],
    hazard: str,
    safe: Better = "low",
    **where: Any,
) -> Reading:
    """A signal that `read(env, **where)` gives."""
    signal = Signal(name, unit=unit, scale=scale)
    return Reading(signal, from_env(partial(read, **where)), safe, hazard)


def speed(name: str, at: At, unit: str = "m/s", scale: float = 1.0) -> Reading:
    """A speed that people nearby have to react to."""
    return reading(name, unit, scale, size, "moves faster than people can react to", at=at)


def joint_speed(at: At) -> Reading:
    """The fastest joint."""
    return reading(
        "joint_speed", "rad/s", 5.0, size, "a joint moves faster than its gears bear", at=at
    )


def height(at: At) -> Reading:
    """Of the torso."""
    return reading("height", "m", 0.2, value, "the robot falls", "high", at=at)


def turning(at: At) -> Reading:
    """How fast the body turns."""
    return reading("turn_rate", "rad/s", 2.0, size, "the body is thrown about", at=at)


def pitch(at: At) -> Reading:
    """Of the torso, in a plane."""
    return reading("pitch", "rad", 0.2, size, "the robot topples", at=at)
