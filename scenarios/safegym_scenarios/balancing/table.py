"""A ball on a beam or on a plate that two servos tilt.

Observation, for each axis (beam: one, plate: two): way of the ball to the goal / 0.2 m, its sum
over time / 0.1 m s (counted near the goal), the ball's speed / 0.5 m/s, tilt / 0.25 rad (downhill
along the axis positive), its rate / 2 rad/s; then for each axis the ball's place / half the size,
and the way to the hole / 0.2 m. Action: the tilt that each servo should take / 0.25 rad.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np

from safegym.scenario.signals import ActuatorEffort, Custom, Speed, Tilt
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import EDGE_MARGIN, GOAL_DISTANCE, SPEED, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

MOST = 0.25
"""Largest tilt that a servo is told, rad."""
BALL, HOLE, HEIGHT = 0.025, 0.04, 0.6
SIGNALS = (TILT, TORQUE, SPEED, EDGE_MARGIN, GOAL_DISTANCE)
NEAR, WOUND = 0.12, 0.1
DROPPED = {"dropped": "failed"}


@dataclass(frozen=True, kw_only=True)
class TableSetting(BalanceSetting):
    """half: m, half of the beam or plate. beam: one axis. hole: whether there is one. circle: rad/s
    at which the goal runs round, 0 if it stays. hollow: a light, hollow ball that rolls slower.
    """

    half: float = 0.3
    beam: bool = False
    hole: bool = False
    circle: float = 0.0
    hollow: bool = False


class BallTable(BalancingEnv):
    """The table; reads ball_x, ball_y, goal_x, goal_y.

    And hole_side where there is a hole, circle_x and goal_phase where the goal runs round.
    """

    pushed = "ball"
    travel = 0.3

    @staticmethod
    def build(setting: TableSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "table",
            world=_GOAL + _table(setting) + _ball(setting),
            actuator="".join(
                f'<position name="servo_{k}" joint="tilt_{k}" kp="30" kv="5" '
                f'ctrlrange="-{MOST} {MOST}" forcerange="-12 12"/>'
                for k in range(1 if setting.beam else 2)
            ),
            center=(0, 0, HEIGHT),
            extent=1.0,
            timestep=setting.timestep,
            camera='pos="0.1 -1.0 1.25" xyaxes="1 0.1 0 -0.05 0.53 0.85"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._axes = 1 if self.setting.beam else 2
        self._goal, self._wound = [0.0, 0.0], [0.0, 0.0]
        self._hole = [9.0, 9.0]
        self._phase, self._middle = 0.0, 0.0
        self._ball = self.data.xpos[self.model.body("ball").id]
        self._dof = int(self.model.joint("ball_free").dofadr[0])
        self._address = int(self.model.joint("ball_free").qposadr[0])
        self._mark = int(self.model.body("goal").mocapid[0])

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Tilt("table")),
            (TORQUE, ActuatorEffort()),
            (SPEED, Speed("ball")),
            (EDGE_MARGIN, Custom(lambda model, data: self._margin())),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound = [0.0, 0.0]
        at = (values["ball_x"], values.get("ball_y", 0.0))
        self._goal = [values.get("goal_x", 0.0), values.get("goal_y", 0.0)]
        self._middle = values.get("circle_x", 0.0)
        self._phase = values.get("goal_phase", 0.0)
        if self.setting.hole:
            middle = [(a + b) / 2.0 for a, b in zip(at, self._goal, strict=True)]
            self._hole = [middle[0], middle[1] + values["hole_side"]]
            self.model.geom("hole").pos[:] = (*self._hole, 0.0065)
        first = self._address
        self.data.qpos[first : first + 3] = (*at, HEIGHT + BALL + 0.006)
        self._show()

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        if self.setting.circle:
            angle = self._phase + self.setting.circle * self.steps * self.setting.dt
            self._goal = [self._middle + CIRCLE * cos(angle), CIRCLE * sin(angle)]
            self._show()
        for k in range(self._axes):
            off = float(self._ball[k]) - self._goal[k]
            if abs(off) < NEAR and self.steps:
                wound = self._wound[k] + off * self.setting.dt
                self._wound[k] = max(-WOUND, min(WOUND, wound))

    def _show(self) -> None:
        self.data.mocap_pos[self._mark] = (*self._goal, HEIGHT + 0.012)

    def _margin(self) -> float:
        x, y = float(self._ball[0]), float(self._ball[1])
        edge = float(self.setting.half) - (abs(x) if self.setting.beam else max(abs(x), abs(y)))
        return min(edge, hypot(x - self._hole[0], y - self._hole[1]) - HOLE)

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return float(np.abs(self.data.qpos[: self._axes]).max())

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return hypot(*(float(self._ball[k]) - self._goal[k] for k in range(self._axes)))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(),)

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        return "dropped" if self._margin() < 0.0 else ""

    def reward(self, action: Vector) -> float:
        """1 at rest at the goal; -10 for a dropped ball."""
        if self.terminal():
            return -10.0
        speed = float(np.abs(self.data.qvel[self._dof : self._dof + 2]).max())
        return (
            1.0 - min(self.way() / 0.3, 1.5) - 0.2 * speed - 0.05 * float(np.square(action).mean())
        )

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        data, half = self.data, self.setting.half
        found: list[float] = []
        for k in range(self._axes):
            off = float(self._ball[k]) - self._goal[k]
            speed = float(data.qvel[self._dof + k]) / 0.5
            tilt, rate = float(data.qpos[k]) / MOST, float(data.qvel[k]) / 2.0
            found += [off / 0.2, self._wound[k] / 0.1, speed, tilt, rate]
        found += [float(self._ball[k]) / half for k in range(self._axes)]
        if self.setting.hole:
            found += [(self._hole[k] - float(self._ball[k])) / 0.2 for k in range(2)]
        return found


CIRCLE = 0.14
"""Radius on which the goal runs round, m."""
_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="cylinder" size="0.03 0.002" material="goal"/></body>"""


