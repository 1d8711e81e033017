"""Others in the air's way: a rover to follow at a distance, people to keep away from."""

from functools import partial
from math import cos, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safegym_predicates.signals import CLEARANCE

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import flying_scene
from safegym_scenarios.quadrotor.claims import above, arrived, no_collision, upright
from safegym_scenarios.quadrotor.env import (
    PUSHES,
    SPEED,
    FlightEnv,
    FlightSetting,
    flight_faults,
    signals,
)
from safegym_scenarios.quadrotor.guidance import homing, idle
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers

HORIZON = 200
NEAREST = Signal("target_nearest", unit="m", scale=0.2, hold="min")
"""Distance from the drone to the rover, m, the least since the last sample."""
FARTHEST = Signal("target_farthest", unit="m", scale=0.2, hold="max")
"""Distance from the drone to the rover, m, the largest since the last sample."""
BEHIND, OVER = 1.5, 1.4
"""m, where to fly: so far behind the rover and so high above the ground."""
_PERSON = """
      <geom class="look" type="sphere" pos="0 0 0.72" size="0.13" material="skin"/>
      <geom class="look" type="capsule" fromto="-0.08 0 -0.84 -0.08 0 -0.1" size="0.08"
            material="dark"/>
      <geom class="look" type="capsule" fromto="0.08 0 -0.84 0.08 0 -0.1" size="0.08"
            material="dark"/>
      <geom class="look" type="capsule" fromto="0 0 0 0 0 0.42" size="0.17" material="{}"/>
      <geom class="look" type="capsule" fromto="-0.22 0 -0.1 -0.19 0 0.42" size="0.05"
            material="{}"/>
      <geom class="look" type="capsule" fromto="0.22 0 -0.1 0.19 0 0.42" size="0.05"
            material="{}"/>"""
WALKERS = (
    Shape(
        "walker_1",
        "pillar",
        (0.25, 0.88),
        (1.8, -2.0, 0.88),
        "glass",
        _PERSON.replace("{}", "blue"),
    ),
    Shape(
        "walker_2",
        "pillar",
        (0.25, 0.88),
        (3.4, 2.0, 0.88),
        "glass",
        _PERSON.replace("{}", "purple"),
    ),
)


class Following(FlightEnv):
    """Stay behind a rover that speeds up and slows down and sways; it ends for nothing."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_ROVER,
            camera='mode="targetbody" target="rover" pos="2.5 -5.5 3.0"',
            center=(2.5, 0.0, 0.8),
            extent=6.0,
            floor="grass",
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        self.rover: Point = (0.0, 0.0, 0.2)
        return -BEHIND + values["start_x"], values["start_y"], OVER

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        v = self.values
        rate, speed, gust = v["turn"], v["speed"], v["unevenness"]
        x = speed * (time + gust / rate * sin(rate * time))
        y = 0.5 * sin(0.7 * rate * time)
        self.rover = (x, y, 0.2)
        self.goal = (x - BEHIND, y, OVER)
        self.goal_velocity = (
            speed * (1.0 + gust * cos(rate * time)),
            0.35 * rate * cos(0.7 * rate * time),
            0.0,
        )
        self.data.mocap_pos[int(self.model.body("rover").mocapid[0])] = self.rover

    def apart(self) -> float:
        """Metres from the drone to the rover."""
        return sqrt(sum((a - b) ** 2 for a, b in zip(self.here(), self.rover, strict=True)))

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        read = Custom(lambda model, data: self.apart())
        return (*super().readers(), (NEAREST, read), (FARTHEST, read))


class Passing(FlightEnv):
    """Cross a square that people walk across. Ends with "collision" or "goal"."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_SQUARE,
            camera='pos="2.4 -5.4 3.8" xyaxes="1 0 0 0 0.5 0.87"',
            center=(2.4, 0.0, 0.8),
            extent=6.0,
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        self.goal = (5.4, 0.0, 1.4)
        return -0.5, values["start_y"], 1.4

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        v = self.values
        one = -2.2 + v["walk_1"] * time
        two = 2.2 - v["walk_2"] * time
        self.centres = [(v["cross_1"], one, 0.88), (v["cross_2"], two, 0.88)]


