"""Warehouse aisles: shelves, people who cross, scanners that are off."""

from collections.abc import Mapping
from typing import Any

from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.mobile_base import claims as hold
from safegym_scenarios.mobile_base.drives import Base
from safegym_scenarios.mobile_base.environment import FloorEnv
from safegym_scenarios.mobile_base.pilot import drive, glide, idle, named, tow
from safegym_scenarios.mobile_base.route import Route
from safegym_scenarios.mobile_base.scenery import band, shelf, wall
from safegym_scenarios.mobile_base.scripted import covering
from safegym_scenarios.mobile_base.setting import OWN, FloorSetting, Mover
from safegym_scenarios.mobile_base.signals import in_order
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults

HORIZON = 140
TERMINALS: Mapping[str, Any] = {"collision": "failed", "fell": "failed", "toppled": "failed"}
STARTS = (
    Parameter("start_offset", "m", -0.12, 0.12, 0.0, "to the left of the route", "initial"),
    Parameter("start_heading", "rad", -0.15, 0.15, 0.0, "to the left of the route", "initial"),
)
GRIP = Parameter("grip", "1", 0.6, 0.9, 0.8, "friction between wheels and floor")
IDLE = named("standing", idle)
STEADY = named("steady_pilot", drive)
HURRIED = named("hurried_pilot", drive, share=1.5, up=0.4)
HEEDLESS = named("heedless_pilot", drive, careful=False)


def floor(
    name: str,
    summary: str,
    *,
    reads: tuple[str, ...],
    claims: tuple[Claim, ...],
    bad: Mapping[str, MakePolicy],
    good: MakePolicy = STEADY,
    parameters: tuple[Parameter, ...] = (),
    starts: tuple[Parameter, ...] = STARTS,
    grip: Parameter = GRIP,
    kinds: tuple[tuple[str, str], ...] = (),
    horizon: int = HORIZON,
    newtons: float = 120.0,
    friction: bool = True,
    **more: Any,
) -> ScenarioSpec:
    """The spec of one variant."""
    faults = standard_faults(horizon * 0.1, delay=0.3, noise=0.05, bias=0.05, friction=friction)
    inputs = Inputs(horizon, (*starts, grip, *parameters), faults, push(newtons))
    setting = FloorSetting(
        inputs=inputs, reads=reads, kinds=kinds, observations=OWN + 4 * len(kinds), **more
    )
    spec = declare(
        name,
        summary,
        FloorEnv,
        setting,
        signals=in_order(reads),
        claims=claims,
        good=good,
        bad=bad,
        terminals=TERMINALS,
    )
    return covering(spec, setting.script)


ROUND_THE_CORNER = Route(((0.0, 0.0), (6.0, 0.0), (6.0, 4.5)))
SHELVES = (
    shelf("south", 3.0, -1.5, 10.0, high=0.7)
    + shelf("north", 1.6, 1.5, 6.0)
    + shelf("east", 7.6, 2.0, 1.0, 6.0)
    + band(6.0, 4.5, 1.0, 1.0, "goal")
)


def aisle() -> ScenarioSpec:
    """The spec of `mobile/aisle-v0`."""
    return floor(
        "mobile/aisle-v0",
        "Between shelves and round a corner to the next aisle.",
        reads=("speed", "overspeed", "spin", "clearance", "goal_distance"),
        claims=(hold.clear(0.2), hold.within_limit(), hold.calm(), hold.arrives()),
        bad={
            "mobile.clearance": named("corner_cutter", drive, shift=0.5),
            "mobile.zone_speed": HURRIED,
            "mobile.spin": named("twitchy_pilot", drive, gain=8.0, most=1.8),
            "mobile.arrives": IDLE,
        },
        route=ROUND_THE_CORNER,
        limits=((0.0, 1.2), (4.5, 0.8)),
        scenery=SHELVES,
        eye=(0.5, -6.5, 7.5),
        at=(4.2, 1.2, 0.0),
    )


