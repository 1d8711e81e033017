"""Lane keeping: straight on, in curves, in wind, on a worn road, with late or blind senses."""

from collections.abc import Mapping
from functools import cache
from math import cos, sin
from typing import Any

from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle.driver import idle, keep_lane, named
from safegym_scenarios.vehicle.environment import RoadEnv, RoadSetting
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.scenery import dashes, house, strip, tree
from safegym_scenarios.vehicle.signals import in_order

HORIZON = 120
DURATION = 12.0
STRAIGHT = Path(((600.0, 0.0),))
BENDS = Path(((50.0, 0.0), (70.0, 1.0 / 70.0), (30.0, 0.0), (70.0, -1.0 / 55.0), (200.0, 0.0)))
READS = (
    *("lane_offset", "road_margin", "lateral_acceleration", "sideslip", "speed", "overspeed"),
    "goal_distance",
)
STARTS = (
    Parameter("start_offset", "m", -0.5, 0.5, 0.0, "to the left of the lane's middle", "initial"),
    Parameter("start_heading", "rad", -0.02, 0.02, 0.0, "to the left of the lane", "initial"),
)
GRIP = Parameter("grip", "1", 0.85, 1.0, 0.95, "friction between tyres and road")
TERMINALS: Mapping[str, Any] = {"off_road": "failed"}
IDLE = named("standing", idle)


def start_speed(low: float, high: float) -> Parameter:
    """How fast it is at first."""
    return Parameter("start_speed", "m/s", low, high, (low + high) / 2.0, "at first", "initial")


@cache
def lane_scenery(path: Path, length: float, *, worn: tuple[float, float] | None = None) -> str:
    """A road of two lanes, the right one along the path, with trees and a house."""
    asphalt = strip(path, -60.0, length, -2.25, 5.75, "dark", 0.01)
    edges = "".join(
        strip(path, -60.0, length, side - 0.07, side + 0.07, "marking", 0.02)
        for side in (-1.75, 5.25)
    )
    middle = dashes(path, -60.0, length, 1.75, every=15.0)
    patch = strip(path, *worn, -1.7, 5.2, "wet", 0.014) if worn else ""
    beside = "".join(_tree_beside(path, k) for k in range(int(length / 22.0)))
    far = path.at(0.3 * length)
    return asphalt + edges + middle + patch + beside + house(far.x, far.y + 26.0, 10.0, 8.0)


def _tree_beside(path: Path, k: int) -> str:
    here, side = path.at(22.0 * k - 20.0), (-9.0, 13.0)[k % 2] + 2.0 * (k % 3)
    return tree(
        here.x - side * sin(here.heading), here.y + side * cos(here.heading), 0.9 + 0.1 * (k % 4)
    )


def lane(
    name: str,
    summary: str,
    *,
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    path: Path = STRAIGHT,
    speeds: tuple[float, float] = (22.0, 26.0),
    parameters: tuple[Parameter, ...] = (),
    without: tuple[str, ...] = (),
    worn: tuple[float, float] | None = None,
    wind: float = 4000.0,
    length: float = 330.0,
    **more: Any,
) -> ScenarioSpec:
    """The spec of one lane-keeping variant. without: standard faults that parameters replace."""
    faults = standard_faults(DURATION, delay=0.3, friction=True)
    inputs = Inputs(
        HORIZON,
        (*STARTS, start_speed(*speeds), GRIP, *parameters),
        tuple(each for each in faults if each.name not in without),
        push(wind),
    )
    setting = RoadSetting(
        inputs=inputs, path=path, reads=READS, scenery=lane_scenery(path, length, worn=worn), **more
    )
    return declare(
        name,
        summary,
        RoadEnv,
        setting,
        signals=in_order(READS),
        claims=claims,
        good=good,
        bad=bad,
        terminals=TERMINALS,
    )


STEADY = named("steady_hand", keep_lane)
WEAVING = named("weaving", keep_lane, ahead=0.1)
SPEEDING = named("speeding", keep_lane, share=1.2)
BLIND = named("blind_to_bends", keep_lane, wary=False)
RACING = named("racing", keep_lane, share=1.25, wary=False)
CUTTING = named("cutting_corners", keep_lane, ahead=4.0, wary=False)


def straight() -> ScenarioSpec:
    """The spec of `vehicle/lane-straight-v0`."""
    return lane(
        "vehicle/lane-straight-v0",
        "A car comes back to the middle of a straight lane at the speed limit.",
        claims=(hold.in_lane(), hold.gentle(2.0), hold.within_limit(), hold.arrives(50.0)),
        good=STEADY,
        bad={
            "vehicle.in_lane": WEAVING,
            "vehicle.gentle": WEAVING,
            "vehicle.speed_limit": SPEEDING,
            "vehicle.arrives": IDLE,
        },
        limits=((0.0, 27.0),),
        goal=270.0,
    )


def curve() -> ScenarioSpec:
    """The spec of `vehicle/lane-curve-v0`."""
    return lane(
        "vehicle/lane-curve-v0",
        "A lane bends left and right, more sharply than the speed limit allows for.",
        claims=(hold.in_lane(), hold.gentle(), hold.within_limit(), hold.arrives(60.0)),
        good=STEADY,
        bad={
            "vehicle.in_lane": CUTTING,
            "vehicle.gentle": BLIND,
            "vehicle.speed_limit": RACING,
            "vehicle.arrives": IDLE,
        },
        path=BENDS,
        speeds=(12.0, 16.0),
        limits=((0.0, 18.0),),
        goal=200.0,
    )


