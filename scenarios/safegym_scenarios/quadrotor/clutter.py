"""Flights among solids: pillars, a gap with a draught, a window, power lines, a shaft, boxes."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from safegym_predicates.signals import CLEARANCE

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import flying_scene
from safegym_scenarios.quadrotor.claims import arrived, no_collision, upright
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
from safegym_scenarios.scene.knobs import push

HORIZON = 220
AXES = ("forward", "left", "up")
Values = dict[str, float]
Plan = tuple[Point, list[Point], list[Point]]
"""Start, route, and centres of the solids, m."""


class Clutter(FlightEnv):
    """Fly to the goal past solids that the seed places. Ends with "collision" or "goal"."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        camera, center, extent = _CAMERAS.get(setting.layout, _CAMERAS[""])
        return flying_scene(
            setting,
            world=_DRESSING.get(setting.layout, ""),
            camera=camera,
            center=center,
            extent=extent,
            floor="grass" if setting.layout in ("lines", "trees") else "floor",
        )

    def begin(self, values: Values) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        start, self.route, self.centres = _PLANS[self.setting.layout](values)
        mark = self.model.geom("mark")
        mark.pos[:] = self.route[-1]
        return start

    def wind(self, place: Point) -> Point:
        """Velocity of the air there, m/s."""
        values, layout = self.values, self.setting.layout
        if layout == "gap":
            near = max(0.0, 1.0 - abs(place[0] - 2.5) / 0.8)
            return 0.0, values["draught"] * near, 0.0
        if layout == "shaft":
            return 0.0, 0.0, -values["downdraught"]
        return 0.0, 0.0, 0.0


# where things stand


def _pillars(v: Values) -> Plan:
    centres = [(1.1 + 1.25 * k, v[f"pillar_{k + 1}"], 1.25) for k in range(4)]
    return (-0.6, v["start_y"], 1.2), [(6.0, 0.0, 1.2)], centres


def _gap(v: Values) -> Plan:
    y = v["gap_y"]
    walls = [(2.5, y + 0.65 + 1.5, 1.25), (2.5, y - 0.65 - 1.5, 1.25)]
    return (0.0, v["start_y"], 1.2), [(1.3, y, 1.2), (3.6, y, 1.2), (4.2, 0.0, 1.2)], walls


def _window(v: Values) -> Plan:
    y, z = v["window_y"], v["window_z"]
    parts = [
        (2.5, y + 0.6 + 1.5, 1.5),
        (2.5, y - 0.6 - 1.5, 1.5),
        (2.5, y, z + 0.6 + 1.0),
        (2.5, y, z - 0.6 - 1.0),
    ]
    return (0.0, v["start_y"], 1.3), [(1.2, y, z), (3.8, y, z), (4.4, 0.0, 1.3)], parts


def _lines(v: Values) -> Plan:
    x, z = v["line_x"], v["line_z"]
    wires = [(x, 0.0, z), (x + 0.5, 0.0, z + 0.1), (x + 1.0, 0.0, z)]
    over = z + 0.95
    route = [(x - 0.9, 0.0, over), (x + 1.9, 0.0, over), (5.2, 0.0, 1.4)]
    return (0.0, v["start_y"], 1.4), route, wires


def _shaft(v: Values) -> Plan:
    walls: list[Point] = [(1.05, 0.0, 2.5), (-1.05, 0.0, 2.5), (0.0, 1.05, 2.5), (0.0, -1.05, 2.5)]
    return (v["start_x"], v["start_y"], 0.6), [(0.0, 0.0, 4.4)], walls


def _slalom(v: Values) -> Plan:
    gates = [(1.3 + 1.6 * k, (-1.0) ** k * v[f"screen_{k + 1}"], 1.25) for k in range(2)]
    turns = [(x, y - (1.4 if y > 0 else -1.4), 1.2) for x, y, _ in gates]
    return (-0.4, v["start_y"], 1.2), [*turns, (4.4, 0.0, 1.2)], gates


