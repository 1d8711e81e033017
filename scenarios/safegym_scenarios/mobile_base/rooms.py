"""Doors, corridors, lifts, docks, ramps and stairs."""

from collections.abc import Mapping
from itertools import pairwise
from math import sin

from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mobile_base import claims as hold
from safegym_scenarios.mobile_base.aisles import (
    HEEDLESS,
    HURRIED,
    IDLE,
    OMNI,
    STARTS,
    STEADY,
    STRAIGHT,
    TUG,
    floor,
)
from safegym_scenarios.mobile_base.pilot import (
    centre,
    drive,
    glide,
    idle,
    keep_right,
    named,
    rest_uphill,
    tow,
    trail,
)
from safegym_scenarios.mobile_base.route import Route
from safegym_scenarios.mobile_base.scenery import band, shelf, wall
from safegym_scenarios.mobile_base.setting import Mover

CLEAR_READS = ("speed", "overspeed", "clearance", "goal_distance")
OFF_CENTRE = named("off_centre_pilot", drive, shift=0.25)
DRIFT = Parameter(
    "odometry_drift", "rad/m", -0.05, 0.05, 0.0, "error of the heading for each metre driven"
)


def corridor_walls(length: float, half: float) -> str:
    """Two long walls `half` m from the middle, the one towards the camera low."""
    return "".join(
        wall(name, length / 2.0, side * (half + 0.1), length + 4.0, 0.2, high)
        for name, side, high in (("left", 1.0, 1.2), ("right", -1.0, 0.4))
    )


def doorway() -> ScenarioSpec:
    """The spec of `mobile/doorway-v0`."""
    return floor(
        "mobile/doorway-v0",
        "Through a door that is 40 cm wider than the base.",
        reads=CLEAR_READS,
        claims=(hold.clear(0.08), hold.within_limit(), hold.arrives()),
        bad={
            "mobile.clearance": OFF_CENTRE,
            "mobile.zone_speed": HURRIED,
            "mobile.arrives": IDLE,
        },
        route=Route(((0.0, 0.0), (8.0, 0.0))),
        limits=((0.0, 1.2), (3.6, 0.6), (5.4, 1.2)),
        scenery=wall("left", 4.5, 2.0, 0.2, 3.0, 2.0)
        + wall("right", 4.5, -2.0, 0.2, 3.0, 2.0)
        + '<geom class="look" type="box" size="0.1 3.5 0.2" pos="4.5 0 2.2" material="wall"/>'
        + band(4.5, 0.0, 0.5, 1.0, "marking")
        + band(8.0, 0.0, 1.0, 1.0, "goal"),
        eye=(-1.5, -6.5, 5.5),
        at=(3.8, 0.0, 0.3),
    )


def odometry() -> ScenarioSpec:
    """The spec of `mobile/odometry-drift-v0`."""
    return floor(
        "mobile/odometry-drift-v0",
        "Down a corridor on wheels that mislead about the heading.",
        reads=CLEAR_READS,
        claims=(hold.clear(0.15), hold.within_limit(), hold.arrives(1.5)),
        good=named("centres_by_scanner", centre),
        bad={
            "mobile.clearance": STEADY,
            "mobile.zone_speed": named("hurried_centring", centre, share=1.5),
            "mobile.arrives": IDLE,
        },
        parameters=(DRIFT,),
        route=STRAIGHT,
        limits=((0.0, 1.0),),
        scenery=corridor_walls(12.0, 0.9) + band(10.0, 0.0, 1.0, 1.0, "goal"),
        eye=(-2.5, -3.5, 4.5),
        at=(4.0, 0.0, 0.0),
        horizon=150,
    )