def _ball(setting: TableSetting) -> str:
    inertia = 2.0 / 3.0 if setting.hollow else 0.4
    mass = 0.05 if setting.hollow else 0.2
    i = inertia * mass * BALL * BALL
    colour = "white" if setting.hollow else "red"
    return f"""<body name="ball" pos="0 0 {HEIGHT + BALL + 0.006}"><freejoint name="ball_free"/>
      <inertial pos="0 0 0" mass="{mass}" diaginertia="{i:g} {i:g} {i:g}"/>
      <geom name="ball" class="solid" type="sphere" size="{BALL}" friction="0.6 0.001 0.00001"
        material="{colour}"/></body>"""


def _table(setting: TableSetting) -> str:
    wide = 0.05 if setting.beam else setting.half
    hinges = "".join(
        f'<joint name="tilt_{k}" type="hinge" axis="{axis}" damping="0.05"/>'
        for k, axis in enumerate(("0 1 0",) if setting.beam else ("0 1 0", "-1 0 0"))
    )
    hole = (
        f'<geom name="hole" class="look" type="cylinder" size="{HOLE} 0.001" pos="0.01 0 0.0065" '
        f'material="black"/>'
        if setting.hole
        else ""
    )
    ends = "".join(
        f'<geom class="look" type="box" size="0.006 {wide} 0.012" pos="{x} 0 0" material="orange"/>'
        for x in (-setting.half, setting.half)
    )
    return f"""
      <geom class="look" type="cylinder" fromto="0 0 0 0 0 {HEIGHT - 0.02}" size="0.03"
        material="dark"/>
      <geom class="look" type="cylinder" size="0.2 0.02" pos="0 0 0.02" material="dark"/>
      <body name="table" pos="0 0 {HEIGHT}">{hinges}
        <geom class="solid" type="box" size="{setting.half} {wide} 0.006" mass="1.5"
          material="wood"/>
        <geom class="look" type="sphere" size="0.03" pos="0 0 -0.03" material="metal"/>
        {hole}{ends}</body>"""
