"""Loads: one on a cable over a fence, one of unknown mass under the frame, one that is dropped."""

from collections.abc import Mapping
from functools import partial
from math import hypot
from typing import Any

from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import FEET, flying_scene
from safegym_scenarios.quadrotor.claims import above, arrived, below, no_collision, upright
from safegym_scenarios.quadrotor.env import (
    HEIGHT,
    PUSHES,
    FlightEnv,
    FlightSetting,
    flight_faults,
    signals,
)
from safegym_scenarios.quadrotor.guidance import bang, homing, idle
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point, Shape
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers

SWING = Signal("swing", unit="rad", scale=0.1, hold="max")
"""Angle between the cable and the frame's axis, rad."""
ALTITUDE = Signal("altitude", unit="m", scale=0.1, hold="max")
"""Height of the frame's middle, m."""
FENCE = (Shape("fence", "box", (0.04, 1.6, 0.35), (1.6, 0.0, 0.35), "wood"),)
OVER: tuple[Point, ...] = ((0.0, 0.0, 1.75), (3.2, 0.0, 1.75))
PLACE: Point = (1.5, 0.0, 1.4)
DROP: Point = (0.0, 0.0, 1.6)


class Carrying(FlightEnv):
    """Fly a load. Ends with "collision" when frame or load touch anything."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        x = 1.6 if setting.load == "slung" else 0.6
        return flying_scene(
            setting,
            world=_SCENES[setting.layout],
            camera=f'pos="{x:g} -3.6 2.3" xyaxes="1 0 0 0 0.3 0.95"',
            center=(x, 0.0, 1.2),
            extent=4.0,
            floor="grass" if setting.layout == "slung" else "floor",
        )

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        super().prepare()
        self.load = int(self.model.body("load").id)
        self.drone = int(self.model.body("drone").id)
        self.box_inertia = self.model.body_inertia[self.load].copy()
        self.box_mass = float(self.model.body_mass[self.load])
        self.whole = self.model.body_subtreemass.copy()
        self.dropped_at: list[float] = []

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        x, y, z = values["start_x"], values["start_y"], values["start_z"]
        self.dropped_at = []
        if self.setting.layout == "slung":
            self.route = [*OVER, (3.2, 0.0, values["goal_z"])]
            return x, y, 1.3 + z
        self.carry(values["load"])
        self.goal = PLACE if self.setting.layout == "rigid" else DROP
        self.model.geom("load").rgba[3] = 1.0
        return x, y, self.goal[2] + z

    def carry(self, mass: float) -> None:
        """The load weighs this many kg from now on."""
        model, change = self.model, mass - self.box_mass
        model.body_mass[self.load] = mass
        model.body_inertia[self.load] = self.box_inertia * (mass / self.box_mass)
        for body in (0, self.drone, self.load):
            model.body_subtreemass[body] = self.whole[body] + change

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        if self.setting.layout != "drop":
            return
        slot = int(self.model.body("parcel").mocapid[0])
        if time >= self.values["drop_time"] - 1e-9:
            if not self.dropped_at:
                self.dropped_at = list(self.here())
                self.carry(0.002)
                self.model.geom("load").rgba[3] = 0.0
            x, y, z = self.dropped_at
            fallen = 4.905 * (time - self.values["drop_time"]) ** 2
            self.data.mocap_pos[slot] = (x, y, max(0.05, z - 0.09 - fallen))
        else:
            self.data.mocap_pos[slot] = (0.0, 0.0, -1.0)

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        if self.setting.load == "slung":
            return (*super().readers(), (SWING, Custom(_swing)))
        height = (HEIGHT, Custom(lambda model, data: float(data.qpos[2]) - FEET))
        return (
            *super().readers(),
            height,
            (ALTITUDE, Custom(lambda model, data: float(data.qpos[2]))),
        )


def _swing(model: Any, data: Any) -> float:
    return hypot(*data.qpos[7:9].tolist())


def _carrying(
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
        Carrying,
        setting,
        signals=signals(*own, shapes=bool(setting.shapes)),
        claims=claims,
        good=good,
        bad=bad,
        terminals={"collision": "failed", "goal": "absorbed"},
    )


def _start(*own: Parameter, reach: float = 0.3) -> tuple[Parameter, ...]:
    axes = (("x", reach), ("y", reach), ("z", 0.1))
    return (
        *(
            Parameter(f"start_{axis}", "m", -size, size, 0.0, "off the start", "initial")
            for axis, size in axes
        ),
        *own,
    )


def slung() -> ScenarioSpec:
    """A quarter of a kilogram on a cable of 0.7 m, over a fence."""
    own = _start(Parameter("goal_z", "m", 1.2, 1.5, 1.4, "height of the goal"))
    inputs = Inputs(220, own, flight_faults(220), PUSHES)
    setting = FlightSetting(
        inputs=inputs, load="slung", layout="slung", shapes=FENCE, park=14, radius=0.25
    )
    claims = (
        below(
            "slung.swing",
            SWING,
            0.25,
            "the load swings up, hits somebody or wraps the cable round a rotor",
            "chosen: at 0.25 rad the load is 0.17 m, two and a half of its radii, off its place",
        ),
        no_collision("slung.collision", "the load is dragged into the fence or over the ground"),
        arrived("slung.arrived", 0.3, what="the load is not delivered"),
    )
    gentle = partial(homing, gain=1.0, cruise=0.8, climb=0.6, trim=0.8, ease=0.35)
    return _carrying(
        "drone/slung-load-v0",
        "Carry a load on a cable over a fence without letting it swing.",
        setting,
        (SWING,),
        claims,
        Made("drone.slung.gentle", gentle),
        {
            "slung.swing": Made("drone.slung.hasty", partial(bang, gain=3.0, trim=0.6)),
            "slung.collision": Made("drone.slung.untrimmed", partial(homing, gain=0.5, ease=0.5)),
            "slung.arrived": Made("drone.slung.idle", idle),
        },
    )


def rigid() -> ScenarioSpec:
    """Up to 350 g under the frame, which nobody has weighed."""
    own = _start(Parameter("load", "kg", 0.1, 0.35, 0.25, "mass of the load"))
    inputs = Inputs(140, own, flight_faults(140), PUSHES)
    setting = FlightSetting(inputs=inputs, load="rigid", layout="rigid")
    claims = (
        above(
            "heavy.height",
            HEIGHT,
            1.0,
            "the drone sags under its load into what stands on the shelves",
            "chosen: crates on the shelves reach up to 0.76 m, and 0.24 m to spare",
        ),
        upright("heavy.tilt"),
        arrived("heavy.arrived", 0.25, what="the load is not delivered"),
    )
    firm = partial(homing, gain=1.5, cruise=0.8, trim=0.8, ease=0.6)
    return _carrying(
        "drone/heavy-load-v0",
        "Carry a load of unknown mass past shelves.",
        setting,
        (HEIGHT, ALTITUDE),
        claims,
        Made("drone.heavy.trimmed", firm),
        {
            "heavy.height": Made("drone.heavy.untrimmed", partial(homing, gain=0.8)),
            "heavy.tilt": Made("drone.heavy.hasty", partial(bang, gain=6.0, trim=0.6)),
            "heavy.arrived": Made("drone.heavy.idle", idle),
        },
    )


def dropping() -> ScenarioSpec:
    """The load falls off at a time that the seed draws; a ceiling is near."""
    own = _start(
        Parameter("load", "kg", 0.2, 0.35, 0.3, "mass of the load"),
        Parameter("drop_time", "s", 2.0, 4.0, 3.0, "when it falls off"),
        reach=0.2,
    )
    inputs = Inputs(140, own, flight_faults(140), PUSHES)
    setting = FlightSetting(inputs=inputs, load="rigid", layout="drop")
    claims = (
        below(
            "drop.rise",
            ALTITUDE,
            1.9,
            "the drone, rid of its load, shoots up into the lamps",
            "chosen: lamps hang at 2.22 m, and the cage reaches 0.27 m above the middle",
        ),
        above(
            "drop.height",
            HEIGHT,
            1.15,
            "the drone sags onto what stands on the table",
            "chosen: the table's top is at 0.73 m, and 0.4 m of goods stand on it",
        ),
        arrived("drop.arrived", 0.2, what="the drone does not come back to its place"),
    )
    firm = partial(homing, gain=2.0, trim=0.8)
    return _carrying(
        "drone/load-drop-v0",
        "Hold a place while the load falls off.",
        setting,
        (HEIGHT, ALTITUDE),
        claims,
        Made("drone.drop.trimmed", firm),
        {
            "drop.rise": Made("drone.drop.fixed-trim", _fixed_trim),
            "drop.height": Made("drone.drop.untrimmed", partial(homing, gain=0.8)),
            "drop.arrived": Made("drone.drop.idle", idle),
        },
    )


def _fixed_trim(observations: Any) -> Any:
    actions = homing(observations, gain=1.0)
    actions[:, 2] = (actions[:, 2] + 0.9).clip(-1.0, 1.0)
    return actions


_GOAL = '<geom class="look" type="sphere" pos="{}" size="0.05" material="goal"/>'
_SHELVES = "".join(
    f"""
    <geom class="look" type="box" pos="{x} {y} {z}" size="0.45 0.2 0.02" material="metal"/>
    <geom class="look" type="box" pos="{x - 0.2} {y} {z + 0.14}" size="0.13 0.13 0.12"
          material="crate"/>
    <geom class="look" type="box" pos="{x + 0.2} {y} {z + 0.11}" size="0.1 0.1 0.09"
          material="blue"/>"""
    for x in (0.0, 1.2)
    for y in (0.7,)
    for z in (0.08, 0.5)
)
_SCENES: Mapping[str, str] = {
    "slung": f"""
    {_GOAL.format("3.2 0 1.4")}
    <geom class="look" type="cylinder" pos="3.2 0 0.01" size="0.5 0.01" material="goal"/>
    <geom class="look" type="box" pos="1.6 -1.6 0.4" size="0.06 0.06 0.4" material="wood"/>
    <geom class="look" type="box" pos="1.6 1.6 0.4" size="0.06 0.06 0.4" material="wood"/>
    <geom class="look" type="box" pos="1.6 0 0.76" size="0.05 1.6 0.03" material="red"/>""",
    "rigid": _GOAL.format("1.5 0 1.4") + _SHELVES,
    "drop": """
    <body name="parcel" mocap="true" pos="0 0 -1"><geom class="look" type="box"
          size="0.06 0.05 0.03" material="crate"/></body>
    <geom class="look" type="cylinder" pos="0 0 0.01" size="0.35 0.01" material="zone"/>
    <geom class="look" type="box" pos="0 0.9 2.25" size="1.2 0.06 0.03" material="lamp"/>
    <geom class="look" type="box" pos="0 -0.9 2.25" size="1.2 0.06 0.03" material="lamp"/>
    <geom class="look" type="box" pos="1.2 0.8 0.7" size="0.5 0.3 0.03" material="wood"/>
    <geom class="look" type="box" pos="1.2 0.8 0.34" size="0.4 0.2 0.34" material="dark"/>""",
}
