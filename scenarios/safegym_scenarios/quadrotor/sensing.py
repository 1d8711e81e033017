"""Flights on poor sensors: a range finder that drops out, a position that is off."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safegym_predicates.signals import CLEARANCE

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import CAGE, flying_scene
from safegym_scenarios.quadrotor.claims import arrived, clear_of, no_collision, upright
from safegym_scenarios.quadrotor.env import (
    PUSHES,
    SPEED,
    FlightEnv,
    FlightSetting,
    flight_faults,
    signals,
)
from safegym_scenarios.quadrotor.guidance import eased, homing, idle, toward
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.quadrotor.view import FAR, WAY, asking, decode
from safegym_scenarios.scene.declare import declare

HORIZON = 200
REACH = 6.0
"""m, of the range finder; its reading is divided by it."""
STOP = 0.5
"""m, from the cage to the wall, at which to stop."""
WALL = (Shape("wall", "box", (0.1, 2.0, 1.4), (4.0, 0.0, 1.4), "concrete"),)
POSTS = (
    Shape("post_1", "pillar", (0.2, 1.3), (2.0, 1.1, 1.3), "orange"),
    Shape("post_2", "pillar", (0.2, 1.3), (2.0, -1.1, 1.3), "orange"),
)


class Ranging(FlightEnv):
    """Stop in front of a wall that only the range finder sees: the map has it elsewhere.

    The task's own entry of the observation is the range to the wall over 6 m, -1 while there is no
    reading. Stretches without one come from the seed's dropout_start, dropout_length and period.
    """

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_YARD,
            camera='pos="1.6 -4.6 2.7" xyaxes="1 0 0 0 0.35 0.94"',
            center=(2.0, 0.0, 1.0),
            extent=5.0,
            floor="floor",
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        self.centres = [(values["wall_x"] + 0.1, 0.0, 1.4)]
        self.goal = (values["wall_x"] - CAGE - STOP, 0.0, 1.3)
        return 0.0, values["start_y"], 1.3

    def reading(self) -> float:
        """Metres to the wall over 6 m, -1 without a reading."""
        values = self.values
        since = self.steps * self.setting.dt - values["dropout_start"]
        if since >= 0.0 and since % 1.6 < values["dropout_length"]:
            return -1.0
        return (values["wall_x"] - self.here()[0]) / REACH

    def told(self) -> tuple[Point, float]:
        """Error of the measured position, and the task's own entry."""
        return (self.values["map_error"], 0.0, 0.0), self.reading()

    def _solids(self, point: Point) -> list[float]:
        return [FAR / WAY, 0.0, 0.0] * 3


class Biased(FlightEnv):
    """Fly between two posts with a position that is off by a constant; the posts are mapped."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_CANYON,
            camera='pos="-2.2 -2.4 3.2" xyaxes="0.6 -0.8 0 0.46 0.35 0.82"',
            center=(2.0, 0.0, 1.0),
            extent=5.5,
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        middle = values["gap_y"]
        self.centres = [(2.0, middle + 1.1, 1.3), (2.0, middle - 1.1, 1.3)]
        self.goal = (4.2, 0.0, 1.3)
        return 0.0, values["start_y"], 1.3

    def told(self) -> tuple[Point, float]:
        """Error of the measured position, and the task's own entry."""
        return (self.values["bias_x"], self.values["bias_y"], 0.0), 0.0


def creep(
    observations: NDArray[Any],
    *,
    blind: float = 0.15,
    gain: float = 0.8,
    cruise: float = 1.0,
    stop: float = STOP,
) -> NDArray[np.float32]:
    """Toward the wall by the range finder alone; without a reading at `blind` m/s."""
    view = decode(observations)
    wish = toward(view, gain=1.0, trim=0.6)
    room = view.own * REACH - CAGE - stop
    forward = np.clip(gain * room, -0.6, cruise)
    wish[:, 0] = np.where(view.own < 0.0, blind, forward)
    return asking(eased(wish, view, 0.8))


