"""What the drone's policy sees, and how its action becomes a velocity command.

| index | quantity | divided by |
|---|---|---|
| 0, 1 | place across the corridor; height above the goal's | 1.5 m, 0.3 m |
| 2, 3, 4 | velocity forward, left, up | 1.2, 0.6, 0.5 m/s |
| 5, 6 | horizontal part of the rotor axis: forward, left | 1/3 |
| 7 | distance to the goal along the corridor, at most 2 m | 2 m |
| 8, 9 | how far ahead the next obstacle's near and far face is, at most 3 and 4 m | 2 m |
| 10, 11 | how far to the left its left and right face is | 1 m |
| 12 to 15 | the obstacle after it | likewise |
| 16, 17 | velocity that the guidance proposes: forward, left | 1.2, 0.6 m/s |
| 18, 19 | the last action | 1 |
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym_scenarios.drone_course import GOAL, HALF_WIDTH, Obstacle

Mode = Literal["residual", "direct"]
Observation = NDArray[np.float32]
Pair = tuple[float, float]
Triple = tuple[float, float, float]

SIZE = 20
FORWARD = (-0.3, 1.2)
SIDE = 0.6
RESIDUAL = (0.6, 0.3)

_HEIGHT_UNIT = 0.3
_FORWARD_UNIT = 1.2
_SIDE_UNIT = 0.6
_CLIMB_UNIT = 0.5
_LEAN_UNIT = 1.0 / 3.0
_AHEAD_UNIT = 2.0


def clipped(forward: float, left: float) -> Pair:
    """The velocity in m/s within what the drone may be asked for."""
    return max(FORWARD[0], min(FORWARD[1], forward)), max(-SIDE, min(SIDE, left))


def command(mode: Mode, action: Pair, proposal: Pair) -> Pair:
    """Velocity command (forward, left) in m/s for an action in [-1, 1]^2.

    residual: the guidance's proposal plus at most half of the range of speeds; direct: the action
    spans the whole range.
    """
    if mode == "direct":
        middle, half = (FORWARD[1] + FORWARD[0]) / 2.0, (FORWARD[1] - FORWARD[0]) / 2.0
        return middle + half * action[0], SIDE * action[1]
    return clipped(proposal[0] + RESIDUAL[0] * action[0], proposal[1] + RESIDUAL[1] * action[1])


def encode(
    position: Triple,
    velocity: Triple,
    lean: Pair,
    obstacles: tuple[Obstacle, Obstacle],
    proposal: Pair,
    action: Pair,
) -> Observation:
    """The observation, shape (20,), from quantities in metres and metres per second."""
    x, y, z = position
    return np.array(
        (
            y / HALF_WIDTH,
            (z - GOAL[2]) / _HEIGHT_UNIT,
            velocity[0] / _FORWARD_UNIT,
            velocity[1] / _SIDE_UNIT,
            velocity[2] / _CLIMB_UNIT,
            lean[0] / _LEAN_UNIT,
            lean[1] / _LEAN_UNIT,
            min(1.0, (GOAL[0] - x) / _AHEAD_UNIT),
            *_faces(obstacles[0], x, y),
            *_faces(obstacles[1], x, y),
            proposal[0] / _FORWARD_UNIT,
            proposal[1] / _SIDE_UNIT,
            *action,
        ),
        dtype=np.float32,
    )


def _faces(obstacle: Obstacle, x: float, y: float) -> tuple[float, float, float, float]:
    ox, oy, size, _ = obstacle
    near, far = (ox - size - x) / _AHEAD_UNIT, (ox + size - x) / _AHEAD_UNIT
    return min(1.5, near), min(2.0, far), oy + size - y, oy - size - y


@dataclass(frozen=True, slots=True)
class View:
    """A batch of observations in metres and metres per second, float64, shape (B,) each.

    near, far: faces of the next obstacle ahead; left, right: its faces to the left of the drone.
    """

    y: NDArray[np.float64]
    forward: NDArray[np.float64]
    side: NDArray[np.float64]
    goal: NDArray[np.float64]
    near: NDArray[np.float64]
    far: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    proposed_forward: NDArray[np.float64]
    proposed_side: NDArray[np.float64]
    last_forward: NDArray[np.float64]
    last_side: NDArray[np.float64]


def decode(observations: NDArray[Any]) -> View:
    """What a batch of observations, shape (B, 20), says; the inverse of `encode`."""
    o = observations.astype(np.float64).T
    return View(
        y=o[0] * HALF_WIDTH,
        forward=o[2] * _FORWARD_UNIT,
        side=o[3] * _SIDE_UNIT,
        goal=o[7] * _AHEAD_UNIT,
        near=o[8] * _AHEAD_UNIT,
        far=o[9] * _AHEAD_UNIT,
        left=o[10],
        right=o[11],
        proposed_forward=o[16] * _FORWARD_UNIT,
        proposed_side=o[17] * _SIDE_UNIT,
        last_forward=o[18],
        last_side=o[19],
    )


def actions_for(
    mode: Mode, view: View, forward: NDArray[np.float64], side: NDArray[np.float64]
) -> Observation:
    """Actions, shape (B, 2), that ask for these velocities (m/s) as nearly as the mode allows."""
    if mode == "direct":
        middle, half = (FORWARD[1] + FORWARD[0]) / 2.0, (FORWARD[1] - FORWARD[0]) / 2.0
        wanted = ((forward - middle) / half, side / SIDE)
    else:
        wanted = (
            (forward - view.proposed_forward) / RESIDUAL[0],
            (side - view.proposed_side) / RESIDUAL[1],
        )
    return np.clip(np.stack(wanted, axis=1), -1.0, 1.0).astype(np.float32)