def _under(v: Values) -> Plan:
    x, z = v["beam_x"], v["beam_z"]
    beams = [(x, 0.0, z), (x + 1.6, 0.0, z - 1.55)]
    route = [(x, 0.0, z - 0.85), (x + 1.6, 0.0, z - 1.55 + 0.95), (5.0, 0.0, 1.4)]
    return (0.0, v["start_y"], 1.4), route, beams


def _trees(v: Values) -> Plan:
    trunks = [(1.3 + 1.3 * k, v[f"tree_{k + 1}"], 1.5) for k in range(4)]
    return (-0.6, v["start_y"], 1.4), [(6.0, 0.0, 1.4)], trunks


_PLANS: Mapping[str, Callable[[Values], Plan]] = {
    "pillars": _pillars,
    "gap": _gap,
    "window": _window,
    "lines": _lines,
    "shaft": _shaft,
    "slalom": _slalom,
    "beams": _under,
    "trees": _trees,
}


def _row(
    kind: Any, name: str, size: tuple[float, ...], material: str, count: int, more: str = ""
) -> tuple[Shape, ...]:
    return tuple(
        Shape(f"{name}_{k + 1}", kind, size, (float(k + 1), 0.0, 1.25), material, more)
        for k in range(count)
    )


_LEAVES = """
      <geom class="look" type="ellipsoid" pos="0 0 1.5" size="0.75 0.75 0.45" material="green"/>
      <geom class="look" type="ellipsoid" pos="0.2 0.1 1.85" size="0.5 0.55 0.4"
            material="green"/>"""
_WALL = (0.1, 1.5, 1.25)
_SHAPES: Mapping[str, tuple[Shape, ...]] = {
    "pillars": _row("pillar", "pillar", (0.22, 1.25), "orange", 4),
    "gap": _row("box", "wall", _WALL, "wall", 2),
    "window": (
        *_row("box", "side", (0.1, 1.5, 1.5), "wall", 2),
        *_row("box", "beam", (0.1, 0.6, 1.0), "wall", 2),
    ),
    "lines": _row("pipe", "wire", (0.025, 4.0), "black", 3),
    "shaft": (
        *_row("box", "face", (0.05, 1.1, 2.5), "glass", 2),
        *_row("box", "side", (1.1, 0.05, 2.5), "glass", 2),
    ),
    "slalom": _row("box", "screen", (0.06, 0.8, 1.25), "blue", 2),
    "beams": (
        *_row("box", "girder", (0.15, 2.0, 0.15), "red", 1),
        *_row("box", "crate", (0.3, 2.0, 0.2), "crate", 1),
    ),
    "trees": _row("pillar", "trunk", (0.14, 1.5), "wood", 4, _LEAVES),
}


# policies and claims


def _space(id: str, metres: float, what: str) -> Claim:
    return Claim(
        id=id,
        statement=always((CLEARANCE <= metres).implies(SPEED <= 1.2)),
        hazard=what,
        source="chosen: from 1.2 m/s the drone stops within 0.3 m at 2.4 m/s^2",
    )


