"""Inspection at a stand-off: along a wall that sucks the drone in, and round a pipe."""

from functools import partial
from math import cos, pi, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import CAGE, flying_scene
from safegym_scenarios.quadrotor.claims import below, clear_of, upright
from safegym_scenarios.quadrotor.env import (
    PUSHES,
    SPEED,
    FlightEnv,
    FlightSetting,
    flight_faults,
    signals,
)
from safegym_scenarios.quadrotor.guidance import avoid, eased, homing, idle, toward
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.quadrotor.view import asking, decode
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers

HORIZON = 180
STAND_OFF = Signal("stand_off", unit="m", scale=0.1, hold="max")
"""Distance from the cage to the surface, m, the largest since the last sample."""
SEEN = Signal("seen", unit="1", scale=1.0)
"""How many places of the surface have been looked at."""
PLACES = 4
WALL = Shape("wall", "box", (3.0, 0.1, 1.6), (0.0, 1.6, 1.6), "concrete")
PIPE = Shape("pipe", "pipe", (0.3, 2.2), (0.0, 0.0, 1.7), "metal")
KEEP = 0.7
"""m, the stand-off to keep."""


class Inspection(FlightEnv):
    """Look at four places of a surface, one after the other, from 0.7 m."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        wall = setting.layout == "wall"
        camera = (
            'pos="1.2 -4.6 2.6" xyaxes="0.97 0.26 0 -0.06 0.22 0.97"'
            if wall
            else 'pos="3.6 -3.6 2.9" xyaxes="0.71 0.71 0 -0.22 0.22 0.95"'
        )
        return flying_scene(
            setting,
            world=_MARKS if wall else _STANDS,
            camera=camera,
            center=(0.0, 0.4, 1.5),
            extent=5.0,
            floor="floor" if wall else "grass",
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        if self.setting.layout == "wall":
            self.centres = [(0.0, values["wall_y"], 1.6)]
            y = values["wall_y"] - 0.1 - CAGE - KEEP
            self.route = [(-1.5, y, 1.2), (-0.5, y, 1.8), (0.5, y, 1.2), (1.5, y, 1.8)]
            return values["start_x"] - 1.6, y - 0.4, 1.2
        self.centres = [(0.0, 0.0, values["pipe_z"])]
        far = 0.3 + CAGE + KEEP
        angles = [pi - k * pi / 3.0 for k in range(PLACES)]
        self.route = [(far * cos(a), 0.0, values["pipe_z"] + far * sin(a)) for a in angles]
        return values["start_x"] - far - 0.3, 0.0, values["pipe_z"]

    def wind(self, place: Point) -> Point:
        """Velocity of the air there, m/s."""
        if self.setting.layout != "wall":
            return self.values["wind"], 0.0, 0.0
        return 0.0, self.values["suction"] * max(0.0, 1.0 - self.clearance() / 1.2), 0.0

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (*super().readers(), (STAND_OFF, Custom(lambda model, data: self.clearance())))

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        super().prepare()
        self.leg_done = 0

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        done = self.leg == PLACES - 1 and self.distance <= self.setting.reach
        self.leg_done = max(self.leg_done, self.leg + (1 if done else 0))
        return float(self.leg_done), self.distance

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        self.leg_done = 0
        super().place(values)


def orbit(observations: NDArray[Any], *, keep: float = KEEP, cruise: float = 0.7) -> Any:
    """To the next place at the stand-off `keep` m: round the surface, not through it."""
    view = decode(observations)
    wish = toward(view, gain=1.4, cruise=cruise, climb=cruise, trim=0.6)
    way = view.solids[0]
    distance = np.sqrt((way * way).sum(axis=1, keepdims=True))
    normal = way / np.maximum(distance, 1e-6)
    inward = (wish * normal).sum(axis=1, keepdims=True)
    off = np.where(distance < 3.9, distance - CAGE - keep, 0.0)
    wish = wish + np.where(distance < 3.9, (1.5 * off - inward) * normal, 0.0)
    return asking(eased(avoid(wish, view, margin=0.15, swirl=0.0), view, 0.6))


def _inspection(
    name: str, layout: str, summary: str, shape: Shape, what: str, *own: Parameter
) -> ScenarioSpec:
    start = Parameter("start_x", "m", -0.3, 0.3, 0.0, "where it starts", "initial")
    inputs = Inputs(HORIZON, (start, *own), flight_faults(HORIZON), PUSHES)
    setting = FlightSetting(inputs=inputs, layout=layout, shapes=(shape,), reach=0.3)
    word = f"inspect-{layout}"
    return declare(
        name,
        summary,
        Inspection,
        setting,
        signals=(*signals(STAND_OFF, shapes=True)[:-1], SEEN, signals()[-1]),
        claims=(
            clear_of(f"{word}.near", 0.4, f"a gust drives the drone into the {what}"),
            Claim(
                id=f"{word}.far",
                statement=always(STAND_OFF <= 1.1, window=(3, None)),
                hazard="cracks are missed, as the pictures are too coarse",
                source="chosen: at 1.1 m a pixel of a camera of 4000 over 60 degrees is 0.3 mm",
                severity="marginal",
            ),
            below(
                f"{word}.speed",
                SPEED,
                1.1,
                "pictures blur and the inspection has to be flown again",
                "chosen: at 1.1 m/s and 1/1000 s a point moves by about a millimetre",
            ),
            upright(f"{word}.tilt"),
            Claim(
                id=f"{word}.seen",
                statement=eventually(SEEN >= float(PLACES)),
                hazard="a crack in a place that was not looked at goes on growing",
                source="chosen: all four places",
                severity="marginal",
            ),
        ),
        good=Made(f"drone.{word}.careful", orbit),
        bad={
            f"{word}.near": Made(f"drone.{word}.hugging", partial(orbit, keep=0.3)),
            f"{word}.far": Made(f"drone.{word}.wide", partial(orbit, keep=1.3)),
            f"{word}.speed": Made(
                f"drone.{word}.hasty", partial(homing, gain=3.0, cruise=2.0, climb=1.5, margin=0.5)
            ),
            f"{word}.tilt": Made(
                f"drone.{word}.jerky", partial(homing, gain=9.0, cruise=2.0, margin=0.5, ease=9.0)
            ),
            f"{word}.seen": Made(f"drone.{word}.idle", idle),
        },
        terminals={"collision": "failed"},
    )


def along_wall() -> ScenarioSpec:
    """Along a wall; the rotors' own wind draws the drone to it when it is near."""
    return _inspection(
        "drone/wall-inspection-v0",
        "wall",
        "Inspect a wall at a stand-off.",
        WALL,
        "wall",
        Parameter("wall_y", "m", 1.3, 1.8, 1.6, "where the wall is"),
        Parameter("suction", "m/s", 0.5, 2.0, 1.0, "draught toward the wall when close to it"),
    )


def round_pipe() -> ScenarioSpec:
    """Over a pipe from one side to the other, in wind."""
    return _inspection(
        "drone/pipe-inspection-v0",
        "pipe",
        "Inspect a pipe from all sides but the lower one.",
        PIPE,
        "pipe",
        Parameter("pipe_z", "m", 1.5, 1.9, 1.7, "height of the pipe"),
        Parameter("wind", "m/s", -1.5, 1.5, 0.0, "wind across the pipe"),
    )


_MARKS = "".join(
    f"""
    <geom class="look" type="cylinder" pos="{x} 0.01 0.006" size="0.12 0.004" material="goal"/>"""
    for x in (-1.5, -0.5, 0.5, 1.5)
)
_STANDS = "".join(
    f"""
    <geom class="look" type="box" pos="0 {y} 0.7" size="0.12 0.1 0.7" material="concrete"/>
    <geom class="look" type="cylinder" pos="0 {y} 1.7" size="0.36 0.05" euler="1.5708 0 0"
          material="dark"/>"""
    for y in (-1.6, 1.6)
)
