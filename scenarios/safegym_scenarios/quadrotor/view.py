"""What a drone's policy sees.

| index | quantity | divided by |
|---|---|---|
| 0, 1, 2 | way to the goal: forward, left, up | 3 m |
| 3, 4, 5 | own velocity | 2 m/s |
| 6, 7 | horizontal part of the rotor axis: forward, left | 1/3 |
| 8, 9, 10 | velocity of the goal | 1 m/s |
| 11 | height of the soles above the goal, at most 9 m | 3 m |
| 12, 13, 14 | own place | 5 m |
| 15 to 23 | way to the three nearest solids, each forward, left, up, at most 4 m | 3 m |
| 24, 25, 26, 27 | a slung load: how far it hangs forward, left; how fast | 0.5 m, 1 m/s |
| 28 | thrust beyond the weight of the bare drone, as a share of it | 1 |
| 29 | the task's own | 1 |
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 30
WAY, SPEED, LEAN, GOAL_SPEED, HEIGHT, PLACE, SWING = 3.0, 2.0, 1.0 / 3.0, 1.0, 3.0, 5.0, 0.5
FAR = 4.0
"""m, from which on a solid is not told."""
FASTEST = (2.0, 2.0, 1.5)
"""m/s, the velocity that an action of 1 asks for: forward, left, up."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class View:
    """A batch of observations in metres and seconds: shapes (B, 3), (B, 2) or (B,)."""

    way: Array
    velocity: Array
    goal_velocity: Array
    height: Array
    place: Array
    solids: tuple[Array, Array, Array]
    hanging: Array
    swinging: Array
    surplus: Array
    own: Array


def decode(observations: NDArray[Any]) -> View:
    """What a batch of observations, shape (B, 30), says."""
    o = observations.astype(np.float64)
    return View(
        way=o[:, 0:3] * WAY,
        velocity=o[:, 3:6] * SPEED,
        goal_velocity=o[:, 8:11] * GOAL_SPEED,
        height=o[:, 11] * HEIGHT,
        place=o[:, 12:15] * PLACE,
        solids=(o[:, 15:18] * WAY, o[:, 18:21] * WAY, o[:, 21:24] * WAY),
        hanging=o[:, 24:26] * SWING,
        swinging=o[:, 26:28],
        surplus=o[:, 28],
        own=o[:, 29],
    )


def asking(velocity: Array) -> NDArray[np.float32]:
    """Actions, shape (B, 3), that ask for these velocities (B, 3) in m/s."""
    return np.asarray(np.clip(velocity / np.array(FASTEST), -1.0, 1.0), np.float32)