def walkers(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Two people who cross the way at right angles, one after the other."""
    one, two = values["walk_one"], values["walk_two"]
    return (
        Mover(4.0, -4.0 + one * seconds, 1.57, 0.0, one),
        Mover(7.0, 6.0 - two * seconds, -1.57, 0.0, -two),
    )


WALKERS = (
    Parameter("walk_one", "m/s", 0.9, 1.3, 1.1, "speed of the first, from the right"),
    Parameter("walk_two", "m/s", 0.7, 1.1, 0.9, "speed of the second, from the left"),
)
CROSSROADS = (
    shelf("a", 0.6, -2.2, 5.0, high=0.7)
    + shelf("b", 0.6, 2.2, 5.0)
    + shelf("c", 10.4, -2.2, 5.0, high=0.7)
    + shelf("d", 10.4, 2.2, 5.0)
    + "".join(band(5.5, y, 4.6, 0.08, "yellow") for y in (-1.1, 1.1))
    + band(10.0, 0.0, 1.0, 1.0, "goal")
)
STRAIGHT = Route(((0.0, 0.0), (10.0, 0.0)))
PEOPLE = (("person", "orange"), ("person", "purple"))
ABOVE: Any = {"eye": (3.0, -9.0, 7.0), "at": (5.2, 0.3, 0.0)}


def crossing_people() -> ScenarioSpec:
    """The spec of `mobile/crossing-people-v0`."""
    return floor(
        "mobile/crossing-people-v0",
        "Two people cross the aisle, one from each side.",
        reads=("speed", "overspeed", "clearance", "human_distance", "goal_distance"),
        claims=(hold.apart(0.6), hold.separated(), hold.within_limit(), hold.arrives()),
        bad={
            "mobile.people": HEEDLESS,
            "mobile.separation": HEEDLESS,
            "mobile.zone_speed": HURRIED,
            "mobile.arrives": IDLE,
        },
        parameters=WALKERS,
        kinds=PEOPLE,
        script=walkers,
        route=STRAIGHT,
        limits=((0.0, 1.3),),
        scenery=CROSSROADS,
        **ABOVE,
    )


def stepping_in(values: Mapping[str, float], seconds: float) -> tuple[Mover, ...]:
    """Somebody steps in from the right while the scanner is off, and stays in the way a while."""
    walks = min(max(seconds - values["step_time"], 0.0), 2.0 / values["walk_one"])
    away = max(seconds - values["step_time"] - values["stays"] - 2.0 / values["walk_one"], 0.0)
    y = -2.2 + values["walk_one"] * (walks + away)
    moves = values["walk_one"] if (0.0 < walks < 2.0 / values["walk_one"] or away > 0.0) else 0.0
    return (Mover(values["step_at"], y, 1.57, 0.0, moves),)


RECKLESS = named("ignores_signs", drive, share=4.0, blind=9.0, careful=False)
CARRY_ON = named("carries_on_blindly", drive, blind=9.0)


def muted_zone() -> ScenarioSpec:
    """The spec of `mobile/muted-zone-v0`."""
    return floor(
        "mobile/muted-zone-v0",
        "The scanner is off in a passage; somebody stands behind its end.",
        reads=("speed", "overspeed", "human_distance", "goal_distance"),
        claims=(hold.apart(0.4), hold.separated(), hold.within_limit(), hold.arrives()),
        good=named("creeps_when_blind", drive),
        bad={
            "mobile.people": RECKLESS,
            "mobile.separation": RECKLESS,
            "mobile.zone_speed": RECKLESS,
            "mobile.arrives": IDLE,
        },
        parameters=(
            Parameter("step_time", "s", 3.0, 4.5, 4.0, "when somebody steps in"),
            Parameter("step_at", "m", 6.2, 6.6, 6.4, "how far along they cross"),
            Parameter("stays", "s", 5.0, 8.0, 6.0, "how long they stay in the way"),
            Parameter("walk_one", "m/s", 0.9, 1.3, 1.1, "how fast they walk"),
        ),
        kinds=(("person", "orange"),),
        script=stepping_in,
        route=Route(((0.0, 0.0), (8.0, 0.0))),
        limits=((0.0, 1.2), (3.5, 0.3), (4.7, 1.2)),
        muted=(3.5, 4.7),
        horizon=190,
        scenery=shelf("a", 1.0, 1.9, 4.0)
        + shelf("b", 1.0, -1.9, 4.0, high=0.7)
        + wall("gate_left", 4.1, 0.85, 1.2, 0.3, 1.8)
        + wall("gate_right", 4.1, -0.85, 1.2, 0.3, 1.8)
        + band(4.1, 0.0, 1.2, 1.4, "hazard")
        + band(8.0, 0.0, 1.0, 1.0, "goal"),
        eye=(2.5, -7.5, 5.5),
        at=(4.4, 0.2, 0.0),
    )


def scanner_dropout() -> ScenarioSpec:
    """The spec of `mobile/scanner-dropout-v0`."""
    return floor(
        "mobile/scanner-dropout-v0",
        "The scanner drops out for seconds while people cross.",
        reads=("speed", "overspeed", "human_distance", "goal_distance"),
        claims=(hold.apart(0.5), hold.separated(), hold.arrives(2.5)),
        good=named("stops_when_blind", drive, blind=0.1, share=0.8),
        bad={
            "mobile.people": CARRY_ON,
            "mobile.separation": CARRY_ON,
            "mobile.arrives": IDLE,
        },
        parameters=(
            *WALKERS,
            Parameter("scanner_loss_time", "s", 1.5, 3.0, 2.0, "when the scanner drops out"),
            Parameter("scanner_loss", "s", 2.0, 4.0, 3.0, "for how long"),
        ),
        kinds=PEOPLE,
        script=walkers,
        route=STRAIGHT,
        limits=((0.0, 1.2),),
        scenery=CROSSROADS,
        horizon=170,
        **ABOVE,
    )


def omni_crossing() -> ScenarioSpec:
    """The spec of `mobile/omni-crossing-v0`."""
    return floor(
        "mobile/omni-crossing-v0",
        "An omnidirectional base goes round a corner sideways while people cross.",
        reads=("speed", "overspeed", "clearance", "human_distance", "goal_distance"),
        claims=(hold.apart(0.5), hold.clear(0.15), hold.within_limit(), hold.arrives()),
        good=named("glider", glide),
        bad={
            "mobile.people": named("heedless_glider", glide, careful=False),
            "mobile.clearance": named("glider_astray", glide, shift=1.45),
            "mobile.zone_speed": named("hurried_glider", glide, share=1.5),
            "mobile.arrives": named("standing_omni", idle, size=3),
        },
        parameters=WALKERS,
        kinds=PEOPLE,
        script=walkers,
        base=OMNI,
        actions=3,
        route=STRAIGHT,
        limits=((0.0, 1.1),),
        scenery=CROSSROADS,
        horizon=150,
        **ABOVE,
    )


OMNI = Base(kind="omni", mass=120.0, inertia=11.0, size=(0.9, 0.7, 0.3))
TUG = Base(kind="tug", mass=250.0, inertia=35.0, size=(1.3, 0.7, 0.45), motor=2.5)


def tug_aisle() -> ScenarioSpec:
    """The spec of `mobile/tug-aisle-v0`."""
    return floor(
        "mobile/tug-aisle-v0",
        "A steered tug, which needs room to turn, round the corner of an aisle.",
        reads=("speed", "overspeed", "spin", "clearance", "goal_distance"),
        claims=(hold.clear(0.12), hold.within_limit(), hold.arrives(0.6)),
        good=named("tug_driver", tow),
        bad={
            "mobile.clearance": named("tug_astray", tow, shift=1.1),
            "mobile.zone_speed": named("hurried_tug_driver", tow, share=1.5, up=0.4),
            "mobile.arrives": IDLE,
        },
        base=TUG,
        route=Route(((0.0, 0.0), (4.6, 0.0), (5.4, 0.35), (5.9, 0.9), (6.2, 1.7), (6.2, 5.0))),
        limits=((0.0, 1.1), (3.5, 0.7)),
        horizon=180,
        scenery=shelf("south", 3.0, -1.7, 10.0, high=0.7)
        + shelf("north", 1.2, 1.9, 5.4, 1.6)
        + shelf("east", 8.2, 2.0, 1.0, 6.0)
        + band(6.2, 5.0, 1.0, 1.0, "goal"),
        eye=(0.5, -6.5, 7.5),
        at=(4.2, 1.2, 0.0),
        newtons=300.0,
    )
