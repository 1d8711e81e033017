"""A two-wheeled balancer: a mast on two driven wheels that stands, or drives to a place.

Observation (8): way to the goal / 1 m along the heading, its sum over time / 0.5 m s (odometer,
only counted near the goal), forward speed / 1 m/s, pitch / 0.3 rad (leaning forward positive) and
its rate / 2 rad/s as the inertial unit tells them, heading off the goal's line / 0.5 rad, yaw rate
/ 2 rad/s, height over the start / 0.2 m. Action (2): torque of the left and right wheel / 8 N m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, sin

from safegym.scenario.signals import ActuatorEffort, Custom, Tilt
from safegym.scenario.signals.engine import mj
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import (
    ENERGY,
    GOAL_DISTANCE,
    OVERSHOOT,
    SLIP,
    SPEED,
    TILT,
    TORQUE,
)
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

RADIUS, TORQUE_LIMIT = 0.1, 8.0
SIGNALS = (TILT, TORQUE, SPEED, SLIP, GOAL_DISTANCE, OVERSHOOT, ENERGY)
NEAR, WOUND = 0.3, 0.5
SUNK = 0.0005
"""How deep the tyres rest in the floor, m."""


@dataclass(frozen=True, kw_only=True)
class TwoWheelSetting(BalanceSetting):
    """ground: "flat", "ramp", "bump" or "ice". payload: kg on top of the mast."""

    observations: int = 8
    actions: int = 2
    ground: str = "flat"
    payload: float = 0.0
    friction: float = 0.9


class TwoWheeler(BalancingEnv):
    """The balancer; reads goal, start_pitch, and what a variant has of payload_shift and so on."""

    pushed = "chassis"
    slippery = ("tyre_left", "tyre_right", "floor")
    travel = 1.0

    @staticmethod
    def build(setting: TwoWheelSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "two-wheeler",
            world=_ground(setting) + _robot(setting) + _GOAL,
            actuator="".join(
                f'<motor name="{side}" joint="axle_{side}" '
                f'ctrlrange="-{TORQUE_LIMIT} {TORQUE_LIMIT}"/>'
                for side in ("left", "right")
            ),
            center=(0.6, 0, 0.3),
            extent=1.6,
            timestep=setting.timestep,
            camera='mode="targetbody" target="chassis" pos="1.7 -1.7 0.95"',
            floor="floor",
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        model, data = self.model, self.data
        self._goal, self._wound, self._side = 0.0, 0.0, 1.0
        self._frame = data.xmat[model.body("chassis").id]
        self._axles = [int(model.joint(f"axle_{side}").dofadr[0]) for side in ("left", "right")]
        self._mark = int(model.body("goal").mocapid[0])
        self._friction[model.geom("floor").id, 0] = self.setting.friction
        model.geom_friction[:] = self._friction  # a contact takes the larger of the two
        self._crate = model.body("payload").id if self.setting.payload else 0

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Tilt("chassis")),
            (TORQUE, ActuatorEffort()),
            (SPEED, Custom(lambda model, data: hypot(data.qvel[0], data.qvel[1]))),
            (SLIP, Custom(lambda model, data: self._slip())),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        if self._crate:
            self.model.body_pos[self._crate][0] = values["payload_shift"]
            mj.mj_setConst(self.model, self.data)  # before the state is set: it overwrites it
        self._wound, self._goal = 0.0, values.get("goal", 0.0)
        pitch, yaw = values["start_pitch"], values.get("start_heading", 0.0)
        half = (cos(pitch / 2), sin(pitch / 2), cos(yaw / 2), sin(yaw / 2))
        quat = (half[0] * half[2], -half[1] * half[3], half[1] * half[2], half[0] * half[3])
        x = values.get("start_x", 0.0)
        self._side = 1.0 if self._goal >= x else -1.0
        self.data.qpos[:7] = (x, 0.0, RADIUS - SUNK, *quat)
        self.data.mocap_pos[self._mark] = (self._goal, 0.0, self._height(self._goal))
        lying = atan2(RAMP_SLOPE, 1.0) / 2.0 if self._height(self._goal) else 0.0
        self.data.mocap_quat[self._mark] = (cos(lying), 0.0, -sin(lying), 0.0)

    def command(self, action: Vector) -> None:
        """Hand the action to the drives."""
        self.data.ctrl[:] = action * TORQUE_LIMIT
        self.data.ctrl[1] *= 1.0 - self.values.get("right_motor_loss", 0.0)

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        ahead = self._ahead()
        if abs(ahead) < NEAR and self.steps:
            self._wound = max(-WOUND, min(WOUND, self._wound + ahead * self.setting.dt))

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return hypot(self._pitch(), atan2(self._frame[7], self._frame[8]))

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return hypot(float(self.data.qpos[0]) - self._goal, float(self.data.qpos[1]))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self._side * (float(self.data.qpos[0]) - self._goal), self.energy)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        data, yaw = self.data, self._yaw()
        v = data.qvel
        forward = float(v[0]) * cos(yaw) + float(v[1]) * sin(yaw)
        across = atan2(0.0 - float(data.qpos[1]), 0.6)
        return (
            self._ahead(),
            self._wound / 0.5,
            forward,
            (self._pitch() + self.values.get("imu_bias", 0.0)) / 0.3,
            float(v[4]) / 2.0,
            (yaw - across) / 0.5,
            float(v[5]) / 2.0,
            (float(data.qpos[2]) - RADIUS) / 0.2,
        )

    def _ahead(self) -> float:
        return float(self.data.qpos[0]) - self._goal

    def _yaw(self) -> float:
        return atan2(self._frame[3], self._frame[0])

    def _pitch(self) -> float:
        yaw = self._yaw()
        return atan2(self._frame[2] * cos(yaw) + self._frame[5] * sin(yaw), self._frame[8])

    def _slip(self) -> float:
        v, yaw = self.data.qvel, self._yaw()
        forward = v[0] * cos(yaw) + v[1] * sin(yaw)
        sides = zip(self._axles, (1.0, -1.0), strict=True)
        return max(
            abs(float((v[axle] + v[4]) * RADIUS - forward + 0.2 * side * v[5]))
            for axle, side in sides
        )

    def _height(self, x: float) -> float:
        return max(0.0, (x - RAMP_START) * RAMP_SLOPE) if self.setting.ground == "ramp" else 0.0


RAMP_START, RAMP_SLOPE = 0.5, 0.12
_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="0.28 0.004" material="goal"/>
  <geom class="look" type="capsule" fromto="0 0.45 0 0 0.45 0.7" size="0.012" material="white"/>
  <geom class="look" type="box" pos="0.1 0.45 0.62" size="0.1 0.006 0.07" material="green"/>
</body>"""


