"""The inner loops that fly a velocity command: velocity, attitude, and mixing to the rotors.

Plain floats: at this size they are several times faster than small arrays.
"""

from math import sqrt
from typing import Any

import numpy as np

from safegym_scenarios.quadrotor.airframe import REACTION, ROTOR_LIMIT, rotors

GRAVITY = 9.81
VELOCITY_GAIN = 2.5
CLIMB_GAIN = 4.0
SIDE_LIMIT = 5.0
"""m/s^2, largest acceleration asked for sideways."""
RISE_LIMIT = 6.0
TILT_FREQUENCY = 190.0
"""1/s^2, times the inertia: N m per unit of missing tilt."""
RATE_DAMPING = 23.0
INTEGRAL = 250.0
INTEGRAL_LIMIT = 90.0
YAW_FREQUENCY = 19.0
YAW_DAMPING = 7.5


class Autopilot:
    """Thrusts for a commanded velocity. `steady` holds what it has learned of a lasting torque."""

    def __init__(self, count: int, mass: float, inertia: float) -> None:
        """count: rotors. mass: kg, as the autopilot believes. inertia: kg m^2 about x and y."""
        self._mass, self._inertia = mass, inertia
        frame = rotors(count)
        rows = (
            [1.0] * count,
            [y for _, y, _ in frame],
            [-x for x, _, _ in frame],
            [-spin * REACTION for _, _, spin in frame],
        )
        self._mix: list[list[float]] = np.linalg.pinv(np.array(rows)).tolist()
        self.steady = [0.0, 0.0]

    def begin(self) -> None:
        """Forget the last episode."""
        self.steady = [0.0, 0.0]

    def thrusts(
        self, wanted: tuple[float, float, float], pose: Any, twist: Any, dt: float
    ) -> list[float]:
        """N for each rotor. wanted: m/s. pose, twist: of the free joint. dt: s since the last."""
        qw, qx, qy, qz = pose[3:7]
        vx, vy, vz, wx, wy, wz = twist
        ax = max(-SIDE_LIMIT, min(SIDE_LIMIT, VELOCITY_GAIN * (wanted[0] - vx)))
        ay = max(-SIDE_LIMIT, min(SIDE_LIMIT, VELOCITY_GAIN * (wanted[1] - vy)))
        az = GRAVITY + max(-RISE_LIMIT, min(RISE_LIMIT, CLIMB_GAIN * (wanted[2] - vz)))
        size = sqrt(ax * ax + ay * ay + az * az)
        # The wanted acceleration in the body frame: its x and y parts are the tilt still missing.
        right = (1.0 - 2.0 * (qy * qy + qz * qz)) * ax + 2.0 * (
            (qx * qy + qw * qz) * ay + (qx * qz - qw * qy) * az
        )
        left = (1.0 - 2.0 * (qx * qx + qz * qz)) * ay + 2.0 * (
            (qx * qy - qw * qz) * ax + (qy * qz + qw * qx) * az
        )
        along = (1.0 - 2.0 * (qx * qx + qy * qy)) * az + 2.0 * (
            (qx * qz + qw * qy) * ax + (qy * qz - qw * qx) * ay
        )
        roll = self._turn(0, -left / size, wx, dt)
        pitch = self._turn(1, right / size, wy, dt)
        spin = 1.6 * (-2.0 * YAW_FREQUENCY * qw * qz - YAW_DAMPING * wz)
        spin = self._inertia * max(-8.0, min(8.0, spin))
        lift = self._mass * max(0.0, along)
        return [
            max(0.0, min(ROTOR_LIMIT, a * lift + b * roll + c * pitch + d * spin))
            for a, b, c, d in self._mix
        ]

    def _turn(self, axis: int, missing: float, rate: float, dt: float) -> float:
        learned = self.steady[axis] + INTEGRAL * missing * dt
        self.steady[axis] = learned = max(-INTEGRAL_LIMIT, min(INTEGRAL_LIMIT, learned))
        return self._inertia * (TILT_FREQUENCY * missing - RATE_DAMPING * rate + learned)
