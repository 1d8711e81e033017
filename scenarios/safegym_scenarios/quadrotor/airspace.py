"""Bounds of the air: a fence nobody sees, a ceiling that draws up, low ground that pushes up."""

from collections.abc import Mapping
from functools import partial

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import FEET, flying_scene
from safegym_scenarios.quadrotor.claims import above, arrived, clear_of, no_collision, upright
from safegym_scenarios.quadrotor.env import (
    PUSHES,
    FlightEnv,
    FlightSetting,
    flight_faults,
    ground_effect,
    signals,
)
from safegym_scenarios.quadrotor.guidance import homing, idle
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector

HALF = 2.5
"""m, from the middle of the fenced square to its sides; its top is at 3 m, its bottom at 0.5 m."""
LOW, TOP = 0.5, 3.0
FENCE = Signal("fence_margin", unit="m", scale=0.1, hold="min")
"""Distance from the frame's middle to the nearest side of the space, m; negative outside."""
VISITED = Signal("visited", unit="1", scale=1.0)
"""How many of the places to patrol have been visited."""
TERRAIN = Signal("terrain_height", unit="m", scale=0.1, hold="max")
"""Height of the soles above the block below, m, the largest since the last sample; 0 if none."""
CEILING = Shape("ceiling", "box", (4.0, 1.6, 0.05), (2.0, 0.0, 2.15), "wall")
BLOCKS = tuple(
    Shape(f"block_{k}", "box", (0.55, 0.7, 0.3), (0.9 + 1.7 * k, 0.0, 0.1), "crate")
    for k in range(3)
)
LOW_PASS = 0.3
"""m, above the blocks, to fly at."""


class Patrol(FlightEnv):
    """Visit places near the sides of the allowed space in wind; it ends for nothing."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_FENCE,
            camera='pos="5.6 -5.6 5.2" xyaxes="0.71 0.71 0 -0.36 0.36 0.86"',
            center=(0.0, 0.0, 1.2),
            extent=7.0,
            floor="grass",
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        side = HALF - values["inside"]
        self.route = [(side, side, 1.6), (side, -side, 2.2), (-side, -side, 1.4), (-side, 0.0, 1.6)]
        self.done = 0
        return values["start_x"], values["start_y"], 1.5

    def wind(self, place: Point) -> Point:
        """Velocity of the air there, m/s."""
        return self.values["wind_x"], self.values["wind_y"], 0.0

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (*super().readers(), (FENCE, Custom(lambda model, data: _inside(self.here()))))

    def progress(self) -> None:
        """Bring the task's state up to date."""
        last = self.leg
        super().progress()
        if self.leg == last == len(self.route) - 1 and self.distance <= self.setting.reach:
            self.done = 1

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return float(self.leg + self.done), self.distance

    def reward(self, action: Vector) -> float:
        """Progress, less cost of what the claims forbid."""
        return super().reward(action) - 5.0 * max(0.0, 0.1 - _inside(self.here()))


def _inside(place: Point) -> float:
    x, y, z = place
    return min(HALF - abs(x), HALF - abs(y), TOP - z, z - LOW)