def _ground(setting: TwoWheelSetting) -> str:
    if setting.ground == "ramp":
        angle, half = atan2(RAMP_SLOPE, 1.0), 1.5
        x, z = (
            RAMP_START + half * cos(angle) + 0.05 * sin(angle),
            half * sin(angle) - 0.05 * cos(angle),
        )
        return (
            f'<geom name="ramp" class="solid" type="box" size="{half} 0.8 0.05" '
            f'pos="{x:g} 0 {z:g}" '
            f'euler="0 {-angle:g} 0" material="concrete"/>'
        )
    if setting.ground == "bump":
        return (
            '<geom name="bump" class="solid" type="capsule" '
            'fromto="0.55 -0.7 -0.004 0.55 0.7 -0.004" '
            'size="0.016" material="yellow"/>'
        )
    if setting.ground == "ice":
        return '<geom class="look" type="box" size="2 1.2 0.002" pos="0.6 0 0" material="glass"/>'
    return ""


def _robot(setting: TwoWheelSetting) -> str:
    crate = (
        f'<body name="payload" pos="0 0 0.66"><geom type="box" contype="0" conaffinity="0" '
        f'size="0.1 0.13 0.09" mass="{setting.payload}" material="crate"/></body>'
        if setting.payload
        else '<geom class="look" type="sphere" pos="0.03 0 0.6" size="0.06" material="lamp"/>'
    )
    return f"""<body name="chassis" pos="0 0 {RADIUS}"><freejoint/>
      <camera name="onboard" pos="0.08 0 0.5" xyaxes="0 -1 0 0 0 1"/>
      <geom type="box" contype="0" conaffinity="0" size="0.07 0.13 0.05" pos="0 0 0.03" mass="4"
        material="dark"/>
      <geom type="box" contype="0" conaffinity="0" size="0.05 0.1 0.1" pos="0 0 0.42" mass="4"
        material="orange"/>
      <geom class="look" type="capsule" fromto="0 0.06 0.05 0 0.06 0.56" size="0.014"
        material="metal"/>
      <geom class="look" type="capsule" fromto="0 -0.06 0.05 0 -0.06 0.56" size="0.014"
        material="metal"/>
      <geom class="look" type="box" size="0.052 0.07 0.02" pos="0.003 0 0.46" material="black"/>
      {crate}
      {"".join(_wheel(side, y, setting.friction) for side, y in (("left", 0.2), ("right", -0.2)))}
    </body>"""


def _wheel(side: str, y: float, friction: float) -> str:
    """The tyre touches in one point: a sphere that is not drawn, in a wheel that is."""
    spokes = "".join(
        f'<geom class="look" type="box" size="0.075 0.023 0.008" euler="0 {turn} 0" '
        f'material="metal"/>'
        for turn in (0.0, 1.047, 2.094)
    )
    return f"""<body name="wheel_{side}" pos="0 {y} 0">
      <joint name="axle_{side}" type="hinge" axis="0 1 0" damping="0.02"/>
      <geom name="tyre_{side}" class="solid" type="sphere" size="{RADIUS}" mass="0.8"
        friction="{friction} 0.005 0.0001" group="3"/>
      <geom class="look" type="cylinder" size="{RADIUS} 0.022" euler="1.5708 0 0"
        material="rubber"/>
      {spokes}</body>"""
