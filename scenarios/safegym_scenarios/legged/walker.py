"""A legged robot on some ground, as an environment.

Observation: pitch / 0.3 rad (nose down positive), roll / 0.3 rad (left side up positive), rates
about x, y, z / 2 rad/s, speed forward, left, up / 0.5 m/s, height / 0.3 m, way ahead to the goal /
1 m, way to the left / 1 m, heading / 0.5 rad (the goal's subtracted), sine and cosine of the gait's
clock, then the angle of each drive off its rest, in its span. Action: where each drive
should go, the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, asin, atan2, cos, hypot, pi, sin

import numpy as np

from safegym.scenario.signals import ActuatorEffort, ContactForce, Custom, Tilt
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.select import geom_ids
from safegym_scenarios.legged.grounds import DECK_SERVOS, ground, height, lean
from safegym_scenarios.legged.measures import (
    BAR_FORCE,
    ENERGY,
    GOAL_DISTANCE,
    HEIGHT,
    IMPACT,
    SLIP,
    SPEED,
    TILT,
    TORQUE,
)
from safegym_scenarios.legged.robots import Robot, biped, hexapod, hopper, quadruped, wheeled
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

SIGNALS = (TILT, TORQUE, IMPACT, SLIP, SPEED, HEIGHT, GOAL_DISTANCE, ENERGY)
BODY = 14
"""Entries of the observation before the drives'."""


@dataclass(frozen=True, kw_only=True)
class WalkSetting(Setting):
    """One robot on one ground.

    robot, ground: names. fold: how far a quadruped's legs are bent at rest, rad. payload: kg on its
    back. gait: Hz of the clock. low, fall: height in m and tilt in rad at which it has fallen.
    lame: the leg whose drives are dead, -1 for none. friction: of the ground, 0 for the usual one.
    """

    robot: str = "quadruped"
    ground: str = "flat"
    fold: float = 0.0
    payload: float = 0.0
    gait: float = 2.0
    low: float = 0.12
    fall: float = 0.8
    lame: int = -1
    friction: float = 0.0
    timestep: float = 0.005
    substeps: int = 6


def robot_of(setting: WalkSetting) -> Robot:
    """The robot of a setting."""
    if setting.robot == "quadruped":
        return quadruped(setting.fold, setting.payload)
    makers = {"hexapod": hexapod, "wheeled": wheeled, "hopper": hopper}
    if setting.robot in makers:
        return makers[setting.robot]()
    return biped(stiff_boom=setting.robot == "biped-boom")


