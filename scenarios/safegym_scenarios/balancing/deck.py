"""A pole on the deck of a rolling ship, held up by a motor at its foot that works against the deck.

Observation (6): lean / 0.2 rad from the vertical, its rate / 1 rad/s, roll of the deck / 0.2 rad,
its rate / 0.5 rad/s, angle between pole and deck / its stop, sum of the lean over time / 0.1 rad s.
Action (1): torque of the foot's motor / 60 N m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from safegym.formula.terms import Signal
from safegym.scenario.signals import ActuatorEffort, Custom
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import ENERGY, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

LIMIT, STOP = 60.0, 0.6
STOP_MARGIN = Signal("stop_margin", unit="rad", scale=0.1, hold="min")
"""Angle that is left until the foot's joint hits its stop, rad."""
SIGNALS = (TILT, TORQUE, STOP_MARGIN, ENERGY)


@dataclass(frozen=True, kw_only=True)
class DeckSetting(BalanceSetting):
    """load: kg at the top."""

    observations: int = 6
    actions: int = 1
    load: float = 2.0
    fall: float = 0.5


class Deck(BalancingEnv):
    """The pole; reads start_lean, sea_angle, sea_period, sea_phase."""

    pushed = "pole"

    @staticmethod
    def build(setting: DeckSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "deck",
            world=_ship(setting),
            actuator=f"""<motor name="foot" joint="foot" ctrlrange="-{LIMIT} {LIMIT}"/>
              <position name="sea" joint="roll" kp="400000" kv="20000" ctrlrange="-0.4 0.4"/>""",
            center=(0, 0, 1.0),
            extent=2.0,
            timestep=setting.timestep,
            camera='pos="0.9 -3.6 2.0" xyaxes="1 0.2 0 -0.06 0.24 1"',
            floor="water",
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._sea = (0.0, 1.0, 0.0)
        self._wound = 0.0

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Custom(lambda model, data: self.lean())),
            (TORQUE, ActuatorEffort("foot")),
            (STOP_MARGIN, Custom(lambda model, data: STOP - abs(float(data.qpos[1])))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound = 0.0
        self._sea = (values["sea_angle"], values["sea_period"], values["sea_phase"])
        angle, rate = self._wave(0.0)
        self.data.qpos[:2] = (angle, values["start_lean"] - angle)
        self.data.qvel[:2] = (rate, -rate)
        self.data.ctrl[1] = angle

    def command(self, action: Vector) -> None:
        """Hand the action to the drives."""
        self.data.ctrl[0] = action[0] * LIMIT

    def weakened(self, left: float) -> None:
        """The sea stays as strong as it is."""
        gain, bias = self._healthy
        self.model.actuator_gainprm[0] = gain[0] * left
        self.model.actuator_biasprm[0] = bias[0] * left

    def tick(self) -> None:
        """Called before every physics step."""
        data = self.data
        angle, rate = self._wave(float(data.time))
        data.ctrl[1] = angle + rate * 0.05  # kv / kp ahead, so that the servo does not lag
        power = abs(float(data.actuator_force[0] * data.qvel[1]))
        self.energy += power * self.setting.timestep

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        lean = float(self.data.qpos[0] + self.data.qpos[1])
        self._wound = max(-0.1, min(0.1, self._wound + lean * self.setting.dt))

    def _wave(self, time: float) -> tuple[float, float]:
        most, period, phase = self._sea
        turn = 2.0 * pi / period
        return most * sin(turn * time + phase), most * turn * cos(turn * time + phase)

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return abs(float(self.data.qpos[0] + self.data.qpos[1]))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.energy,)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        q, v = self.data.qpos, self.data.qvel
        return (
            float(q[0] + q[1]) / 0.2,
            float(v[0] + v[1]),
            float(q[0]) / 0.2,
            float(v[0]) / 0.5,
            float(q[1]) / STOP,
            self._wound / 0.1,
        )


def _ship(setting: DeckSetting) -> str:
    return f"""<body name="ship" pos="0 0 0.25"><joint name="roll" type="hinge" axis="0 1 0"/>
      <geom type="box" contype="0" conaffinity="0" size="1.1 0.5 0.06" pos="0 0 0.35" mass="300"
        material="wood"/>
      <geom class="look" type="box" size="0.8 0.5 0.22" pos="0 0 0.1" material="red"/>
      <geom class="look" type="box" size="0.95 0.48 0.1" pos="0 0 0.26" material="white"/>
      <geom class="look" type="capsule" fromto="-1.05 -0.48 0.6 1.05 -0.48 0.6" size="0.012"
        material="metal"/>
      <geom class="look" type="capsule" fromto="-1.05 0.48 0.6 1.05 0.48 0.6" size="0.012"
        material="metal"/>
      <geom class="look" type="cylinder" size="0.12 0.03" pos="0 0 0.43" material="dark"/>
      <body name="pole" pos="0 0 0.46"><joint name="foot" type="hinge" axis="0 1 0"
        range="-{STOP} {STOP}" damping="0.2"/>
        <geom type="capsule" contype="0" conaffinity="0" fromto="0 0 0 0 0 0.9" size="0.03"
          mass="3" material="orange"/>
        <geom type="cylinder" contype="0" conaffinity="0" size="0.09 0.06" pos="0 0 0.95"
          mass="{setting.load}" material="blue"/>
        <geom class="look" type="sphere" size="0.05" pos="0 0 1.05"
          material="lamp"/></body></body>"""