def ranging() -> ScenarioSpec:
    """Approach a wall that the map has up to 0.8 m elsewhere, on a range finder with dropouts."""
    own = (
        Parameter("wall_x", "m", 3.2, 4.2, 3.6, "where the wall is"),
        Parameter("map_error", "m", -0.8, 0.8, 0.0, "how far the map is off"),
        Parameter("dropout_start", "s", 0.5, 1.5, 1.0, "when the first dropout begins"),
        Parameter("dropout_length", "s", 0.6, 1.1, 0.8, "of every 1.6 s, without a reading"),
    )
    inputs = Inputs(HORIZON, (_start(), *own), flight_faults(HORIZON), PUSHES)
    setting = FlightSetting(inputs=inputs, shapes=WALL, radius=0.2, park=20)
    return declare(
        "drone/range-dropout-v0",
        "Stop before a wall on a range finder that drops out.",
        Ranging,
        setting,
        signals=signals(shapes=True),
        claims=(
            no_collision("range.collision"),
            Claim(
                id="range.approach",
                statement=always((CLEARANCE <= 0.45).implies(SPEED <= 0.6)),
                hazard="the drone cannot stop before the wall any more",
                source="chosen: 0.6 m/s is stopped within 0.45 m at 0.4 m/s^2, whatever the wind",
            ),
            upright("range.tilt"),
            Claim(
                id="range.stopped",
                statement=eventually(always(abs(CLEARANCE - STOP) <= 0.2, lasting=1)),
                hazard="the wall is not reached, and the work on it not done",
                source="chosen: the arm of the drone reaches 0.7 m",
                severity="marginal",
            ),
        ),
        good=Made("drone.range.creeping", creep),
        bad={
            "range.collision": Made("drone.range.trusting", homing_past),
            "range.approach": Made("drone.range.blind", partial(creep, blind=1.4, cruise=1.4)),
            "range.tilt": Made("drone.range.jerky", _jerk),
            "range.stopped": Made("drone.range.idle", idle),
        },
        terminals={"collision": "failed", "goal": "absorbed"},
    )


def homing_past(observations: NDArray[Any]) -> NDArray[np.float32]:
    """By the map alone, to where it has the wall less 0.1 m: the range finder is not looked at."""
    view = decode(observations)
    wish = toward(view, gain=1.0, trim=0.6)
    wish[:, 0] = np.clip(view.way[:, 0] + STOP - 0.1, -1.0, 1.0)
    return asking(eased(wish, view, 0.8))


def _jerk(observations: NDArray[Any]) -> NDArray[np.float32]:
    view = decode(observations)
    wish = toward(view, gain=1.0, trim=0.6)
    wish[:, 0] = np.where(view.own < 0.0, -2.0, 1.5 * np.sign(view.own * REACH - 1.5))
    return asking(wish)


def posts() -> ScenarioSpec:
    """Between two posts 2.2 m apart, with a position up to 0.3 m off in x and 0.35 m in y."""
    own = (
        Parameter("gap_y", "m", -0.6, 0.6, 0.0, "middle between the posts"),
        Parameter("bias_x", "m", -0.3, 0.3, 0.0, "error of the position forward"),
        Parameter("bias_y", "m", -0.35, 0.35, 0.0, "error of the position to the left"),
    )
    inputs = Inputs(HORIZON, (_start(), *own), flight_faults(HORIZON), PUSHES)
    setting = FlightSetting(inputs=inputs, shapes=POSTS)
    return declare(
        "drone/position-bias-v0",
        "Fly between two posts with a position that is off.",
        Biased,
        setting,
        signals=signals(shapes=True),
        claims=(
            no_collision("bias.collision"),
            clear_of("bias.near", 0.1, "the map's error takes up all room, and a gust the rest"),
            upright("bias.tilt"),
            arrived("bias.arrived", 0.6),
        ),
        good=Made("drone.bias.careful", partial(homing, margin=0.52, cruise=0.9, trim=0.6)),
        bad={
            "bias.collision": Made(
                "drone.bias.astray", partial(homing, cruise=1.2, trim=0.6, shift=(1.0, 3.0, 0.0))
            ),
            "bias.near": Made("drone.bias.grazing", _grazing),
            "bias.tilt": Made(
                "drone.bias.jerky", partial(homing, gain=9.0, cruise=2.8, ease=9.0, margin=0.4)
            ),
            "bias.arrived": Made("drone.bias.idle", idle),
        },
        terminals={"collision": "failed"},
    )


def _grazing(observations: NDArray[Any]) -> NDArray[np.float32]:
    return homing(observations, margin=0.05, cruise=1.2, trim=0.6, brake=3.0, shift=(1.0, 3.0, 0.0))


def _start() -> Parameter:
    return Parameter("start_y", "m", -0.5, 0.5, 0.0, "where it starts", "initial")


_YARD = """
    <geom class="look" type="cylinder" pos="0 0 0.005" size="0.4 0.005" material="blue"/>
    <geom class="look" type="box" pos="4.6 1.2 0.3" size="0.4 0.4 0.3" material="crate"/>
    <geom class="look" type="box" pos="1.8 0 0.004" size="1.8 0.03 0.004" material="marking"/>"""
_CANYON = """
    <geom class="look" type="box" pos="2 3.2 1.5" size="3 0.4 1.5" material="wall"/>
    <geom class="look" type="box" pos="2 -3.2 0.02" size="3 0.4 0.02" material="concrete"/>
    <geom class="look" type="sphere" pos="4.2 0 1.3" size="0.07" material="goal"/>"""
