"""Scripted operators of plants: functions of the observation batch.

Entries 0 and 1 of every plant are the control error and its integral. Openings are in [0, 1].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def to_action(*openings: Array) -> Array:
    """From openings in [0, 1] to actions in [-1, 1]."""
    return np.stack([2.0 * np.clip(each, 0.0, 1.0) - 1.0 for each in openings], axis=1)


def hold(seen: Array, *, openings: tuple[float, ...] = (0.5,)) -> Array:
    """Leaves every actuator where it is set once."""
    return to_action(*(np.full(len(seen), each) for each in openings))


def proportional_integral(
    seen: Array,
    *,
    gain: float,
    reset: float,
    rest: float = 0.5,
    feed: tuple[tuple[int, float], ...] = (),
) -> Array:
    """Rest + gain * error + reset * integral, and `feed`: (entry, weight) of what is measured."""
    opening = rest + gain * seen[:, 0] + reset * seen[:, 1]
    for entry, weight in feed:
        opening = opening + weight * seen[:, entry]
    return to_action(opening)