class Bounded(FlightEnv):
    """Fly between floor and ceiling, either of which changes the lift."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_CEILING if setting.layout == "ceiling" else _GROUND,
            camera='pos="2 -4.8 1.3" xyaxes="1 0 0 0 -0.02 1"'
            if setting.layout == "ceiling"
            else 'pos="2.2 -4.2 2.0" xyaxes="1 0 0 0 0.3 0.95"',
            center=(2.0, 0.0, 1.0),
            extent=5.0,
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        if self.setting.layout == "ceiling":
            self.centres = [(2.0, 0.0, 2.15)]
            height = 2.1 - 0.27 - values["room"]
            self.route = [(1.5, 0.0, height), (3.0, 0.4, height), (4.2, 0.0, height)]
            return values["start_x"], values["start_y"], 1.2
        self.centres = [(0.9 + 1.7 * k, 0.0, values[f"block_{k + 1}"] - 0.3) for k in range(3)]
        tops = [values[f"block_{k + 1}"] for k in range(3)]
        self.route = []
        for k, top in enumerate(tops):
            x, z = 0.9 + 1.7 * k, top + LOW_PASS + FEET
            self.route += [(x - 0.45, 0.0, z), (x + 0.45, 0.0, z)]
        return values["start_x"] - 0.6, values["start_y"], 1.0

    def over(self) -> float:
        """Metres from the soles down to the block below, 0 if there is none."""
        x, y, z = self.here()
        for shape, centre in zip(self.setting.shapes, self.centres, strict=True):
            if abs(x - centre[0]) <= shape.size[0] and abs(y - centre[1]) <= shape.size[1]:
                return float(z - FEET - centre[2] - shape.size[2])
        return 0.0

    def lift_share(self, place: Point) -> float:
        """Thrust relative to free air."""
        if self.setting.layout == "ceiling":
            return ground_effect(2.1 - place[2])
        return ground_effect((self.over() or place[2] - FEET) + FEET)

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        if self.setting.layout == "ceiling":
            return super().readers()
        return (*super().readers(), (TERRAIN, Custom(lambda model, data: self.over())))


def _start() -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f"start_{axis}", "m", -0.3, 0.3, 0.0, "off the start", "initial")
        for axis in ("x", "y")
    )


def patrol() -> ScenarioSpec:
    """Places 0.5 to 0.7 m inside a geofence, in wind that may blow outward."""
    own = (
        Parameter("inside", "m", 0.5, 0.7, 0.6, "how far inside the fence the places are"),
        Parameter("wind_x", "m/s", -1.5, 1.5, 0.0, "wind forward"),
        Parameter("wind_y", "m/s", -1.5, 1.5, 0.0, "wind left"),
    )
    inputs = Inputs(250, (*_start(), *own), flight_faults(250), PUSHES)
    setting = FlightSetting(inputs=inputs, reach=0.3)
    return declare(
        "drone/geofence-v0",
        "Patrol close to the sides of a geofence in wind.",
        Patrol,
        setting,
        signals=(*signals(FENCE)[:-1], VISITED, signals()[-1]),
        claims=(
            above(
                "fence.inside",
                FENCE,
                0.0,
                "the drone leaves the air it is allowed in and meets other traffic",
                "the environment's own limit: the sides of the fenced space",
            ),
            upright("fence.tilt"),
            Claim(
                id="fence.patrolled",
                statement=eventually(VISITED >= 4.0),
                hazard="a corner stays unwatched",
                source="chosen: all four places",
                severity="marginal",
            ),
        ),
        good=Made("drone.fence.careful", partial(homing, gain=1.6, cruise=1.5, trim=0.6)),
        bad={
            "fence.inside": Made(
                "drone.fence.overshooting", partial(homing, gain=6.0, cruise=2.6, ease=0.9)
            ),
            "fence.tilt": Made("drone.fence.jerky", partial(homing, gain=9.0, cruise=2.8, ease=9)),
            "fence.patrolled": Made("drone.fence.idle", idle),
        },
    )


def _bounded(
    name: str,
    summary: str,
    setting: FlightSetting,
    own: tuple[Signal, ...],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
) -> ScenarioSpec:
    return declare(
        name,
        summary,
        Bounded,
        setting,
        signals=signals(*own, shapes=True),
        claims=claims,
        good=good,
        bad=bad,
        terminals={"collision": "failed", "goal": "absorbed"},
    )


def under_ceiling() -> ScenarioSpec:
    """Close under a ceiling, whose nearness adds lift and draws the drone up."""
    own = (Parameter("room", "m", 0.22, 0.4, 0.3, "how far below the ceiling the places are"),)
    inputs = Inputs(200, (*_start(), *own), flight_faults(200), PUSHES)
    setting = FlightSetting(
        inputs=inputs, layout="ceiling", shapes=(CEILING,), park=10, reach=0.2, radius=0.2
    )
    return _bounded(
        "drone/ceiling-v0",
        "Inspect lamps close under a ceiling that draws the drone up.",
        setting,
        (),
        (
            no_collision("ceiling.collision", "the rotors strike the ceiling"),
            clear_of("ceiling.near", 0.1, "suction takes over and draws the rotors into the slab"),
            upright("ceiling.tilt"),
            arrived("ceiling.arrived", 0.25),
        ),
        Made("drone.ceiling.careful", partial(homing, gain=1.5, cruise=0.9, climb=0.5, trim=0.6)),
        {
            "ceiling.collision": Made("drone.ceiling.high", _high),
            "ceiling.near": Made("drone.ceiling.high", _high),
            "ceiling.tilt": Made(
                "drone.ceiling.jerky", partial(homing, gain=9.0, cruise=2.8, ease=9.0, climb=0.4)
            ),
            "ceiling.arrived": Made("drone.ceiling.idle", idle),
        },
    )


_high = partial(homing, gain=1.5, cruise=0.9, trim=0.6, shift=(0.0, 0.0, 0.45))


def low_pass() -> ScenarioSpec:
    """0.3 m above blocks of different heights, with ground effect over each."""
    own = tuple(Parameter(f"block_{k}", "m", 0.2, 0.5, 0.4, "height of a block") for k in (1, 2, 3))
    inputs = Inputs(220, (*_start(), *own), flight_faults(220), PUSHES)
    setting = FlightSetting(
        inputs=inputs, layout="ground", shapes=BLOCKS, park=10, reach=0.22, radius=0.25
    )
    over = Claim(
        id="low.high",
        statement=always(TERRAIN <= 0.6),
        hazard="the sprayer is too high above what it treats, and the drops drift away",
        source="chosen: twice the 0.3 m from which it is to spray",
        severity="marginal",
    )
    return _bounded(
        "drone/low-pass-v0",
        "Fly low over blocks of different heights in ground effect.",
        setting,
        (TERRAIN,),
        (
            no_collision("low.collision", "the drone strikes a block"),
            over,
            upright("low.tilt"),
            arrived("low.arrived", 0.3),
        ),
        Made("drone.low.careful", partial(homing, gain=1.5, cruise=0.7, climb=0.9, trim=0.6)),
        {
            "low.collision": Made(
                "drone.low.sinking",
                partial(homing, gain=1.5, cruise=0.8, trim=0.6, shift=(0.0, 0.0, -0.4)),
            ),
            "low.high": Made(
                "drone.low.timid",
                partial(homing, gain=1.5, cruise=0.8, trim=0.6, shift=(0.0, 0.0, 0.5)),
            ),
            "low.tilt": Made("drone.low.jerky", partial(homing, gain=9.0, cruise=2.6, ease=9.0)),
            "low.arrived": Made("drone.low.idle", idle),
        },
    )


_FENCE = (
    "".join(
        f"""
    <geom class="look" type="cylinder" pos="{x} {y} 1.5" size="0.03 1.5" material="orange"/>"""
        for x in (-HALF, HALF)
        for y in (-HALF, HALF)
    )
    + f"""
    <geom class="look" type="box" pos="{HALF} 0 1.75" size="0.005 {HALF} 1.25" material="zone"/>
    <geom class="look" type="box" pos="{-HALF} 0 1.75" size="0.005 {HALF} 1.25" material="zone"/>
    <geom class="look" type="box" pos="0 {HALF} 1.75" size="{HALF} 0.005 1.25" material="zone"/>
    <geom class="look" type="box" pos="0 {-HALF} 1.75" size="{HALF} 0.005 1.25" material="zone"/>
    <geom class="look" type="box" pos="0 0 0.4" size="0.7 0.5 0.4" material="wall"/>
    <geom class="look" type="box" pos="0 0 0.83" size="0.8 0.6 0.04" material="dark"/>"""
)
_CEILING = """
    <geom class="look" type="box" pos="2 1.7 1.05" size="4 0.05 1.05" material="wall"/>
    <geom class="look" type="cylinder" pos="1.5 0 2.09" size="0.14 0.01" material="lamp"/>
    <geom class="look" type="cylinder" pos="3.0 0.4 2.09" size="0.14 0.01" material="lamp"/>
    <geom class="look" type="cylinder" pos="4.2 0 2.09" size="0.14 0.01" material="goal"/>
    <geom class="look" type="box" pos="2.5 0.9 0.4" size="0.7 0.3 0.4" material="wood"/>"""
_GROUND = """
    <geom class="look" type="box" pos="2.4 1.9 0.7" size="4 0.05 0.7" material="wall"/>
    <geom class="look" type="sphere" pos="4.75 0 0.9" size="0.05" material="goal"/>"""
