"""A ballbot: a tall body that stands on a single driven ball.

Observation (11), for each of two axes: way to the goal / 1 m, its sum over time / 0.5 m s (counted
near the goal), speed / 1 m/s, lean / 0.2 rad (towards the axis positive), its rate / 2 rad/s; then
yaw rate / 2 rad/s. Action (2): torque on the ball that drives it along each axis / 12 N m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, cos, hypot, sin

from safegym.scenario.signals import ActuatorEffort, Custom, Tilt
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import ENERGY, GOAL_DISTANCE, SPEED, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

RADIUS, LIMIT = 0.11, 12.0
SIGNALS = (TILT, TORQUE, SPEED, GOAL_DISTANCE, ENERGY)
NEAR, WOUND = 0.3, 0.5


@dataclass(frozen=True, kw_only=True)
class BallbotSetting(BalanceSetting):
    """tray: kg of a tray of glasses on top."""

    observations: int = 11
    actions: int = 2
    tray: float = 0.0
    fall: float = 0.6


class Ballbot(BalancingEnv):
    """The ballbot; reads start_lean, start_side, goal_x, goal_y."""

    pushed = "body"
    slippery = ("ball", "floor")

    @staticmethod
    def build(setting: BallbotSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "ballbot",
            world=_body(setting) + _GOAL,
            actuator=f"""<motor name="roll_x" jointinparent="drive" gear="0 1 0 0 0 0"
              ctrlrange="-{LIMIT} {LIMIT}"/>
              <motor name="roll_y" jointinparent="drive" gear="-1 0 0 0 0 0"
                ctrlrange="-{LIMIT} {LIMIT}"/>""",
            center=(0.4, 0.2, 0.5),
            extent=1.8,
            timestep=setting.timestep,
            camera='mode="targetbody" target="body" pos="2.2 -2.0 1.5"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._goal, self._wound = [0.0, 0.0], [0.0, 0.0]
        self._frame = self.data.xmat[self.model.body("body").id]
        self._mark = int(self.model.body("goal").mocapid[0])

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Tilt("body")),
            (TORQUE, ActuatorEffort()),
            (SPEED, Custom(lambda model, data: hypot(data.qvel[0], data.qvel[1]))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound = [0.0, 0.0]
        self._goal = [values.get("goal_x", 0.0), values.get("goal_y", 0.0)]
        lean, side = values["start_lean"], values["start_side"]
        angle = hypot(lean, side) or 1e-9
        axis = (-side / angle, lean / angle, 0.0)
        half = (cos(angle / 2), *(sin(angle / 2) * part for part in axis))
        self.data.qpos[:7] = (0.0, 0.0, RADIUS - 0.0005, *half)
        self.data.mocap_pos[self._mark] = (*self._goal, 0.0)

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        for k in range(2):
            off = float(self.data.qpos[k]) - self._goal[k]
            if abs(off) < NEAR and self.steps:
                wound = self._wound[k] + off * self.setting.dt
                self._wound[k] = max(-WOUND, min(WOUND, wound))

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return acos(max(-1.0, min(1.0, float(self._frame[8]))))

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return hypot(*(float(self.data.qpos[k]) - self._goal[k] for k in range(2)))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self.energy)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        q, v, up = self.data.qpos, self.data.qvel, float(self._frame[8])
        rates = (float(v[4]), -float(v[3]))
        found: list[float] = []
        for k, rate in enumerate(rates):
            lean = atan2(float(self._frame[2 + 3 * k]), up)
            found += [float(q[k]) - self._goal[k], self._wound[k] / 0.5, float(v[k])]
            found += [lean / 0.2, rate / 2.0]
        return (*found, float(v[5]) / 2.0)


_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="0.25 0.004" material="goal"/></body>"""


def _body(setting: BallbotSetting) -> str:
    tray = ""
    if setting.tray:
        glasses = "".join(
            f'<geom class="look" type="cylinder" size="0.025 0.06" pos="{x} {y} 1.02" '
            f'material="glass"/>'
            for x, y in ((0.1, 0.05), (-0.06, 0.1), (0.0, -0.1), (0.08, -0.08))
        )
        tray = (
            f'<geom type="cylinder" contype="0" conaffinity="0" size="0.19 0.012" pos="0 0 0.94" '
            f'mass="{setting.tray}" material="metal"/>{glasses}'
        )
    return f"""<body name="body" pos="0 0 {RADIUS}"><freejoint/>
      <geom type="cylinder" contype="0" conaffinity="0" size="0.1 0.06" pos="0 0 0.17" mass="5"
        material="dark"/>
      <geom type="cylinder" contype="0" conaffinity="0" size="0.07 0.24" pos="0 0 0.47" mass="5"
        material="white"/>
      <geom class="look" type="cylinder" size="0.072 0.02" pos="0 0 0.6" material="blue"/>
      <geom class="look" type="capsule" fromto="0 0 0.7 0 0 0.92" size="0.02" material="metal"/>
      <geom class="look" type="sphere" size="0.055" pos="0 0 0.76" material="lamp"/>
      {tray}
      <body name="ball"><joint name="drive" type="ball" damping="0.02"/>
        <geom name="ball" class="solid" type="sphere" size="{RADIUS}" mass="2.5"
          friction="1 0.005 0.0001" condim="4" material="red"/>
      </body></body>"""