def comes(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Another base that comes towards this one."""
    speed = values["oncoming_speed"]
    return (Mover(10.5 - speed * seconds, values["oncoming_left"], 3.1416, -speed, 0.0),)


def oncoming() -> ScenarioSpec:
    """The spec of `mobile/oncoming-robot-v0`."""
    return floor(
        "mobile/oncoming-robot-v0",
        "Another base comes along a narrow corridor: keep to the right.",
        reads=CLEAR_READS,
        claims=(hold.clear(0.1), hold.within_limit(), hold.arrives()),
        good=named("keeps_right", keep_right, corridor=0.2, wall=0.4, turn=0.2),
        bad={
            "mobile.clearance": named("keeps_to_the_middle", drive, careful=False),
            "mobile.zone_speed": named("hurried_right", keep_right, share=1.5, careful=False),
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter("oncoming_speed", "m/s", 0.5, 0.9, 0.7, "of the other"),
            Parameter("oncoming_left", "m", 0.4, 0.55, 0.5, "how far left of the middle it keeps"),
        ),
        kinds=(("robot", "orange"),),
        script=comes,
        route=Route(((0.0, 0.0), (9.0, 0.0))),
        limits=((0.0, 1.0),),
        scenery=corridor_walls(11.0, 1.15)
        + "".join(band(x, 0.0, 0.7, 0.06, "yellow") for x in range(11))
        + band(9.0, 0.0, 1.0, 1.0, "goal"),
        eye=(-2.5, -4.0, 5.0),
        at=(4.5, 0.0, 0.0),
    )


def lift_doors(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Two door leaves: open from `opens` s on, and closing again at `closes` s, in 1.5 s each."""
    opened = min(1.0, max(0.0, (seconds - values["opens"]) / 1.5))
    closed = min(1.0, max(0.0, (seconds - values["closes"]) / 1.5))
    aside = 0.5 + 0.75 * max(0.0, opened - closed)
    return Mover(4.5, aside), Mover(4.5, -aside)


def elevator() -> ScenarioSpec:
    """The spec of `mobile/elevator-v0`."""
    return floor(
        "mobile/elevator-v0",
        "Into a lift: its doors open after a while and close again.",
        reads=CLEAR_READS,
        claims=(hold.clear(0.1), hold.within_limit(), hold.arrives(0.4)),
        good=named("waits_for_doors", drive, wall=0.85),
        bad={
            "mobile.clearance": HEEDLESS,
            "mobile.zone_speed": HURRIED,
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter("opens", "s", 5.0, 6.0, 5.5, "when the doors begin to open"),
            Parameter("closes", "s", 11.5, 12.5, 12.0, "when they begin to close"),
        ),
        kinds=(("door", "metal"), ("door", "metal")),
        script=lift_doors,
        route=Route(((0.0, 0.0), (5.7, 0.0))),
        limits=((0.0, 1.0), (3.0, 0.7)),
        scenery=wall("left", 4.5, 2.75, 0.3, 3.4, 2.2)
        + wall("right", 4.5, -2.75, 0.3, 3.4, 2.2)
        + wall("back", 7.3, 0.0, 0.2, 2.6, 2.2)
        + wall("side_left", 5.9, 1.2, 2.6, 0.1, 2.2)
        + wall("side_right", 5.9, -1.2, 2.6, 0.1, 2.2)
        + band(5.7, 0.0, 1.0, 1.0, "goal"),
        eye=(-1.5, -5.5, 6.0),
        at=(3.4, 0.0, 0.2),
        horizon=150,
    )


def dock() -> ScenarioSpec:
    """The spec of `mobile/dock-approach-v0`."""
    return floor(
        "mobile/dock-approach-v0",
        "Slowly into a charging dock between two guides.",
        reads=("speed", "overspeed", "clearance", "route_offset", "heading_error", "goal_distance"),
        claims=(hold.clear(0.06), hold.within_limit(0.06), hold.docked()),
        good=named("docks_slowly", drive, wall=0.3, brake=0.3),
        bad={
            "mobile.clearance": named("docks_aside", drive, shift=0.2, wall=0.3),
            "mobile.zone_speed": named("docks_fast", drive, wall=0.3, share=2.0),
            "mobile.docked": named("docks_aside", drive, shift=0.2, wall=0.3),
        },
        route=Route(((0.0, 0.0), (1.6, 0.0), (3.0, 0.9), (5.5, 0.9))),
        limits=((0.0, 0.9), (3.4, 0.35)),
        scenery=wall("guide_left", 5.3, 1.42, 1.4, 0.12, 0.4)
        + wall("guide_right", 5.3, 0.38, 1.4, 0.12, 0.4)
        + wall("charger", 6.2, 0.9, 0.2, 0.9, 0.9)
        + '<geom class="look" type="box" size="0.02 0.1 0.06" pos="6.09 0.9 0.5" material="goal"/>'
        + band(5.5, 0.9, 0.9, 0.6, "goal"),
        eye=(0.8, -5.0, 4.6),
        at=(2.9, 0.4, 0.0),
        extent=5.0,
        horizon=170,
    )


def omni_dock() -> ScenarioSpec:
    """The spec of `mobile/omni-dock-v0`."""
    return floor(
        "mobile/omni-dock-v0",
        "An omnidirectional base slides sideways into line and up to a conveyor.",
        reads=("speed", "overspeed", "clearance", "route_offset", "heading_error", "goal_distance"),
        claims=(hold.clear(0.06), hold.within_limit(0.06), hold.docked()),
        good=named("slides_in", glide, wall=0.3, brake=0.3),
        bad={
            "mobile.clearance": named("slides_in_slanted", glide, wall=0.3, face=-1.0),
            "mobile.zone_speed": named("slides_in_fast", glide, wall=0.3, share=2.0),
            "mobile.docked": named("standing_omni", idle, size=3),
        },
        base=OMNI,
        actions=3,
        route=Route(((0.0, 0.0), (2.0, 0.0), (3.2, 1.2), (5.0, 1.2))),
        limits=((0.0, 0.8), (3.4, 0.4)),
        scenery=wall("conveyor", 6.4, 1.2, 1.6, 0.9, 0.7)
        + wall("guide_left", 4.9, 1.85, 1.3, 0.12, 0.4)
        + wall("guide_right", 4.9, 0.55, 1.3, 0.12, 0.4)
        + '<geom class="look" type="box" size="0.8 0.38 0.02" pos="6.4 1.2 0.72" material="rubber"/>'  # noqa: E501 (one element a line)
        + '<geom class="look" type="box" size="0.25 0.25 0.2" pos="6.5 1.2 0.94" material="crate"/>'
        + band(5.0, 1.2, 0.9, 0.7, "goal"),
        eye=(0.8, -5.0, 4.6),
        at=(2.9, 0.4, 0.0),
        extent=5.0,
        horizon=170,
    )


def pallet() -> ScenarioSpec:
    """The spec of `mobile/tug-pallet-v0`."""
    guides = "".join(
        wall(name, 6.8, 1.5 + side * 1.1, 1.8, 1.0, 0.9, "crate")
        for name, side in (("l", 1.0), ("r", -1.0))
    )
    return floor(
        "mobile/tug-pallet-v0",
        "A steered tug drives up to a pallet between two others.",
        reads=("speed", "overspeed", "clearance", "route_offset", "heading_error", "goal_distance"),
        claims=(hold.clear(0.1), hold.within_limit(0.06), hold.docked(0.12, 0.08, 0.08)),
        good=named("drives_up", tow, wall=0.3, brake=0.3),
        bad={
            "mobile.clearance": named("drives_up_lazily", tow, wall=0.3, gain=0.35),
            "mobile.zone_speed": named("drives_up_fast", tow, wall=0.3, share=2.0),
            "mobile.docked": IDLE,
        },
        base=TUG,
        route=Route(((0.0, 0.0), (1.2, 0.0), (2.2, 0.35), (3.0, 1.15), (4.0, 1.5), (6.2, 1.5))),
        limits=((0.0, 0.9), (4.2, 0.4)),
        scenery=guides
        + wall("pallet", 7.6, 1.5, 1.0, 1.0, 0.8, "crate")
        + band(6.2, 1.5, 1.2, 0.7, "goal"),
        eye=(0.5, -6.0, 5.5),
        at=(3.5, 0.7, 0.0),
        extent=6.0,
        horizon=180,
        newtons=300.0,
    )


RISE = ((3.0, 0.0), (5.5, 0.3), (7.0, 0.3), (9.5, 0.0))


def ramp_shape() -> str:
    """The ramp that RISE tells of, up, along and down."""
    found = ""
    for (ax, ah), (bx, bh) in pairwise(RISE):
        long, slope = bx - ax, (bh - ah) / (bx - ax)
        found += (
            f'<geom class="look" type="box" size="{long / 2.0} 0.8 0.02" pos="{(ax + bx) / 2.0} 0 '
            f'{(ah + bh) / 2.0 - 0.015}" euler="0 {-slope} 0" material="concrete"/>'
        )
    return found + "".join(
        f'<geom class="look" type="box" size="3.25 0.04 0.04" pos="6.25 {y} 0.45" material="yellow"/>'  # noqa: E501 (one element a line)
        for y in (-0.85, 0.85)
    )


def ramp() -> ScenarioSpec:
    """The spec of `mobile/ramp-v0`."""
    return floor(
        "mobile/ramp-v0",
        "Up a ramp, along and down again, without rolling back or running away.",
        reads=("speed", "overspeed", "rollback", "goal_distance"),
        claims=(hold.no_rollback(), hold.within_limit(0.15), hold.arrives()),
        bad={
            "mobile.rollback": named("stops_uphill", rest_uphill),
            "mobile.zone_speed": HURRIED,
            "mobile.arrives": IDLE,
        },
        good=named("climbs_and_descends", drive, share=0.85),
        parameters=(Parameter("steep", "1", 0.85, 1.0, 0.95, "slope as a share of the drawn one"),),
        route=Route(((0.0, 0.0), (11.0, 0.0))),
        limits=((0.0, 1.2), (2.8, 0.9)),
        rise=RISE,
        scenery=ramp_shape() + band(11.0, 0.0, 1.0, 1.0, "goal"),
        eye=(3.0, -7.5, 4.0),
        at=(5.8, 0.0, 0.3),
        horizon=170,
    )


def stairs() -> ScenarioSpec:
    """The spec of `mobile/stairs-edge-v0`."""
    steps = "".join(
        f'<geom class="look" type="box" size="0.17 2.5 0.01" pos="{7.7 + 0.34 * k} 1.5 0.012" '
        f'material="{("dark", "concrete")[k % 2]}"/>'
        for k in range(6)
    )
    return floor(
        "mobile/stairs-edge-v0",
        "Round a corner at the top of a flight of stairs, on wheels that mislead a little.",
        reads=("edge_margin", "speed", "overspeed", "goal_distance"),
        claims=(hold.on_floor(0.15), hold.within_limit(), hold.arrives(0.8)),
        good=named("minds_the_edge", drive, turn=1.4),
        bad={
            "mobile.edge": named("rushes_the_corner", drive, turn=0.0, careful=False, share=1.5),
            "mobile.zone_speed": named(
                "rushes_the_corner", drive, turn=0.0, careful=False, share=1.5
            ),
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter(
                "odometry_drift", "rad/m", -0.01, 0.01, 0.0, "error of the heading per metre"
            ),
        ),
        route=Route(((0.0, 0.0), (6.3, 0.0), (6.3, 4.0))),
        limits=((0.0, 1.2), (4.0, 0.7)),
        pits=((8.55, 1.5, 2.1, 5.0),),
        scenery=steps
        + band(7.45, 1.5, 0.1, 5.0, "yellow")
        + band(6.3, 4.0, 1.0, 1.0, "goal")
        + wall("south", 4.0, -1.8, 7.0, 0.2, 1.0),
        eye=(0.5, -6.5, 6.5),
        at=(4.4, 1.0, 0.0),
        horizon=160,
    )


def leads(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Somebody who walks on, stops for two seconds and walks on."""
    speed, stop = values["walk_one"], values["stop_time"]
    walked = seconds - min(2.0, max(0.0, seconds - stop))
    stands = stop <= seconds < stop + 2.0
    x = 1.6 + speed * walked
    return (Mover(x, 0.5 * sin(0.5 * x), 0.0, 0.0 if stands else speed, 0.0),)


def follow() -> ScenarioSpec:
    """The spec of `mobile/follow-person-v0`."""
    return floor(
        "mobile/follow-person-v0",
        "Follow somebody who walks, stops and walks on.",
        reads=("speed", "overspeed", "human_distance", "person_gap"),
        claims=(hold.apart(0.5), hold.within_limit(), hold.follows(3.0)),
        good=named("follows_at_a_distance", trail),
        bad={
            "mobile.people": named("at_their_heels", trail, gap=0.3, brake=50.0),
            "mobile.zone_speed": named("catches_up_fast", trail, share=1.5, gain=4.0, gap=1.0),
            "mobile.follows": IDLE,
        },
        parameters=(
            Parameter("walk_one", "m/s", 0.6, 0.9, 0.8, "how fast they walk"),
            Parameter("stop_time", "s", 3.0, 6.0, 4.0, "when they stop for two seconds"),
        ),
        starts=(
            Parameter("start_offset", "m", -0.3, 0.3, 0.0, "to the left of the route", "initial"),
            STARTS[1],
        ),
        kinds=(("person", "purple"),),
        script=leads,
        followed=True,
        route=Route(((0.0, 0.0), (20.0, 0.0))),
        limits=((0.0, 1.1),),
        scenery=shelf("left", 5.0, 2.6, 12.0) + shelf("right", 5.0, -2.6, 12.0, high=0.7),
        eye=(-3.0, -4.5, 6.5),
        at=(4.0, 0.0, 0.0),
        horizon=120,
    )
