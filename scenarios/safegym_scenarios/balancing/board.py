"""A balance board: a plank on a roller loose on the floor, and a weight that slides on it.

Observation (7): place of the roller / 0.2 m, its speed / 0.5 m/s, angle of the plank / 0.2 rad
(right end down positive), its rate / 1 rad/s, place of the weight on the plank / 0.3 m, its speed /
0.5 m/s, place of the plank over the roller / half of the plank. Action (1): force on the weight /
60 N.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sin

from safegym.scenario.signals import ActuatorEffort, Custom
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import (
    ENERGY,
    FORCE,
    GOAL_DISTANCE,
    SPEED,
    TILT,
    TRACK_MARGIN,
)
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

LIMIT, ROLLER, HALF, RAIL, THICK = 60.0, 0.09, 0.45, 0.38, 0.015
SIGNALS = (TILT, FORCE, SPEED, TRACK_MARGIN, GOAL_DISTANCE, ENERGY)


@dataclass(frozen=True, kw_only=True)
class BoardSetting(BalanceSetting):
    """tall: m, height of the weight's middle over the plank."""

    observations: int = 7
    actions: int = 1
    tall: float = 0.12
    fall: float = 0.3


class Board(BalancingEnv):
    """The board; reads start_angle, start_weight. The goal is where the roller started."""

    pushed = "plank"
    slippery = ("roller", "floor", "plank")
    travel = 0.3

    @staticmethod
    def build(setting: BoardSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "board",
            world=_board(setting),
            actuator=f'<motor name="shift" joint="shift" ctrlrange="-{LIMIT} {LIMIT}"/>',
            center=(0, 0, 0.2),
            extent=1.2,
            timestep=setting.timestep,
            camera='pos="0.5 -1.6 0.8" xyaxes="1 0.3 0 -0.1 0.33 1"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._at = {name: int(self.model.joint(name).qposadr[0]) for name in _JOINTS}

    def readers(self) -> Readers:
        """What is read at every physics step."""
        weight = self._at["shift"]
        return (
            (TILT, Custom(lambda model, data: self.lean())),
            (FORCE, ActuatorEffort()),
            (SPEED, Custom(lambda model, data: abs(float(data.qvel[weight])))),
            (TRACK_MARGIN, Custom(lambda model, data: RAIL - abs(float(data.qpos[weight])))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        q, at, angle = self.data.qpos, self._at, values["start_angle"]
        q[at["turn"]] = angle
        q[at["plank_x"]] = (ROLLER + THICK) * sin(angle)
        q[at["shift"]] = values["start_weight"]

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return abs(float(self.data.qpos[self._at["turn"]]))

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return abs(float(self.data.qpos[self._at["roller_x"]]))

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        off = self.data.qpos[self._at["plank_x"]] - self.data.qpos[self._at["roller_x"]]
        return "fallen" if self.lean() > self.setting.fall or abs(float(off)) > HALF else ""

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.way(), self.energy)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        q, v, at = self.data.qpos, self.data.qvel, self._at
        x, turn, shift = at["roller_x"], at["turn"], at["shift"]
        return (
            float(q[x]) / 0.2,
            float(v[x]) / 0.5,
            float(q[turn]) / 0.2,
            float(v[turn]),
            float(q[shift]) / 0.3,
            float(v[shift]) / 0.5,
            float(q[at["plank_x"]] - q[x]) / HALF,
        )


_JOINTS = ("roller_x", "plank_x", "turn", "shift")


def _board(setting: BoardSetting) -> str:
    height = 2.0 * ROLLER + THICK
    return f"""
      <geom class="look" type="box" size="0.9 0.35 0.001" material="green"/>
      <body name="roller" pos="0 0 {ROLLER - 0.0005}">
        <joint name="roller_x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
        <joint type="hinge" axis="0 1 0" damping="0.002"/>
        <geom name="roller" class="solid" type="sphere" size="{ROLLER}" mass="1.5"
          friction="1 0.005 0.0001" group="3"/>
        <geom class="look" type="cylinder" size="{ROLLER} 0.16" euler="1.5708 0 0" material="blue"/>
        <geom class="look" type="box" size="0.08 0.165 0.008" material="white"/></body>
      <body name="plank" pos="0 0 {height - 0.001}">
        <joint name="plank_x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
        <joint name="turn" type="hinge" axis="0 1 0"/>
        <geom name="plank" class="solid" type="box" size="{HALF} 0.14 {THICK}" mass="2.5"
          material="wood"/>
        <geom class="look" type="box" size="0.012 0.14 0.03" pos="{HALF} 0 0.02" material="orange"/>
        <geom class="look" type="box" size="0.012 0.14 0.03" pos="{-HALF} 0 0.02"
          material="orange"/>
        <geom class="look" type="capsule" fromto="{-RAIL} 0 0.03 {RAIL} 0 0.03" size="0.01"
          material="metal"/>
        <body name="weight" pos="0 0 {setting.tall}">
          <joint name="shift" type="slide" axis="1 0 0" damping="1"/>
          <geom type="box" contype="0" conaffinity="0" size="0.06 0.06 0.07" mass="4"
            material="dark"/>
          <geom class="look" type="capsule" fromto="0 0 0.07 0 0 0.2" size="0.03" material="red"/>
          <geom class="look" type="sphere" size="0.045" pos="0 0 0.26"
            material="skin"/></body></body>"""