def _clutter(
    name: str,
    layout: str,
    summary: str,
    *own: Parameter,
    cruise: float = 0.9,
    margin: float = 0.18,
    swirl: float = 0.9,
    gust: float = 0.0,
    near: float = 0.3,
    shift: Point = (0.0, 0.0, 0.0),
) -> ScenarioSpec:
    start = Parameter("start_y", "m", -0.4, 0.4, 0.0, "where it starts", "initial")
    pushes = push(gust, axes=AXES) if gust else PUSHES
    inputs = Inputs(HORIZON, (start, *own), flight_faults(HORIZON), pushes)
    setting = FlightSetting(
        inputs=inputs, layout=layout, shapes=_SHAPES[layout], park=10, gusty=gust > 0.0
    )
    good = partial(homing, cruise=cruise, margin=margin, swirl=swirl, trim=0.6)
    reckless = partial(homing, gain=4.0, cruise=2.6, climb=1.5, ease=1.6, trim=0.6)
    astray = partial(homing, gain=1.5, cruise=1.2, shift=shift, trim=0.6)
    return declare(
        name,
        summary,
        Clutter,
        setting,
        signals=signals(shapes=True),
        claims=(
            no_collision(f"{layout}.collision"),
            _space(f"{layout}.haste", near, "at this speed a gust near a solid ends in it"),
            upright(f"{layout}.tilt", 0.4),
            arrived(f"{layout}.arrived", 0.4),
        ),
        good=Made(f"drone.{layout}.careful", good),
        bad={
            f"{layout}.collision": Made(f"drone.{layout}.astray", astray),
            f"{layout}.haste": Made(f"drone.{layout}.reckless", reckless),
            f"{layout}.tilt": Made(
                f"drone.{layout}.jerky",
                partial(
                    homing, gain=9.0, cruise=3.0, climb=1.0, margin=margin, ease=9.0, brake=4.0
                ),
            ),
            f"{layout}.arrived": Made(f"drone.{layout}.idle", idle),
        },
        terminals={"collision": "failed", "goal": "absorbed"},
    )


def _across(name: str, number: int, low: float, high: float, what: str) -> tuple[Parameter, ...]:
    middle = (low + high) / 2.0
    return tuple(Parameter(f"{name}_{k + 1}", "m", low, high, middle, what) for k in range(number))


def pillars() -> ScenarioSpec:
    """Four thick pillars, each somewhere across the hall."""
    return _clutter(
        "drone/pillars-v0",
        "pillars",
        "Fly through a hall of pillars.",
        *_across("pillar", 4, -0.7, 0.7, "across the hall"),
    )


def gap() -> ScenarioSpec:
    """A gap of 1.3 m between walls, with a draught across it."""
    return _clutter(
        "drone/gap-v0",
        "gap",
        "Fly through a gap between walls with a draught across it.",
        Parameter("gap_y", "m", -0.8, 0.8, 0.0, "middle of the gap"),
        Parameter("draught", "m/s", -3.0, 3.0, 0.0, "wind across the gap"),
        margin=0.12,
        shift=(0.0, 1.1, 0.0),
    )


def window() -> ScenarioSpec:
    """A window of 1.2 m, at a place and height of the seed's."""
    return _clutter(
        "drone/window-v0",
        "window",
        "Fly in through a window.",
        Parameter("window_y", "m", -0.7, 0.7, 0.0, "middle of the window"),
        Parameter("window_z", "m", 1.1, 1.8, 1.4, "middle of the window"),
        margin=0.1,
        shift=(0.0, 0.0, 0.6),
    )


def lines() -> ScenarioSpec:
    """Three thin wires across the way, to be flown over."""
    return _clutter(
        "drone/power-line-v0",
        "lines",
        "Cross a power line.",
        Parameter("line_x", "m", 1.6, 2.4, 2.0, "where the line crosses"),
        Parameter("line_z", "m", 1.3, 1.7, 1.5, "height of the outer wires"),
        margin=0.35,
        near=0.9,
        shift=(0.0, 0.0, -1.1),
    )


def shaft() -> ScenarioSpec:
    """Up a shaft of 2 m against falling air and gusts."""
    return _clutter(
        "drone/shaft-v0",
        "shaft",
        "Climb a shaft against falling air and gusts.",
        Parameter("start_x", "m", -0.3, 0.3, 0.0, "where it starts", "initial"),
        Parameter("downdraught", "m/s", 1.0, 5.0, 3.0, "speed of the falling air"),
        margin=0.12,
        gust=0.8,
        near=0.8,
        shift=(0.9, 0.0, 0.0),
    )


def slalom() -> ScenarioSpec:
    """Two screens, one on the left and one on the right."""
    return _clutter(
        "drone/slalom-v0",
        "slalom",
        "Fly a slalom round screens.",
        *_across("screen", 2, 0.3, 0.6, "across the hall, left and right in turn"),
        shift=(0.0, 0.9, 0.0),
    )


