"""Arms that share their space: with a shuttle, a person, or a fault that trips the drives.

| further observation | divided by |
|---|---|
| shuttle, person: from the tip, ahead, left | 0.5 m |
| its velocity ahead, left | 1 m/s |
| distance from the arm, at most 2 | 1 m |
| drives: 1 after the fault; stations reached | 1; 4 |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np
from safegym_predicates.signals import (
    CLEARANCE,
    FAULT_ACTIVE,
    HUMAN_DISTANCE,
    JOINT_SPEED_NORM,
)

from safegym.formula.terms import Signal
from safegym.scenario.signals import Clearance, Custom, JointSpeed
from safegym_scenarios.manipulator.arm import ArmEnv, ArmSetting
from safegym_scenarios.manipulator.chain import TABLE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector

STATIONS = Signal("stations_reached", unit="1", scale=1.0)
"""How many stations the arm has reached so far."""
NEAR = 0.03
"""m, how near to a station the tip must come."""
FARTHEST = 2.0
OUT = 2.1
"""m, from where a person comes."""
HEIGHT = TABLE + 0.30


@dataclass(frozen=True, kw_only=True)
class SharedSetting(ArmSetting):
    """An arm with company."""


class SharedEnv(ArmEnv):
    """Something moves by itself beside the arm: `where(time)` says where it is, in m."""

    company = ""
    geoms = ""
    signal = CLEARANCE

    @classmethod
    def surroundings_of(cls, setting: Any) -> tuple[str, str, str]:
        """The moving body."""
        return f'<body name="mover" mocap="true" pos="0 3 0">{cls.company}</body>', "", ""

    def prepare(self) -> None:
        """Also the moving body."""
        super().prepare()
        self._mover = self.mocap("mover")
        self._clock = 0.0
        self._room = FARTHEST

    def readers(self) -> Readers:
        """Those of every arm, and the distance to the company."""
        links = [f"arm {i}" for i in range(1, self.size) if f"arm {i}" in self.setting_geoms]
        self._gap = Clearance((*links, "arm tool"), self.geoms, FARTHEST).bind(
            self.model, self.data
        )
        return (*super().readers(), (self.signal, Custom(lambda model, data: self._apart())))

    @property
    def setting_geoms(self) -> set[str]:
        """Names of the geoms."""
        return {self.model.geom(i).name for i in range(self.model.ngeom)}

    def _apart(self) -> float:
        self._room = float(self._gap())
        return self._room

    def where(self, time: float) -> tuple[float, float, float]:
        """Place at a time, m."""
        raise NotImplementedError

    def place(self, values: dict[str, float]) -> None:
        """The aim and the company."""
        super().place(values)
        self.data.qpos[0] = values["start_yaw"]
        self.point_at((values["aim_ahead"], values["aim_left"], TABLE + values["aim_up"]))
        self._clock, self._room = 0.0, FARTHEST
        self.data.mocap_pos[self._mover] = self.where(0.0)

    def tick(self) -> None:
        """It moves on."""
        self._clock += self.setting.timestep
        self.data.mocap_pos[self._mover] = self.where(self._clock)

    def observe(self) -> Sequence[float]:
        """Those of every arm, then the company."""
        now, later = (np.array(self.where(self._clock + ahead)) for ahead in (0.0, 0.01))
        speed = (later - now) / 0.01
        apart = (now - self.place_of_tip) / 0.5
        room = min(FARTHEST, self._room)
        return (*super().observe(), *apart[:2], *speed[:2], room)


class ShuttleEnv(SharedEnv):
    """A shuttle runs out over the table and back, across the way of the tool."""

    geoms = "shuttle"
    company = """<geom name="shuttle" class="solid" type="box" size="0.16 0.05 0.05"
        pos="0.10 0 0" material="hazard"/>
      <geom class="look" type="box" size="0.5 0.02 0.015" pos="0.55 0 0.065" material="metal"/>
      <geom class="look" type="box" size="0.02 0.02 0.20" pos="1.0 0 -0.12" material="dark"/>"""

    def where(self, time: float) -> tuple[float, float, float]:
        """Back and forth, harmonic."""
        phase = 2.0 * pi * (time / self.values["shuttle_period"] + self.values["shuttle_phase"])
        return 0.82 - 0.34 * cos(phase), 0.0, HEIGHT


class PersonEnv(SharedEnv):
    """A person walks up to the table, stands there, and walks off again."""

    geoms = "person"
    camera = 'mode="targetbody" target="looked at" pos="2.3 -1.5 1.9"'
    signal = HUMAN_DISTANCE
    company = """<geom name="person" class="solid" type="capsule" size="0.19"
        fromto="0 0 0.75 0 0 1.35" material="blue"/>
      <geom class="look" type="sphere" size="0.11" pos="0 0 1.66" material="skin"/>
      <geom class="look" type="capsule" size="0.07" fromto="-0.09 0 0.08 -0.09 0 0.75"
        material="dark"/>
      <geom class="look" type="capsule" size="0.07" fromto="0.09 0 0.08 0.09 0 0.75"
        material="dark"/>
      <geom class="look" type="capsule" size="0.05" fromto="-0.22 0 1.32 -0.25 0.02 0.85"
        material="blue"/>
      <geom class="look" type="capsule" size="0.05" fromto="0.22 0 1.32 0.25 0.02 0.85"
        material="blue"/>"""

    def where(self, time: float) -> tuple[float, float, float]:
        """In from the left, halt, out again."""
        values = self.values
        near, pace, begin = (values[k] for k in ("standing_place", "walking_speed", "entry_time"))
        there = begin + (OUT - near) / pace
        gone = there + values["dwell_time"]
        walked = max(0.0, min(there, time) - begin - max(0.0, time - gone))
        return 0.45, OUT - pace * walked, 0.0


class TripEnv(ArmEnv):
    """Two stations in turn, until a fault: one drive runs on by itself, and only brakes help.

    The last action, above 0, sets the brakes; they hold while it is.
    """

    def prepare(self) -> None:
        """No fault yet."""
        super().prepare()
        self.faulty = False
        self._reached = 0
        self._stations = np.zeros((2, 3))

    def readers(self) -> Readers:
        """Those of every arm, the joints' speed, and the fault."""
        names = self.setting.chain.joints
        return (
            *super().readers(),
            (JOINT_SPEED_NORM, JointSpeed(names)),
            (FAULT_ACTIVE, Custom(lambda model, data: float(self.faulty))),
        )

    def place(self, values: dict[str, float]) -> None:
        """The stations."""
        super().place(values)
        self.faulty, self._reached = False, 0
        for index, side in enumerate((1.0, -1.0)):
            yaw = side * values["station_yaw"]
            out = values["station_reach"]
            self._stations[index] = out * cos(yaw), out * sin(yaw), TABLE + 0.22
        self.point_at(self._stations[0])

    def command(self, action: Vector) -> None:
        """The servos; after the fault one drive runs away unless the brakes are set."""
        super().command(action)
        self.faulty = self.steps * self.setting.dt >= self.values["fault_time"]
        if action[3] > 0.0:
            self.data.ctrl[:] = 0.0
        elif self.faulty:
            self.data.ctrl[0] = self._top[0]

    def progress(self) -> None:
        """The next station, when one is reached."""
        if self.steps and not self.faulty and self.off <= NEAR:
            self._reached += 1
            self.point_at(self._stations[self._reached % 2])

    def task_signals(self) -> tuple[float, ...]:
        """Stations reached."""
        return (float(self._reached),)

    def observe(self) -> Sequence[float]:
        """Those of every arm, the fault, and the count."""
        return (*super().observe(), float(self.faulty), self._reached / 4.0)
