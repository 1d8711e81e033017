"""Drives of a mobile base in the plane: two wheels, omnidirectional, steered.

Motors pull wheels towards the commanded speed with a limited force, and the floor passes on no more
than friction allows: what is beyond is wheel slip.
"""

from dataclasses import dataclass
from math import cos, hypot, sin, tan, tanh
from typing import Literal, NamedTuple

GRAVITY = 9.81
REACTION = 0.08
"""s in which a motor makes up a difference of speed, with force to spare."""

Kind = Literal["two_wheels", "omni", "tug"]


@dataclass(frozen=True)
class Base:
    """kind: of drive. mass in kg, inertia in kg m^2, size (length, width, height) in m, track (m
    between the wheels), wheelbase (m between the axles of a tug), top speed in m/s, spin in rad/s,
    motor in m/s^2 that all motors together give to the bare base, ramp in m/s^2 of the controller.
    """

    kind: Kind = "two_wheels"
    mass: float = 80.0
    inertia: float = 8.0
    size: tuple[float, float, float] = (0.9, 0.6, 0.32)
    track: float = 0.5
    wheelbase: float = 0.8
    top: float = 1.6
    spin: float = 1.8
    motor: float = 4.0
    steering: float = 0.7


class Push(NamedTuple):
    """Forces in the frame of the base: along, across in N, turning in N m; slip in m/s."""

    along: float
    across: float
    turning: float
    slip: float


def wanted(base: Base, action: list[float], angle: float) -> tuple[float, float, float]:
    """Commanded speeds along and across in m/s and spin in rad/s. angle: of a tug's wheel, rad."""
    ahead = action[0] * base.top
    if base.kind == "omni":
        return ahead, action[1] * base.top * 0.7, action[2] * base.spin
    if base.kind == "tug":
        return ahead, 0.0, ahead * tan(angle) / base.wheelbase
    return ahead, 0.0, action[1] * base.spin


def driven(
    base: Base,
    now: tuple[float, float, float],
    goal: tuple[float, float, float],
    load: float,
    grip: float,
    left: float,
    right: float,
) -> Push:
    """What the floor does to the base.

    now, goal: speeds along, across, and spin. load: N on all wheels. grip: friction. left, right:
    shares of the motors' effort that are there (omni and tug: the smaller counts).
    """
    if base.kind == "two_wheels":
        return _two_wheels(base, now, goal, load, grip, left, right)
    share = min(left, right)
    rollers = 0.7 if base.kind == "omni" else 1.0
    motors, floor = base.motor * base.mass * share, grip * load * rollers
    rolls = 1.0 if base.kind == "tug" else share
    along = share * base.mass * (goal[0] - now[0]) / REACTION
    across = rolls * base.mass * (goal[1] - now[1]) / REACTION
    turning = rolls * base.inertia * (goal[2] - now[2]) / REACTION
    arm = 0.4 * hypot(*base.size[:2])
    if base.kind == "omni":
        size = hypot(along, across)
        scale = _held(min(size, motors), floor) / size if size > 0.0 else 1.0
        slip = hypot(goal[0] - now[0], goal[1] - now[1]) if min(size, motors) > floor else 0.0
        turning = _held(_within(turning, motors * arm), floor * arm)
        return Push(along * scale, across * scale, turning, slip)
    pull = _within(along, motors)
    slip = abs(goal[0] - now[0]) if abs(pull) > floor else 0.0
    return Push(_held(pull, floor), _held(across, floor), _held(turning, floor * arm), slip)


def _two_wheels(
    base: Base,
    now: tuple[float, float, float],
    goal: tuple[float, float, float],
    load: float,
    grip: float,
    left: float,
    right: float,
) -> Push:
    half, slip = base.track / 2.0, 0.0
    forces: list[float] = []
    effective = min(base.mass, base.inertia / half**2)
    for side, share in ((-half, left), (half, right)):
        rim = goal[0] + goal[2] * side
        ground = now[0] + now[2] * side
        most = base.motor * base.mass / 2.0
        pull = share * _within(effective / 2.0 * (rim - ground) / REACTION, most)
        held = _held(pull, grip * load / 2.0)
        if abs(pull) > grip * load / 2.0:
            slip = max(slip, abs(rim - ground))
        forces.append(held)
    across = _held(-base.mass * now[1] / REACTION, grip * load)
    return Push(forces[0] + forces[1], across, (forces[1] - forces[0]) * half, slip)


def _within(value: float, most: float) -> float:
    return max(-most, min(most, value))


def _held(force: float, most: float) -> float:
    """What the floor passes on of a force: most of it, and never more than friction allows."""
    return most * tanh(force / most) if most > 1e-6 else 0.0


def turned(x: float, y: float, angle: float) -> tuple[float, float]:
    """A vector turned by an angle in rad."""
    c, s = cos(angle), sin(angle)
    return x * c - y * s, x * s + y * c