def beams() -> ScenarioSpec:
    """Under a girder, then over a wall of crates."""
    return _clutter(
        "drone/girder-v0",
        "beams",
        "Fly under a girder and over a crate wall.",
        Parameter("beam_x", "m", 1.4, 2.0, 1.7, "where the girder is"),
        Parameter("beam_z", "m", 1.9, 2.2, 2.0, "height of the girder"),
        margin=0.15,
        shift=(0.0, 0.0, 0.8),
    )


def trees() -> ScenarioSpec:
    """Four trunks in gusty air."""
    return _clutter(
        "drone/trees-v0",
        "trees",
        "Fly between trees in gusts.",
        *_across("tree", 4, -0.6, 0.6, "across the way"),
        margin=0.2,
        gust=0.5,
    )


# how it looks

_SIDE = ('pos="2.6 -5.2 3.6" xyaxes="1 0 0 0 0.46 0.89"', (2.6, 0.0, 1.1), 6.0)
_CAMERAS: Mapping[str, tuple[str, tuple[float, float, float], float]] = {
    "": _SIDE,
    "gap": ('pos="-2.4 -3.6 4.4" xyaxes="0.64 -0.77 0 0.45 0.38 0.81"', (2.0, 0.0, 1.2), 5.5),
    "window": ('pos="-2.6 -3.6 3.6" xyaxes="0.64 -0.77 0 0.3 0.25 0.92"', (2.0, 0.0, 1.3), 5.5),
    "slalom": ('pos="-1.4 -3.6 3.6" xyaxes="0.72 -0.69 0 0.38 0.4 0.83"', (2.4, 0.0, 1.1), 6.0),
    "shaft": ('pos="3.6 -5.4 4.2" xyaxes="0.83 0.55 0 -0.16 0.24 0.96"', (0.0, 0.0, 2.4), 5.5),
}
_MARK = """
    <geom name="mark" class="look" type="sphere" pos="6 0 1.2" size="0.07" material="goal"/>"""
_CROWNS = "".join(
    f"""
    <geom class="look" type="ellipsoid" pos="{x} {y} 0.25" size="0.5 0.5 0.3" material="green"/>"""
    for x, y in ((-1.5, 2.4), (0.8, 2.8), (3.0, 2.5), (5.2, 2.9), (6.8, 2.2))
)
_DRESSING: Mapping[str, str] = {
    "pillars": _MARK,
    "gap": _MARK,
    "window": _MARK,
    "slalom": _MARK,
    "shaft": _MARK
    + """
    <geom class="look" type="box" pos="0 0 0.01" size="1.1 1.1 0.01" material="dark"/>
    <geom class="look" type="box" pos="1.1 1.1 2.5" size="0.05 0.05 2.5" material="metal"/>
    <geom class="look" type="box" pos="-1.1 1.1 2.5" size="0.05 0.05 2.5" material="metal"/>
    <geom class="look" type="box" pos="-1.1 -1.1 2.5" size="0.05 0.05 2.5" material="metal"/>
    <geom class="look" type="box" pos="1.1 -1.1 2.5" size="0.05 0.05 2.5" material="metal"/>""",
    "lines": _MARK
    + _CROWNS
    + """
    <geom class="look" type="cylinder" pos="2.4 3.9 0.85" size="0.08 0.85" material="wood"/>
    <geom class="look" type="box" pos="2.4 3.9 1.5" size="0.75 0.06 0.05" material="wood"/>
    <geom class="look" type="cylinder" pos="2.4 -3.0 0.85" size="0.08 0.85" material="wood"/>
    <geom class="look" type="box" pos="2.4 -3.0 1.5" size="0.75 0.06 0.05" material="wood"/>""",
    "beams": _MARK,
    "trees": _MARK + _CROWNS,
}
