"""A unicycle: one driven wheel below, a flywheel across above it, so that it falls in no direction.

Observation (10): way to the goal / 1 m, its sum over time / 0.5 m s (counted near the goal), speed
/ 1 m/s, pitch / 0.2 rad, pitch rate / 2 rad/s; roll / 0.2 rad, roll rate / 2 rad/s, flywheel speed
/ its limit; heading / 0.5 rad, yaw rate / 2 rad/s. Action (2): torque of the wheel / 6 N m, of the
flywheel / 4 N m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, cos, hypot, sin

from safegym.scenario.signals import ActuatorEffort, Custom, Tilt
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import ENERGY, GOAL_DISTANCE, SPEED, SPIN, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

RADIUS, DRIVE, FLY, FLY_SPEED = 0.15, 6.0, 4.0, 150.0
SIGNALS = (TILT, TORQUE, SPEED, SPIN, GOAL_DISTANCE, ENERGY)
NEAR, WOUND = 0.3, 0.5


@dataclass(frozen=True, kw_only=True)
class UnicycleSetting(BalanceSetting):
    """Nothing beyond what all machines have."""

    observations: int = 10
    actions: int = 2
    fall: float = 0.6


class Unicycle(BalancingEnv):
    """The unicycle; reads start_pitch, start_roll, goal."""

    pushed = "frame"
    slippery = ("tyre", "floor")

    @staticmethod
    def build(setting: UnicycleSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "unicycle",
            world=_BODY + _GOAL,
            actuator=f"""<motor name="drive" joint="axle" ctrlrange="-{DRIVE} {DRIVE}"/>
              <motor name="fly" joint="wheel" ctrlrange="-{FLY} {FLY}"/>""",
            center=(0.3, 0, 0.4),
            extent=1.6,
            timestep=setting.timestep,
            camera='mode="targetbody" target="frame" pos="1.7 -1.6 1.0"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._goal, self._wound = 0.0, 0.0
        self._frame = self.data.xmat[self.model.body("frame").id]
        self._fly = int(self.model.joint("wheel").dofadr[0])
        self._mark = int(self.model.body("goal").mocapid[0])

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Tilt("frame")),
            (TORQUE, ActuatorEffort()),
            (SPEED, Custom(lambda model, data: hypot(data.qvel[0], data.qvel[1]))),
            (SPIN, Custom(lambda model, data: abs(float(data.qvel[self._fly])))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound, self._goal = 0.0, values.get("goal", 0.0)
        pitch, roll = values["start_pitch"], values["start_roll"]
        angle = hypot(pitch, roll) or 1e-9
        axis = (roll / angle, pitch / angle, 0.0)
        half = (cos(angle / 2), *(sin(angle / 2) * part for part in axis))
        self.data.qpos[:7] = (0.0, 0.0, RADIUS - 0.0005, *half)
        self.data.mocap_pos[self._mark] = (self._goal, 0.0, 0.0)

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        off = float(self.data.qpos[0]) - self._goal
        if abs(off) < NEAR and self.steps:
            self._wound = max(-WOUND, min(WOUND, self._wound + off * self.setting.dt))

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return acos(max(-1.0, min(1.0, float(self._frame[8]))))

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return hypot(float(self.data.qpos[0]) - self._goal, float(self.data.qpos[1]))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self.energy)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        v, frame = self.data.qvel, self._frame
        yaw = atan2(float(frame[3]), float(frame[0]))
        forward = float(v[0]) * cos(yaw) + float(v[1]) * sin(yaw)
        ahead, up = float(frame[2]) * cos(yaw) + float(frame[5]) * sin(yaw), float(frame[8])
        return (
            float(self.data.qpos[0]) - self._goal,
            self._wound / 0.5,
            forward,
            atan2(ahead, up) / 0.2,
            float(v[4]) / 2.0,
            atan2(float(frame[7]), up) / 0.2,
            float(v[3]) / 2.0,
            float(v[self._fly]) / FLY_SPEED,
            yaw / 0.5,
            float(v[5]) / 2.0,
        )


_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="0.25 0.004" material="goal"/></body>"""
_SPOKES = "".join(
    f'<geom class="look" type="box" size="0.14 0.018 0.006" euler="0 {angle} 0" material="metal"/>'
    for angle in (0.0, 0.785, 1.571, 2.356)
)
_FLY_SPOKES = "".join(
    f'<geom class="look" type="box" size="0.012 0.15 0.01" euler="{angle} 0 0" material="dark"/>'
    for angle in (0.0, 1.047, 2.094)
)
_BODY = f"""<body name="frame" pos="0 0 {RADIUS}"><freejoint/>
  <geom type="box" contype="0" conaffinity="0" size="0.05 0.04 0.06" pos="0 0 0.28" mass="3"
    material="blue"/>
  <geom class="look" type="capsule" fromto="0 0.04 0 0 0.04 0.24" size="0.012" material="dark"/>
  <geom class="look" type="capsule" fromto="0 -0.04 0 0 -0.04 0.24" size="0.012" material="dark"/>
  <geom class="look" type="capsule" fromto="0 0 0.3 0 0 0.52" size="0.014" material="dark"/>
  <geom class="look" type="capsule" fromto="-0.09 0 0.56 0.06 0 0.55" size="0.03" material="black"/>
  <body name="wheel"><joint name="axle" type="hinge" axis="0 1 0" damping="0.01"/>
    <geom name="tyre" class="solid" type="ellipsoid" size="{RADIUS} 0.03 {RADIUS}" mass="1"
      friction="1 0.02 0.0001" condim="4" group="3"/>
    <geom class="look" type="cylinder" size="{RADIUS} 0.02" euler="1.5708 0 0"
      material="rubber"/>{_SPOKES}</body>
  <body name="flywheel" pos="0.09 0 0.38"><joint name="wheel" type="hinge" axis="1 0 0"
    damping="0.0002"/>
    <geom type="cylinder" contype="0" conaffinity="0" size="0.17 0.008" euler="0 1.5708 0"
      mass="1.6" material="orange"/>{_FLY_SPOKES}</body>
  <geom type="box" contype="0" conaffinity="0" size="0.03 0.04 0.04" pos="-0.09 0 0.38" mass="1.6"
    material="metal"/>
</body>"""
