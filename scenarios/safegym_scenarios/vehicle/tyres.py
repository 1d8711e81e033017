"""A car in the plane: a dynamic single-track model with saturating tyres.

Axle side force: -F tanh(C slip / F), slip = wheel's speed sideways / its speed ahead, and F what
the friction circle leaves beside the force along. Below `CREEP` the slip is taken against that
speed, so that it stays defined at rest and for small steps.
"""

from dataclasses import dataclass
from math import cos, sin, sqrt, tanh
from typing import NamedTuple

GRAVITY = 9.81
CREEP = 3.0
HOLD = 0.2
"""m/s below which brakes let their force fade, so that they hold and do not push."""


@dataclass(frozen=True)
class Car:
    """mass in kg, inertia in kg m^2, front and rear axle from the centre of mass in m, cornering
    stiffness of each axle in N/rad, largest wheel angle in rad, acceleration and braking in m/s^2,
    drag in N per (m/s)^2, length and width in m, heat capacity of the brake discs in J/K.
    """

    mass: float = 1500.0
    inertia: float = 2600.0
    front: float = 1.3
    rear: float = 1.5
    front_stiffness: float = 90_000.0
    rear_stiffness: float = 110_000.0
    steering: float = 0.6
    drive: float = 3.0
    brake: float = 9.0
    drag: float = 0.4
    length: float = 4.5
    width: float = 1.8
    discs: float = 20_000.0

    @property
    def wheelbase(self) -> float:
        """Between the axles, m."""
        return self.front + self.rear


class Wheels(NamedTuple):
    """Forces in the car's frame: along and across in N, turning in N m, and what grip leaves."""

    along: float
    across: float
    turning: float


def wheels(
    car: Car,
    forward: float,
    sideways: float,
    turning: float,
    angle: float,
    pull: float,
    grip: float,
) -> Wheels:
    """Tyre forces.

    forward, sideways: m/s at the centre of mass, in the car's frame. turning: rad/s. angle: of the
    front wheels, rad. pull: wanted force along, N. grip: coefficient of friction.
    """
    base = car.wheelbase
    load = car.mass * GRAVITY * grip
    pull = max(-load, min(load, pull))
    share = sqrt(max(0.04, 1.0 - (pull / load) ** 2)) if load > 0.0 else 0.2
    over = max(abs(forward), CREEP)
    c, s = cos(angle), sin(angle)
    front = side_force(
        car.front_stiffness,
        ((sideways + car.front * turning) * c - forward * s) / over,
        share * load * car.rear / base,
    )
    rear = side_force(
        car.rear_stiffness,
        (sideways - car.rear * turning) / over,
        share * load * car.front / base,
    )
    return Wheels(pull - front * s, front * c + rear, car.front * front * c - car.rear * rear)


def braking(force: float, forward: float) -> float:
    """Brake force along in N against the motion; fades out at rest. force: N, >= 0."""
    return -force * tanh(forward / HOLD)


def side_force(stiffness: float, slip: float, most: float) -> float:
    """Of one axle in N. stiffness: N/rad. slip: sideways / ahead. most: N that grip allows."""
    return -most * tanh(stiffness * slip / most) if most > 1.0 else 0.0
