"""What a chaser's policy sees, all vectors in its own axes.

| index | quantity | divided by |
|---|---|---|
| 0, 1, 2 | way from its ring (or middle) to the goal | 10 m |
| 3, 4, 5 | velocity relative to the goal's turning frame | 0.5 m/s |
| 6, 7, 8 | rotation still to be made | 0.5 rad |
| 9, 10, 11 | angular rate relative to the goal's | 0.1 rad/s |
| 12, 13, 14 | way to the station's middle, or to the nearest solid | 10 m |
| 15, 16, 17 | a direction that the task tells (the sun) | 1 |
| 18, 19, 20, 21 | two angles of a pendulum or panel, and their rates | 0.2 rad, 0.2 rad/s |
| 22 | impulse used, as a share of the budget | 1 |
| 23 | the task's own | 1 |
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 24
WAY, SPEED, TURN, RATE, NEAR, LEAN = 10.0, 0.5, 0.5, 0.1, 10.0, 0.2

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class View:
    """A batch of observations in metres, seconds and radians: shapes (B, 3), (B, 2), (B,)."""

    way: Array
    velocity: Array
    turn: Array
    rate: Array
    near: Array
    direction: Array
    lean: Array
    leaning: Array
    used: Array
    own: Array


def decode(observations: NDArray[Any]) -> View:
    """What a batch of observations, shape (B, 24), says."""
    o = observations.astype(np.float64)
    return View(
        way=o[:, 0:3] * WAY,
        velocity=o[:, 3:6] * SPEED,
        turn=o[:, 6:9] * TURN,
        rate=o[:, 9:12] * RATE,
        near=o[:, 12:15] * NEAR,
        direction=o[:, 15:18],
        lean=o[:, 18:20] * LEAN,
        leaning=o[:, 20:22] * LEAN,
        used=o[:, 22],
        own=o[:, 23],
    )
