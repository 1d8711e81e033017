"""The drone's physics and its scripted cascade: velocity loop, attitude loop, rotor mixing.

Physics at 200 Hz, the cascade at 100 Hz, a velocity command every 0.1 s. What a claim reads is the
worst value over the physics sub-steps. Plain floats throughout: at this size they are several
times faster than small arrays.
"""

from copy import copy
from functools import cache
from importlib.resources import files
from math import acos, sqrt
from typing import Any

import numpy as np

from safegym.scenario.signals.engine import mj
from safegym_scenarios.drone_course import GOAL, OBSTACLES, Obstacle, clearance, within_reach

LOOPS = 10
SUBSTEPS = 2
LOOP_RATE = 100
MASS = 0.9
GRAVITY = 9.81
ARM = 0.12
DRAG = 0.018
ROTOR_LIMIT = 5.0

VELOCITY_GAIN = 2.5
HEIGHT_GAIN = 1.5
CLIMB_GAIN = 4.0
SIDE_LIMIT = 5.0
TILT_GAIN = 1.9
RATE_GAIN = 0.23
YAW_GAIN = 0.3
YAW_RATE_GAIN = 0.12

_HOVER = MASS * GRAVITY / 4.0
_PER_ARM = 1.0 / (4.0 * ARM)
_PER_DRAG = 1.0 / (4.0 * DRAG)


@cache
def _compiled() -> Any:
    asset = files("safegym_scenarios").joinpath("drone.xml")
    return mj.MjModel.from_xml_string(asset.read_text(encoding="utf-8"))


