"""Scripted policies of the arms: good ones, and mistakes that break a claim each."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import MakePolicy

Array = NDArray[np.float64]
Wish = Callable[[Any], Array]
TIP, SPEED, WAY, ROOM = slice(0, 3), slice(3, 6), slice(6, 9), 9
EXTRA = 10
METRES = 0.5
"""Ways and places are told in units of this many m."""


def scripted(name: str, wish: Wish) -> MakePolicy:
    """A maker of the scripted policy `arm.<name>`; each behaviour has a name of its own."""
    return lambda: ScriptedPolicy(f"arm.{name}", wish)


def limited(velocity: Array, top: Array | float) -> Array:
    """The same direction, no longer than `top`; (B, 3)."""
    length = np.linalg.norm(velocity, axis=1, keepdims=True)
    found: Array = velocity * np.minimum(1.0, top / np.maximum(length, 1e-9))
    return found


def straight(seen: Array, gain: float = 4.0, top: Array | float = 1.0) -> Array:
    """Straight to the aim: velocity in units of the arm's top, gain in tops per 0.5 m."""
    return limited(gain * seen[:, WAY], top)


def over(seen: Array, way: Array, height: float, top: float = 1.0, gain: float = 4.0) -> Array:
    """Up to a height, across, and down at the end. height: of the tip in the observation's unit.

    way: (B, 3) to the goal, in units of 0.5 m.
    """
    flat = np.linalg.norm(way[:, :2], axis=1, keepdims=True)
    near = flat < 0.05
    climb = height - seen[:, 2:3]
    across = np.where(near | (climb < 0.08), 1.0, 0.0) * way[:, :2]
    return limited(gain * np.hstack((across, np.where(near, way[:, 2:3], climb))), top)


def idle(seen: Array) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 3))


def ways_to(chosen: Array, *more: Array | float) -> Array:
    """Velocity (B, 3) and further actions, side by side, cut off at [-1, 1]."""
    columns = [
        np.broadcast_to(np.asarray(each, float).reshape(-1, 1), (len(chosen), 1)) for each in more
    ]
    found: Array = np.clip(np.hstack((chosen, *columns)), -1.0, 1.0)
    return found
