"""Scripted crane drivers: functions of the observation batch, see `Crane` for its entries.

Every behaviour that a scenario names is a `partial` of one of these with numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TRAVEL, CROSS, HOIST = 0, 1, 2
SPEED, LEAN, RATE = 3, 6, 8
ROPE, PULL, HEIGHT, MORE = 10, 11, 12, 13
_REACH, _ANGLE = 10.0, 0.2


def approach(
    way: Array,
    speed: Array,
    *,
    top: float,
    slow: float,
    quick: float,
    nearing: float,
    quickness: float = 1.25,
) -> Array:
    """Wanted acceleration (m/s^2) to stop after `way` m: braking at `slow`, reacting at `quick`."""
    size = np.abs(way)
    wanted = np.sign(way) * np.minimum(np.minimum(top, np.sqrt(2.0 * slow * size)), nearing * size)
    return np.asarray(np.clip(quickness * (wanted - speed), -quick, quick))


def calm(seen: Array, axis: int, damping: float) -> Array:
    """Acceleration that goes along with the load: m/s^2 per 0.14 rad of sway, 0.2 rad/s of rate.

    With `approach` these are the gains of a linear-quadratic regulator for 9 m of rope.
    """
    lean, rate = seen[:, LEAN + axis] * _ANGLE, seen[:, RATE + axis] * _ANGLE
    return np.asarray(damping * (7.0 * lean + 5.0 * rate))


def drive(
    seen: Array,
    *,
    axes: tuple[int, ...] = (0,),
    tops: tuple[float, float, float] = (2.0, 2.0, 1.0),
    boost: float = 1.0,
    cruise: tuple[float, float, float] = (1.6, 1.6, 0.8),
    slow: float = 0.2,
    quick: float = 0.35,
    damping: float = 1.0,
    short: float = 0.0,
) -> Array:
    """To the goal on `axes` (0 travel, 1 cross, 2 hoist), braking at `slow`, damping the sway.

    tops, boost: the machine's (see CraneSetting). short: share of the way that is left undone.
    """
    found = [
        go(
            seen,
            axis,
            seen[:, axis] * _REACH * (1.0 - short),
            top=tops[axis],
            boost=boost,
            cruise=cruise[axis],
            slow=slow,
            quick=quick,
            damping=damping if axis < HOIST else 0.0,
        )
        for axis in axes
    ]
    return np.stack(found, axis=1)


def go(
    seen: Array,
    axis: int,
    way: Array,
    *,
    top: float,
    boost: float = 1.0,
    cruise: float,
    slow: float = 0.2,
    quick: float = 0.35,
    damping: float = 1.0,
) -> Array:
    """The action of one axis that is to stop after `way` m."""
    speed = seen[:, SPEED + axis] * top
    nearing = 0.6 if axis == HOIST else 0.25
    wanted = approach(way, speed, top=cruise, slow=slow, quick=quick, nearing=nearing)
    if axis < HOIST and damping:
        wanted = (1.0 + damping * 7.0 / 9.81) * wanted + calm(seen, axis, damping)
    return np.asarray(np.clip(wanted / boost, -1.0, 1.0))


def bang(seen: Array, *, axes: tuple[int, ...] = (0,), zone: float = 0.0) -> Array:
    """Full acceleration and full braking by the shortest way, whatever the load does."""
    found: list[Array] = []
    for axis in axes:
        way, speed = seen[:, axis] * _REACH, seen[:, SPEED + axis] * (1.0 if axis == HOIST else 2.0)
        room = np.abs(way) - speed * np.abs(speed) * np.sign(way) / 2.0 - zone
        found.append(np.where(room > 0.0, np.sign(way), -np.sign(speed)))
    return np.stack(found, axis=1)


def idle(seen: Array, *, axes: int = 1) -> Array:
    """Nothing."""
    return np.zeros((len(seen), axes))