class Walker(SceneEnv):
    """The robot; reads goal_x, goal_y, goal_heading, start_* and what the ground and load have."""

    pushed = "trunk"

    @staticmethod
    def build(setting: WalkSetting) -> str:
        """MJCF of the machine and what is around it."""
        robot = robot_of(setting)
        servos = "".join(drive.mjcf() for drive in robot.drives)
        return scene(
            "legged",
            world=robot.mjcf + _GOAL + ground(setting.ground),
            actuator=servos + (DECK_SERVOS if setting.ground == "deck" else ""),
            center=(0.4, 0, 0.2),
            extent=1.4,
            timestep=setting.timestep,
            camera=f'mode="targetbody" target="trunk" pos="{_EYE_FAR if robot.planar else _EYE}"',
            floor="" if setting.ground == "slope" else "floor",
            option='cone="pyramidal" iterations="20"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        model, data = self.model, self.data
        self.robot = robot_of(self.setting)
        self._rest = np.array([drive.rest for drive in self.robot.drives])
        self._span = np.array([drive.span for drive in self.robot.drives])
        joints = [model.joint(drive.joint) for drive in self.robot.drives]
        self._joints = np.array([int(joint.qposadr[0]) for joint in joints])
        self._speeds = np.array([int(joint.dofadr[0]) for joint in joints])
        self._count = len(joints)
        self._turning = np.array([drive.speed for drive in self.robot.drives])
        self._trunk = int(model.body("trunk").id)
        self._frame = data.xmat[self._trunk]
        self._at = data.xpos[self._trunk]
        self._feet = dict.fromkeys(geom_ids(model, self.robot.feet), 0)
        self._room = np.zeros(6)
        self._mark = int(model.body("goal").mocapid[0])
        self._load = int(model.body("payload").id) if self.setting.payload else 0
        self._goal, self.energy = [0.0, 0.0, 0.0], 0.0
        self._deck = self.setting.ground == "deck"
        self._lame()
        if self.setting.friction:
            model.geom_friction[:, 0] = self.setting.friction
            self._friction = model.geom_friction.copy()

    def _lame(self) -> None:
        """The drives of the lame leg give nothing, in any episode."""
        if self.setting.lame < 0:
            return
        each = self._count // len(self.robot.feet)
        dead = slice(self.setting.lame * each, (self.setting.lame + 1) * each)
        for table in (*self._healthy, self.model.actuator_gainprm, self.model.actuator_biasprm):
            table[dead] = 0.0

    def readers(self) -> Readers:
        """What is read at every physics step."""
        turning = tuple(
            drive.joint
            for drive in self.robot.drives
            if int(self.model.joint(drive.joint).type[0]) == _HINGE
        )
        grounds = tuple(name for name in _GROUNDS[self.setting.ground])
        bar = ((BAR_FORCE, ContactForce("trunk", "bar")),) if self.setting.ground == "bar" else ()
        return (
            (TILT, Tilt("trunk")),
            (TORQUE, ActuatorEffort(turning)),
            (IMPACT, ContactForce(self.robot.feet, grounds)),
            (SLIP, Custom(lambda model, data: self._slip())),
            (SPEED, Custom(lambda model, data: self._speed())),
            *bar,
            (HEIGHT, Custom(lambda model, data: self._height())),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        model, data, robot = self.model, self.data, self.robot
        self.energy = 0.0
        if self._load:
            model.body_pos[self._load][:2] = (values["load_forward"], values["load_left"])
            mj.mj_setConst(model, data)  # before the state is set: it overwrites it
        self._goal = [
            values.get("goal_x", 0.0),
            values.get("goal_y", 0.0),
            values.get("goal_heading", 0.0),
        ]
        up = robot.height + height(self.setting.ground, 0.0) + values.get("start_drop", 0.0)
        data.qpos[self._joints] = self._rest
        if robot.planar:
            model.body_pos[self._trunk][2] = up
            data.qvel[0] = values.get("start_speed", 0.0)
            if self.setting.robot == "biped":
                data.qpos[2] = values["start_pitch"]
        else:
            base = self._joints.min() - 7
            pitch, yaw = (
                values.get("start_pitch", 0.0) - lean(self.setting.ground),
                values.get("start_heading", 0.0),
            )
            half = (cos(pitch / 2), sin(pitch / 2), cos(yaw / 2), sin(yaw / 2))
            quat = (half[0] * half[2], -half[1] * half[3], half[1] * half[2], half[0] * half[3])
            tilted = lean(self.setting.ground)
            data.qpos[base : base + 7] = (-up * sin(tilted), 0.0, up * cos(tilted), *quat)
            data.qvel[base] = values.get("start_speed", 0.0)
        x, y, _ = self._goal
        data.mocap_pos[self._mark] = (x, y, height(self.setting.ground, x) + 0.002)
        lying = lean(self.setting.ground) / 2.0
        data.mocap_quat[self._mark] = (cos(lying), 0.0, -sin(lying), 0.0)
        data.ctrl[: self._count] = np.where(self._turning, 0.0, self._rest)
        self._sway()

    def command(self, action: Vector) -> None:
        """Hand the action to the drives."""
        ctrl = self.data.ctrl
        ctrl[: self._count] = self._rest + action * self._span

    def weakened(self, left: float) -> None:
        """Only the share `left` of the drives' effort is there from now on."""
        super().weakened(left)
        if self._deck:
            gain, bias = self._healthy
            self.model.actuator_gainprm[self._count :] = gain[self._count :]
            self.model.actuator_biasprm[self._count :] = bias[self._count :]

    def tick(self) -> None:
        """Called before every physics step."""
        force, speed = self.data.actuator_force, self.data.actuator_velocity
        count = self._count
        self.energy += float(np.abs(force[:count]) @ np.abs(speed[:count])) * self.setting.timestep
        self._sway()

    def _sway(self) -> None:
        """The deck follows the sea."""
        if self._deck:
            turn = 2.0 * pi / self.values["sea_period"]
            angle = turn * float(self.data.time)
            most, phase = self.values["sea_angle"], self.values["sea_phase"]
            self.data.ctrl[self._count] = most * sin(angle)
            self.data.ctrl[self._count + 1] = 0.7 * most * (sin(angle + phase) - sin(phase))

    def _slip(self) -> float:
        data, feet, fastest = self.data, self._feet, 0.0
        if data.ncon == 0:
            return 0.0
        contact = data.contact
        touching = zip(
            contact.geom.tolist(),
            contact.dist.tolist(),
            contact.pos.tolist(),
            contact.frame.tolist(),
            strict=True,
        )
        for (one, other), dist, at, frame in touching:
            foot, ground = (one, other) if one in feet else (other, one)
            if dist < -0.0004 and foot in feet:
                moving = self._velocity(foot, at)
                if self._deck:
                    moving = tuple(
                        a - b for a, b in zip(moving, self._velocity(ground, at), strict=True)
                    )
                fastest = max(fastest, _along(moving, frame[:3]))
        return fastest

    def _velocity(self, geom: int, at: Sequence[float]) -> tuple[float, ...]:
        """Velocity in m/s of the geom's material at a point of the world."""
        mj.mj_objectVelocity(self.model, self.data, _GEOM, geom, self._room, 0)
        wx, wy, wz, vx, vy, vz = self._room.tolist()
        x, y, z = (a - b for a, b in zip(at, self.data.geom_xpos[geom].tolist(), strict=True))
        return vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x

    def _speed(self) -> float:
        base = 0 if self.robot.planar else int(self._speeds.min()) - 6
        v = self.data.qvel
        return abs(float(v[0])) if self.robot.planar else hypot(float(v[base]), float(v[base + 1]))

    def _yaw(self) -> float:
        return 0.0 if self.robot.planar else atan2(float(self._frame[3]), float(self._frame[0]))

    def way(self) -> float:
        """Distance from the goal, m; with a goal for the heading its angle, rad, instead."""
        if "goal_heading" in self.values:
            return abs(self._off_heading())
        x, y, _ = self._goal
        return hypot(float(self._at[0]) - x, 0.0 if self.robot.planar else float(self._at[1]) - y)

    def _off_heading(self) -> float:
        off = self._yaw() - self._goal[2]
        return (off + pi) % (2.0 * pi) - pi

    def _height(self) -> float:
        return float(self._at[2]) - height(self.setting.ground, float(self._at[0]))

    def _lean(self) -> float:
        return acos(max(-1.0, min(1.0, float(self._frame[8]))))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self.energy)

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        return (
            "fallen"
            if self._lean() > self.setting.fall or self._height() < self.setting.low
            else ""
        )

    def reward(self, action: Vector) -> float:
        """Upright, near the goal, with little effort; -10 for a fall."""
        if self.terminal():
            return -10.0
        tilt, way = self._lean(), min(self.way(), 1.5)
        return 1.0 - tilt - 0.6 * way - 0.05 * float(np.square(action).mean())

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        data, frame, yaw = self.data, self._frame, self._yaw()
        v = data.qvel
        if self.robot.planar:
            free = self.setting.robot == "biped"
            linear, rates = (
                (float(v[0]), 0.0, float(v[1])),
                (0.0, float(v[2]) if free else 0.0, 0.0),
            )
        else:
            base = int(self._speeds.min()) - 6
            linear = (
                float(v[base] * cos(yaw) + v[base + 1] * sin(yaw)),
                float(v[base + 1] * cos(yaw) - v[base] * sin(yaw)),
                float(v[base + 2]),
            )
            rates = (float(v[base + 3]), float(v[base + 4]), float(v[base + 5]))
        x, y, _ = self._goal
        clock = 2.0 * pi * self.setting.gait * self.steps * self.setting.dt
        off = data.qpos[self._joints] - self._rest
        drives = np.where(self._turning, v[self._speeds], off) / self._span
        return (
            asin(max(-1.0, min(1.0, -float(frame[6])))) / 0.3,
            asin(max(-1.0, min(1.0, float(frame[7])))) / 0.3,
            *(rate / 2.0 for rate in rates),
            *(speed / 0.5 for speed in linear),
            self._height() / 0.3,
            x - float(self._at[0]),
            0.0 if self.robot.planar else y - float(self._at[1]),
            self._off_heading() / 0.5,
            sin(clock),
            cos(clock),
            *drives.tolist(),
        )


_EYE, _EYE_FAR = "1.15 -1.15 0.7", "1.9 -1.8 0.9"
_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="0.12 0.003" material="goal"/></body>"""
_GEOM, _HINGE = int(mj.mjtObj.mjOBJ_GEOM), int(mj.mjtJoint.mjJNT_HINGE)
_GROUNDS = {
    "flat": ("floor",),
    "ice": ("floor",),
    "slope": ("slope",),
    "step": ("floor", "step"),
    "rough": ("floor", "bump_*"),
    "deck": ("deck",),
    "bar": ("floor",),
    "kerb": ("floor", "kerb", "kerb_ramp"),
}


def _along(velocity: Sequence[float], normal: Sequence[float]) -> float:
    """Speed across the normal."""
    into = sum(v * n for v, n in zip(velocity, normal, strict=True))
    return hypot(*(v - into * n for v, n in zip(velocity, normal, strict=True)))
