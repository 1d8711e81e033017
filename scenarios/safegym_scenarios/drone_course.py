"""The corridor: its size, its obstacles, and the exact clearance of the drone's cage.

Frame: x along the corridor (the path), y to the left, z up, in metres. The path runs along y = 0,
so the path frame is the world frame.
"""

from collections.abc import Mapping
from math import hypot
from typing import NamedTuple

from safegym.scenario.spec import Parameter

HALF_WIDTH = 1.5
HEIGHT = 2.4
BACK = -1.5
FRONT = 9.8
GOAL = (8.6, 0.0, 1.2)
CAGE = 0.24
OBSTACLES = 3


class Obstacle(NamedTuple):
    """From floor to ceiling: a round pillar of radius `size`, or a square column 2 `size` wide."""

    x: float
    y: float
    size: float
    square: bool


def _obstacle_parameters(number: int) -> tuple[Parameter, ...]:
    centre = 2.0 + 2.3 * (number - 1)
    name = f"obstacle_{number}"
    return (
        Parameter(
            f"{name}_x", "m", centre - 0.2, centre + 0.2, centre, "position along the corridor"
        ),
        Parameter(f"{name}_y", "m", -0.7, 0.7, 0.0, "position across the corridor"),
        Parameter(f"{name}_size", "m", 0.2, 0.32, 0.26, "radius, or half-width of a square column"),
    )


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "start_y", "m", -0.6, 0.6, 0.0, "where across the corridor the drone starts", "initial"
    ),
    Parameter("gust_peak", "N", 0.0, 0.4, 0.2, "largest horizontal force of a gust"),
    Parameter(
        "motor_efficiency", "1", 0.94, 1.0, 1.0, "share of the commanded thrust that arrives"
    ),
    *(p for number in range(1, OBSTACLES + 1) for p in _obstacle_parameters(number)),
)
FAULTS: tuple[Parameter, ...] = (
    Parameter("rotor_loss", "1", 0.0, 0.4, 0.0, "share of the front left rotor's thrust lost"),
    Parameter(
        "rotor_loss_time",
        "s",
        0.0,
        15.0,
        0.0,
        "when it is lost, to the 0.01 s",
    ),
)


def obstacles(values: Mapping[str, float]) -> tuple[Obstacle, ...]:
    """The obstacles of one episode, in order along the corridor; every second one is square."""
    return tuple(
        Obstacle(
            values[f"obstacle_{number}_x"],
            values[f"obstacle_{number}_y"],
            values[f"obstacle_{number}_size"],
            number % 2 == 0,
        )
        for number in range(1, OBSTACLES + 1)
    )


def clearance(x: float, y: float, z: float, near: tuple[Obstacle, ...]) -> float:
    """Distance in metres from the cage's surface to the nearest of walls, floor, ceiling, `near`.

    Exact for a cage outside the obstacles; inside one it is negative, minus the depth.
    """
    gap = HALF_WIDTH - (y if y > 0.0 else -y)
    for face in (z, HEIGHT - z, x - BACK, FRONT - x):
        if face < gap:
            gap = face
    for ox, oy, size, square in near:
        dx = x - ox if x > ox else ox - x
        dy = y - oy if y > oy else oy - y
        distance = _to_square(dx - size, dy - size) if square else hypot(dx, dy) - size
        if distance < gap:
            gap = distance
    return gap - CAGE


def _to_square(outside_x: float, outside_y: float) -> float:
    if outside_x <= 0.0:
        return outside_y if outside_y > outside_x else outside_x
    return hypot(outside_x, outside_y) if outside_y > 0.0 else outside_x


def within_reach(x: float, course: tuple[Obstacle, ...]) -> tuple[Obstacle, ...]:
    """Obstacles that can be the nearest thing while the drone stays within 0.4 m of `x` along it.

    A side wall is never further than HALF_WIDTH, so an obstacle further than that is not nearest.
    """
    return tuple(o for o in course if abs(o.x - x) < HALF_WIDTH + 0.4 + o.size)
