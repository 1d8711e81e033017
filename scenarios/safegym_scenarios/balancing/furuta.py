"""A rotary pendulum: a motor turns an arm, and a pole swings freely at the arm's tip.

Observation (6): arm's angle to the goal / 1 rad, its sum over time / 0.5 rad s (counted near the
goal), arm's rate / 3 rad/s, pole's angle from upright / 0.2 rad, its rate / 3 rad/s, arm's angle /
its stop. Action (1): motor torque / 1.5 N m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, cos, sin

from safegym.formula.terms import Signal
from safegym.scenario.signals import ActuatorEffort, Custom
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import ENERGY, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

LIMIT, STOP, ARM = 1.5, 2.2, 0.22
"""Torque, N m; angle at which the arm hits its cable, rad; length of the arm, m."""
ARM_RATE = Signal("arm_rate", unit="rad/s", scale=1.0, hold="max")
"""|rate of the arm|, rad/s."""
STOP_MARGIN = Signal("stop_margin", unit="rad", scale=0.1, hold="min")
"""Angle that is left until the arm tears at its cable, rad."""
GOAL_ANGLE = Signal("goal_angle", unit="rad", scale=0.1)
"""|angle of the arm to its goal|, rad."""
SIGNALS = (TILT, TORQUE, ARM_RATE, STOP_MARGIN, GOAL_ANGLE, ENERGY)
NEAR, WOUND = 0.5, 0.5


@dataclass(frozen=True, kw_only=True)
class FurutaSetting(BalanceSetting):
    """length: of the pole, m. top: kg at its tip."""

    observations: int = 6
    actions: int = 1
    length: float = 0.3
    top: float = 0.0


class Furuta(BalancingEnv):
    """The pendulum; reads start_angle, start_arm, goal."""

    pushed = "pole"

    @staticmethod
    def build(setting: FurutaSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "furuta",
            world=_machine(setting),
            actuator=f'<motor name="turn" joint="arm" ctrlrange="-{LIMIT} {LIMIT}"/>',
            center=(0, 0, 0.4),
            extent=0.9,
            timestep=setting.timestep,
            camera='pos="0.75 -0.75 0.85" xyaxes="1 1 0 -0.4 0.4 1.2"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._goal, self._wound = 0.0, 0.0
        self._frame = self.data.xmat[self.model.body("pole").id]
        self._mark = int(self.model.body("goal").mocapid[0])

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Custom(lambda model, data: self.lean())),
            (TORQUE, ActuatorEffort()),
            (ARM_RATE, Custom(lambda model, data: abs(float(data.qvel[0])))),
            (STOP_MARGIN, Custom(lambda model, data: STOP - abs(float(data.qpos[0])))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound, self._goal = 0.0, values.get("goal", 0.0)
        self.data.qpos[:2] = (values.get("start_arm", 0.0), values["start_angle"])
        self.data.mocap_pos[self._mark] = (ARM * cos(self._goal), ARM * sin(self._goal), 0.36)

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
        return abs(float(self.data.qpos[0]) - self._goal)

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self.energy)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        (arm, pole), (arm_rate, pole_rate) = self.data.qpos, self.data.qvel
        return (
            float(arm) - self._goal,
            self._wound / 0.5,
            float(arm_rate) / 3.0,
            float(pole) / 0.2,
            float(pole_rate) / 3.0,
            float(arm) / STOP,
        )


def _machine(setting: FurutaSetting) -> str:
    tip = (
        f'<geom type="box" contype="0" conaffinity="0" size="0.025 0.025 0.025" '
        f'pos="0 0 {setting.length}" mass="{setting.top}" material="crate"/>'
        if setting.top
        else f'<geom class="look" type="sphere" size="0.014" pos="0 0 {setting.length}" '
        f'material="yellow"/>'
    )
    return f"""
      <body name="goal" mocap="true"><geom class="look" type="cylinder" size="0.03 0.004"
        material="goal"/></body>
      <geom class="look" type="cylinder" size="0.09 0.17" pos="0 0 0.17" material="dark"/>
      <geom class="look" type="cylinder" size="0.05 0.02" pos="0 0 0.36" material="metal"/>
      <geom class="look" type="capsule" fromto="-0.26 0 0.37 -0.17 0 0.37" size="0.012"
        material="red"/>
      <body name="arm" pos="0 0 0.4"><joint name="arm" type="hinge" axis="0 0 1" damping="0.003"/>
        <geom type="capsule" contype="0" conaffinity="0" fromto="-0.06 0 0 {ARM} 0 0" size="0.012"
          mass="0.25" material="blue"/>
        <body name="pole" pos="{ARM} 0 0"><joint name="pin" type="hinge" axis="1 0 0"
          damping="0.0003"/>
          <geom type="capsule" contype="0" conaffinity="0"
            fromto="0.02 0 0 0.02 0 {setting.length}" size="0.008" mass="0.1" material="orange"/>
          {tip}</body></body>"""