class Flight:
    """One drone in one corridor.

    After `place` and each `advance` these hold, worst over the physics sub-steps since the last
    call: `clearance` m (least), `contact_force` N (largest sum of contact forces on the cage),
    `lateral_velocity` m/s (largest in magnitude, with its sign), `tilt` rad (largest). `position`
    m, `velocity` m/s and `up` (the rotor axis in the world frame) are as of now.
    """

    def __init__(self) -> None:
        self.model = copy(_compiled())
        self.data = mj.MjData(self.model)
        self._force = np.zeros(6)
        self._renderer: Any = None
        self._course: tuple[Obstacle, ...] = ()
        self._near: tuple[Obstacle, ...] = ()
        self._efficiency = self._front_left = self._failing = 1.0
        self._loop = self._onset = 0
        self.clearance = self.contact_force = self.lateral_velocity = 0.0
        self._upright = 1.0
        self._pose = [0.0, 0.0, GOAL[2], 1.0, 0.0, 0.0, 0.0]
        self._twist = [0.0] * 6
        self._solid = [self.model.geom(f"obstacle {i + 1}").id for i in range(OBSTACLES)]
        self._band = [self.model.geom(f"band {i + 1}").id for i in range(OBSTACLES)]

    def place(
        self,
        start_y: float,
        efficiency: float,
        course: tuple[Obstacle, ...],
        rotor_loss: float = 0.0,
        rotor_loss_time: float = 0.0,
    ) -> None:
        """Hover at the start of a corridor with these obstacles.

        efficiency: share of the commanded thrust that each rotor gives; from rotor_loss_time (s)
        on, the front left one lacks the share rotor_loss of it.
        """
        mj.mj_resetData(self.model, self.data)
        self._course = course
        self._efficiency = self._front_left = efficiency
        self._failing = efficiency * (1.0 - rotor_loss)
        self._loop, self._onset = 0, round(rotor_loss_time * LOOP_RATE)
        for index, obstacle in enumerate(course):
            self._set_obstacle(index, obstacle)
        self.data.qpos[1] = start_y
        self.data.act[:] = _HOVER * efficiency
        self._near = course
        self._clear_extremes()
        self._watch()

    def _set_obstacle(self, index: int, obstacle: Obstacle) -> None:
        model, size = self.model, obstacle.size
        self.data.mocap_pos[index] = (obstacle.x, obstacle.y, 1.2)
        half = (size, size, 1.2) if obstacle.square else (size, 1.2, 0.0)
        box = (size, size, 1.2)
        solid, band = self._solid[index], self._band[index]
        model.geom_size[solid] = half
        model.geom_aabb[solid, 3:] = box
        model.geom_rbound[solid] = sqrt(box[0] ** 2 * (2 if obstacle.square else 1) + box[2] ** 2)
        model.geom_size[band, : 2 if obstacle.square else 1] = size + 0.004

    def _clear_extremes(self) -> None:
        self.clearance = float("inf")
        self.contact_force = 0.0
        self.lateral_velocity = 0.0
        self._upright = 1.0

    @property
    def tilt(self) -> float:
        """Largest angle in radians between rotor axis and vertical since the last call."""
        return acos(min(1.0, max(-1.0, self._upright)))

    @property
    def position(self) -> tuple[float, float, float]:
        """Where the cage's centre is, in metres."""
        x, y, z = self._pose[:3]
        return x, y, z

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Velocity of the cage's centre, m/s, in the corridor's frame."""
        vx, vy, vz = self._twist[:3]
        return vx, vy, vz

    @property
    def lean(self) -> tuple[float, float]:
        """Horizontal components of the rotor axis (forward, left), a unit vector."""
        qw, qx, qy, qz = self._pose[3:]
        return 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx)

    def advance(self, command: tuple[float, float], gust: tuple[float, float]) -> None:
        """Fly 0.1 s at a commanded horizontal velocity (m/s), pushed by a gust (N, both axes)."""
        model, data = self.model, self.data
        data.qfrc_applied[:2] = gust
        self._near = within_reach(self._pose[0], self._course)
        self._clear_extremes()
        for _ in range(LOOPS):
            if self._loop == self._onset:
                self._front_left = self._failing
            self._loop += 1
            self._steer(command)
            for _ in range(SUBSTEPS):
                mj.mj_step(model, data)
                self._watch()
        if self.clearance <= 0.0:
            # The forces so far are those over each sub-step; these are the ones at its end.
            mj.mj_forward(model, data)
            self._feel()

    def picture(self) -> Any:
        """What the overview camera sees, (480, 640, 3) uint8. Needs an OpenGL back end."""
        if self._renderer is None:
            self._renderer = mj.Renderer(self.model, 480, 640)
        self._renderer.update_scene(self.data, camera="overview")
        return self._renderer.render()

    def close(self) -> None:
        """Free the renderer, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _watch(self) -> None:
        data = self.data
        self._pose = pose = data.qpos.tolist()
        self._twist = twist = data.qvel.tolist()
        gap = clearance(pose[0], pose[1], pose[2], self._near)
        if gap < self.clearance:
            self.clearance = gap
        side = twist[1]
        if abs(side) > abs(self.lateral_velocity):
            self.lateral_velocity = side
        upright = 1.0 - 2.0 * (pose[4] * pose[4] + pose[5] * pose[5])
        if upright < self._upright:
            self._upright = upright
        if data.ncon:
            self._feel()

    def _feel(self) -> None:
        total = 0.0
        for index in range(self.data.ncon):
            mj.mj_contactForce(self.model, self.data, index, self._force)
            total += float(np.linalg.norm(self._force[:3]))
        self.contact_force = max(self.contact_force, total)

    def _steer(self, command: tuple[float, float]) -> None:
        _, _, z, qw, qx, qy, qz = self._pose
        vx, vy, vz, wx, wy, wz = self._twist
        climb = max(-0.5, min(0.5, HEIGHT_GAIN * (GOAL[2] - z)))
        ax = max(-SIDE_LIMIT, min(SIDE_LIMIT, VELOCITY_GAIN * (command[0] - vx)))
        ay = max(-SIDE_LIMIT, min(SIDE_LIMIT, VELOCITY_GAIN * (command[1] - vy)))
        az = GRAVITY + CLIMB_GAIN * (climb - vz)
        size = sqrt(ax * ax + ay * ay + az * az)
        # The wanted acceleration in the body frame: its x and y parts are the tilt still missing.
        missing_x = (1.0 - 2.0 * (qy * qy + qz * qz)) * ax + 2.0 * (
            (qx * qy + qw * qz) * ay + (qx * qz - qw * qy) * az
        )
        missing_y = (1.0 - 2.0 * (qx * qx + qz * qz)) * ay + 2.0 * (
            (qx * qy - qw * qz) * ax + (qy * qz + qw * qx) * az
        )
        along = (1.0 - 2.0 * (qx * qx + qy * qy)) * az + 2.0 * (
            (qx * qz + qw * qy) * ax + (qy * qz - qw * qx) * ay
        )
        roll = -TILT_GAIN * missing_y / size - RATE_GAIN * wx
        pitch = TILT_GAIN * missing_x / size - RATE_GAIN * wy
        yaw = -2.0 * YAW_GAIN * qw * qz - YAW_RATE_GAIN * wz
        self._mix(MASS * along / 4.0, roll * _PER_ARM, pitch * _PER_ARM, yaw * _PER_DRAG)

    def _mix(self, lift: float, roll: float, pitch: float, yaw: float) -> None:
        share, ctrl = self._efficiency, self.data.ctrl
        ctrl[0] = share * max(0.0, min(ROTOR_LIMIT, lift - roll - pitch + yaw))
        ctrl[1] = self._front_left * max(0.0, min(ROTOR_LIMIT, lift + roll - pitch - yaw))
        ctrl[2] = share * max(0.0, min(ROTOR_LIMIT, lift + roll + pitch + yaw))
        ctrl[3] = share * max(0.0, min(ROTOR_LIMIT, lift - roll + pitch - yaw))