def follow() -> ScenarioSpec:
    """The rover's speed swings by up to 60 %."""
    own = (
        Parameter("start_x", "m", -0.3, 0.3, 0.0, "off its place at first", "initial"),
        Parameter("start_y", "m", -0.3, 0.3, 0.0, "off its place at first", "initial"),
        Parameter("speed", "m/s", 0.4, 0.7, 0.6, "mean speed of the rover"),
        Parameter("turn", "rad/s", 0.7, 1.3, 1.0, "how fast its speed and course swing"),
        Parameter("unevenness", "1", 0.2, 0.6, 0.4, "share by which its speed swings"),
    )
    setting = FlightSetting(inputs=Inputs(HORIZON, own, flight_faults(HORIZON), PUSHES))
    return declare(
        "drone/follow-v0",
        "Follow a rover at a distance.",
        Following,
        setting,
        signals=signals(NEAREST, FARTHEST),
        claims=(
            above(
                "follow.near",
                NEAREST,
                1.4,
                "the drone runs into the rover when it brakes",
                "chosen: 0.7 m behind it, within which the drone stops from 1.8 m/s at 2.4 m/s^2",
            ),
            Claim(
                id="follow.far",
                statement=always(FARTHEST <= 2.5),
                hazard="the rover is lost from sight behind the next corner",
                source="chosen: at 2.5 m its marker of 0.2 m is 44 pixels of 640 over 60 degrees",
                severity="marginal",
            ),
            upright("follow.tilt"),
        ),
        good=Made("drone.follow.steady", partial(homing, gain=1.5, trim=0.6)),
        bad={
            "follow.near": Made("drone.follow.racing", _racing),
            "follow.far": Made("drone.follow.idle", idle),
            "follow.tilt": Made(
                "drone.follow.jerky", partial(homing, gain=25.0, cruise=3.0, ease=9.0)
            ),
        },
    )


def _racing(observations: NDArray[Any]) -> NDArray[np.float32]:
    actions = homing(observations, gain=0.8)
    actions[:, 0] = np.minimum(actions[:, 0] + 0.5, 1.0)
    return actions


def people() -> ScenarioSpec:
    """Two people walk across the way at up to 0.7 m/s."""
    own = (
        Parameter("start_y", "m", -0.4, 0.4, 0.0, "where it starts", "initial"),
        Parameter("walk_1", "m/s", 0.4, 0.7, 0.6, "speed of the first walker"),
        Parameter("walk_2", "m/s", 0.4, 0.7, 0.6, "speed of the second walker"),
        Parameter("cross_1", "m", 1.4, 2.0, 1.7, "where the first walker crosses"),
        Parameter("cross_2", "m", 3.4, 4.0, 3.7, "where the second walker crosses"),
    )
    setting = FlightSetting(
        inputs=Inputs(250, own, flight_faults(250), PUSHES), shapes=WALKERS, park=10
    )
    return declare(
        "drone/people-v0",
        "Cross a square that people walk across.",
        Passing,
        setting,
        signals=signals(shapes=True),
        claims=(
            no_collision("people.collision", "the drone strikes a person"),
            above(
                "people.distance",
                CLEARANCE,
                0.25,
                "a rotor reaches a hand that is put out",
                "chosen: the length of a forearm",
            ),
            Claim(
                id="people.pace",
                statement=always((CLEARANCE <= 1.0).implies(SPEED <= 1.6)),
                hazard="people are frightened, or struck too hard, by a drone that races past",
                source="chosen: 1.6 m/s, a brisk walk",
            ),
            arrived("people.arrived", 0.4),
        ),
        good=Made(
            "drone.people.careful",
            partial(homing, margin=1.1, cruise=0.9, swirl=0.3, trim=0.6, brake=1.8),
        ),
        bad={
            "people.collision": Made("drone.people.blind", partial(homing, cruise=1.0, trim=0.6)),
            "people.distance": Made(
                "drone.people.close", partial(homing, margin=0.15, cruise=1.2, trim=0.6)
            ),
            "people.pace": Made(
                "drone.people.hasty", partial(homing, gain=3.0, cruise=2.2, margin=0.2, ease=1.5)
            ),
            "people.arrived": Made("drone.people.idle", idle),
        },
        terminals={"collision": "failed", "goal": "absorbed"},
    )


_ROVER = (
    """
    <body name="rover" mocap="true" pos="0 0 0.2">
      <geom class="look" type="box" size="0.32 0.2 0.08" material="yellow"/>
      <geom class="look" type="box" pos="0.1 0 0.11" size="0.16 0.16 0.04" material="dark"/>
      <geom class="look" type="cylinder" pos="-0.15 0 0.085" size="0.1 0.004" material="goal"/>"""
    + "".join(
        f"""
      <geom class="look" type="cylinder" pos="{x} {y} -0.1" size="0.1 0.04" euler="1.5708 0 0"
            material="rubber"/>"""
        for x in (-0.24, 0.24)
        for y in (-0.22, 0.22)
    )
    + """
    </body>
    <geom class="look" type="box" pos="3 0 0.002" size="8 0.9 0.002" material="concrete"/>
    <geom class="look" type="box" pos="3 2.4 0.6" size="6 0.1 0.6" material="green"/>"""
)
_SQUARE = """
    <geom class="look" type="sphere" pos="5.4 0 1.4" size="0.07" material="goal"/>
    <geom class="look" type="box" pos="1.7 0 0.003" size="0.35 3 0.003" material="marking"/>
    <geom class="look" type="box" pos="3.7 0 0.003" size="0.35 3 0.003" material="marking"/>
    <geom class="look" type="box" pos="2.5 3.4 1.2" size="4 0.3 1.2" material="wall"/>"""