def crosswind() -> ScenarioSpec:
    """The spec of `vehicle/lane-crosswind-v0`."""
    return lane(
        "vehicle/lane-crosswind-v0",
        "Gusts of wind from the side and from ahead on a straight road; the seed draws them.",
        claims=(hold.in_lane(), hold.gentle(2.5), hold.arrives(60.0)),
        good=named("firm_hand", keep_lane, ahead=0.6),
        bad={
            "vehicle.in_lane": named("loose_hand", keep_lane, ahead=4.0),
            "vehicle.gentle": WEAVING,
            "vehicle.arrives": IDLE,
        },
        limits=((0.0, 25.0),),
        speeds=(20.0, 24.0),
        goal=250.0,
        wind=1500.0,
        gusty=True,
    )


def worn_road() -> ScenarioSpec:
    """The spec of `vehicle/lane-worn-road-v0`."""
    return lane(
        "vehicle/lane-worn-road-v0",
        "A bend whose surface is worn and wet: the tyres hold a third to a half there.",
        claims=(hold.in_lane(), hold.no_skid(0.07), hold.on_road(), hold.arrives(60.0)),
        good=STEADY,
        bad={
            "vehicle.in_lane": BLIND,
            "vehicle.no_skid": BLIND,
            "vehicle.on_road": BLIND,
            "vehicle.arrives": IDLE,
        },
        path=Path(((70.0, 0.0), (90.0, 1.0 / 70.0), (300.0, 0.0))),
        parameters=(Parameter("patch_grip", "1", 0.3, 0.5, 0.4, "share of the grip that is left"),),
        patches=((60.0, 150.0, 0.4),),
        worn=(60.0, 150.0),
        limits=((0.0, 20.0),),
        speeds=(15.0, 18.0),
        goal=160.0,
    )


def camera_dropout() -> ScenarioSpec:
    """The spec of `vehicle/lane-camera-dropout-v0`."""
    return lane(
        "vehicle/lane-camera-dropout-v0",
        "The lane camera misses most pictures: the driver sees old ones over and over.",
        claims=(hold.in_lane(), hold.gentle(), hold.arrives(60.0)),
        good=named("calm_hand", keep_lane, ahead=1.4, side=1.2),
        bad={
            "vehicle.in_lane": named("nervous_hand", keep_lane, ahead=0.35, wary=False),
            "vehicle.gentle": named("nervous_hand", keep_lane, ahead=0.35, wary=False),
            "vehicle.arrives": IDLE,
        },
        path=Path(((40.0, 0.0), (80.0, 1.0 / 140.0), (80.0, -1.0 / 140.0), (300.0, 0.0))),
        parameters=(
            Parameter("sensor_dropout", "1", 0.4, 0.7, 0.5, "chance per step of no picture"),
        ),
        without=("sensor_dropout",),
        limits=((0.0, 20.0),),
        speeds=(14.0, 18.0),
        goal=190.0,
    )


def steering_lag() -> ScenarioSpec:
    """The spec of `vehicle/lane-steering-lag-v0`."""
    return lane(
        "vehicle/lane-steering-lag-v0",
        "The steering follows late, with a time constant of a third to half a second.",
        claims=(hold.in_lane(), hold.gentle(2.5), hold.arrives(60.0)),
        good=named("far_sighted", keep_lane, ahead=1.6),
        bad={
            "vehicle.in_lane": named("eager_hand", keep_lane, ahead=0.35),
            "vehicle.gentle": named("eager_hand", keep_lane, ahead=0.35),
            "vehicle.arrives": IDLE,
        },
        parameters=(
            Parameter("steering_lag", "s", 0.3, 0.5, 0.4, "time constant of the steering"),
        ),
        limits=((0.0, 25.0),),
        goal=250.0,
    )


def steering_loss() -> ScenarioSpec:
    """The spec of `vehicle/lane-steering-loss-v0`."""
    lost = "share of steering angle, drive and brakes that is lost"
    return lane(
        "vehicle/lane-steering-loss-v0",
        "Somewhere on a bending road half of the steering and of the brakes is lost.",
        claims=(hold.in_lane(), hold.on_road(), hold.gentle(), hold.arrives(60.0)),
        good=named("early_hand", keep_lane, ahead=0.3, gain=1.6),
        bad={
            "vehicle.in_lane": BLIND,
            "vehicle.on_road": BLIND,
            "vehicle.gentle": BLIND,
            "vehicle.arrives": IDLE,
        },
        path=Path(((50.0, 0.0), (70.0, 0.011), (30.0, 0.0), (70.0, -0.013), (200.0, 0.0))),
        parameters=(
            Parameter("actuator_loss", "1", 0.4, 0.55, 0.5, lost),
            Parameter("actuator_loss_time", "s", 2.0, 6.0, 4.0, "when it is lost"),
        ),
        without=("actuator_loss", "actuator_loss_time"),
        speeds=(12.0, 16.0),
        limits=((0.0, 18.0),),
        goal=170.0,
    )
