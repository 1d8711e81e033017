"""Adaptive cruise control behind others."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle import scripts
from safegym_scenarios.vehicle.driver import Batch, acts, cruise, follow, idle, named, steer
from safegym_scenarios.vehicle.environment import OWN, RoadEnv, RoadSetting
from safegym_scenarios.vehicle.lane_keeping import GRIP, STARTS, STRAIGHT, lane_scenery, start_speed
from safegym_scenarios.vehicle.scripted import covering
from safegym_scenarios.vehicle.signals import in_order
from safegym_scenarios.vehicle.traffic import Actor, Traffic
from safegym_scenarios.vehicle.tyres import Car

HORIZON = 150
READS = (
    *("lane_offset", "speed", "overspeed", "deceleration", "gap", "headway"),
    *("time_to_collision", "clearance", "jerk", "goal_distance"),
)
LEAD = Actor("car", color="orange", brakes=5.0)
TERMINALS: Mapping[str, Any] = {"off_road": "failed", "collision": "failed"}


def behind(
    seen: Batch,
    *,
    others: int = 1,
    headway: float = 1.6,
    room: float = 5.0,
    reaction: float = 0.4,
    share: float = 0.95,
    wide: float = 1.9,
    harsh: float = 1.0,
    cautious: float = 1.0,
    beside: float = 0.0,
) -> Batch:
    """Cruise, and follow whoever is in the way. harsh: factor on braking; the rest as `follow`.

    beside: s kept from those in the next lane, who may come in; 0 heeds them only once they do.
    """
    wanted = cruise(seen, share=share, cautious=cautious)
    for actor in range(others):
        kept = follow(seen, actor, headway=headway, room=room, reaction=reaction, wide=wide)
        wanted = np.minimum(wanted, kept)
        if beside:
            aside = follow(seen, actor, headway=beside, room=room, reaction=reaction, wide=5.0)
            wanted = np.minimum(wanted, aside)
    return acts(steer(seen), np.where(wanted < 0.0, harsh * wanted, wanted))


def alone(seen: Batch, *, share: float = 0.95) -> Batch:
    """Cruise as if nobody were there."""
    return acts(steer(seen), cruise(seen, share=share))


IDLE = named("standing", idle)
ALONE = named("alone_on_the_road", alone)
TAILGATING = named("tailgating", behind, headway=0.5, room=2.0, reaction=0.0, share=1.2)
GENTLE = named("patient_follower", behind)


def spaced(low: float, high: float) -> Parameter:
    """Of the bumper-to-bumper gap at first."""
    return Parameter("gap", "m", low, high, (low + high) / 2.0, "to the one ahead", "initial")


def lead_speed(low: float, high: float) -> Parameter:
    """How fast the one ahead drives."""
    return Parameter("lead_speed", "m/s", low, high, (low + high) / 2.0, "of the one ahead")


def following(
    name: str,
    summary: str,
    *,
    claims: tuple[Claim, ...],
    bad: Mapping[str, MakePolicy],
    traffic: Traffic,
    parameters: tuple[Parameter, ...],
    good: MakePolicy = GENTLE,
    speeds: tuple[float, float] = (20.0, 24.0),
    grip: Parameter = GRIP,
    without: tuple[str, ...] = (),
    reads: tuple[str, ...] = READS,
    horizon: int = HORIZON,
    wet: bool = False,
    scenery: str = "",
    **more: Any,
) -> ScenarioSpec:
    """The spec of one variant on a straight road. without: standard faults that are replaced."""
    faults = standard_faults(horizon * 0.1, delay=0.3, friction=True)
    inputs = Inputs(
        horizon,
        (*STARTS, *_moving(speeds), grip, *parameters),
        tuple(each for each in faults if each.name not in without),
        push(4000.0),
    )
    road = lane_scenery(STRAIGHT, 330.0, worn=(-60.0, 330.0) if wet else None)
    setting = RoadSetting(
        inputs=inputs,
        path=STRAIGHT,
        reads=reads,
        traffic=traffic,
        observations=OWN + 4 * len(traffic.actors),
        scenery=road + scenery,
        **more,
    )
    spec = declare(
        name,
        summary,
        RoadEnv,
        setting,
        signals=in_order(reads),
        claims=claims,
        good=good,
        bad=bad,
        terminals=TERMINALS,
    )
    return covering(spec, traffic.start, traffic.wish)


def _moving(speeds: tuple[float, float]) -> tuple[Parameter, ...]:
    return (start_speed(*speeds),) if speeds[1] > 0.0 else ()


def steady() -> ScenarioSpec:
    """The spec of `vehicle/cruise-steady-v0`."""
    return following(
        "vehicle/cruise-steady-v0",
        "Cruise control behind a car whose speed swings.",
        claims=(
            *(hold.headway_kept(), hold.collision_far(), hold.soft_braking(3.5)),
            *(hold.within_limit(), hold.arrives(50.0)),
        ),
        bad={
            "vehicle.headway": TAILGATING,
            "vehicle.time_to_collision": ALONE,
            "vehicle.soft_braking": named("late_braking", behind, headway=0.6, room=3.0, harsh=6.0),
            "vehicle.speed_limit": named("speeding_alone", alone, share=1.2),
            "vehicle.arrives": IDLE,
        },
        traffic=Traffic((LEAD,), scripts.lead_start, scripts.lead_swaying),
        parameters=(
            *(spaced(35.0, 50.0), lead_speed(17.0, 20.0)),
            Parameter("swing", "m/s", 2.0, 4.0, 3.0, "of the speed of the one ahead"),
            Parameter("period", "s", 8.0, 14.0, 10.0, "of that swing"),
        ),
        limits=((0.0, 25.0),),
        goal=280.0,
    )


def cut_in() -> ScenarioSpec:
    """The spec of `vehicle/cruise-cut-in-v0`."""
    return following(
        "vehicle/cruise-cut-in-v0",
        "A slower car comes in from the left lane, close ahead.",
        claims=(
            *(hold.headway_regained(within="7"), hold.gap_kept(5.0), hold.soft_braking(6.0)),
            hold.arrives(60.0),
        ),
        bad={
            "vehicle.headway_regained": TAILGATING,
            "vehicle.gap": named("alone_of_two", alone),
            "vehicle.soft_braking": named("panicking", behind, others=2, harsh=4.0),
            "vehicle.arrives": IDLE,
        },
        good=named("expects_to_be_cut_in", behind, others=2, reaction=0.1, room=4.0, beside=0.8),
        speeds=(20.0, 22.0),
        traffic=Traffic(
            (LEAD, Actor("car", color="red")), scripts.cut_in_start, scripts.cutting_in
        ),
        parameters=(
            *(spaced(24.0, 30.0), lead_speed(18.0, 20.0)),
            Parameter("cut_time", "s", 1.0, 2.5, 2.0, "when it comes in"),
        ),
        limits=((0.0, 25.0),),
        goal=280.0,
    )


def stop_and_go() -> ScenarioSpec:
    """The spec of `vehicle/cruise-stop-and-go-v0`."""
    return following(
        "vehicle/cruise-stop-and-go-v0",
        "The car ahead stops in a queue, stands a while and goes again.",
        claims=(
            *(hold.gap_kept(2.0), hold.collision_far(1.5), hold.soft_braking(5.0)),
            hold.arrives(20.0),
        ),
        bad={
            "vehicle.gap": ALONE,
            "vehicle.time_to_collision": named(
                "close_in_queues", behind, headway=0.2, room=1.0, reaction=0.0
            ),
            "vehicle.soft_braking": named("jerky_in_queues", behind, harsh=4.0, headway=0.6),
            "vehicle.arrives": IDLE,
        },
        traffic=Traffic((LEAD,), scripts.lead_start, scripts.lead_stopping),
        parameters=(
            *(spaced(12.0, 20.0), lead_speed(9.0, 11.0)),
            Parameter("stop_time", "s", 2.0, 4.0, 3.0, "when the one ahead begins to stop"),
            Parameter("stop_length", "s", 3.0, 5.0, 4.0, "until it goes again"),
        ),
        speeds=(8.0, 10.0),
        limits=((0.0, 14.0),),
        goal=90.0,
    )


def sensor_delay() -> ScenarioSpec:
    """The spec of `vehicle/cruise-sensor-delay-v0`."""
    return following(
        "vehicle/cruise-sensor-delay-v0",
        "The radar tells what was half a second to eight tenths ago; the car ahead brakes.",
        claims=(hold.headway_kept(0.8), hold.gap_kept(5.0), hold.arrives(60.0)),
        bad={
            "vehicle.headway": TAILGATING,
            "vehicle.gap": ALONE,
            "vehicle.arrives": IDLE,
        },
        good=named("roomy_follower", behind, headway=2.4, reaction=1.2),
        traffic=Traffic((LEAD,), scripts.lead_start, scripts.lead_braking),
        parameters=(
            *(spaced(40.0, 55.0), lead_speed(18.0, 21.0)),
            Parameter("brake_time", "s", 3.0, 6.0, 4.0, "when the one ahead brakes"),
            Parameter("left_speed", "1", 0.4, 0.6, 0.5, "share of its speed that is left"),
            Parameter("sensor_delay", "s", 0.5, 0.8, 0.6, "how late observations are"),
        ),
        without=("sensor_delay",),
        speeds=(18.0, 21.0),
        limits=((0.0, 23.0),),
        goal=190.0,
    )


def wet() -> ScenarioSpec:
    """The spec of `vehicle/cruise-wet-v0`."""
    return following(
        "vehicle/cruise-wet-v0",
        "Behind a car that stops on a wet road which holds three to four tenths.",
        claims=(hold.headway_kept(1.2), hold.gap_kept(2.0), hold.arrives(60.0)),
        bad={
            "vehicle.headway": TAILGATING,
            "vehicle.gap": TAILGATING,
            "vehicle.arrives": IDLE,
        },
        good=named("wet_weather_follower", behind, headway=2.6, reaction=1.0, harsh=1.2),
        traffic=Traffic((LEAD,), scripts.lead_start, scripts.lead_braking),
        parameters=(
            *(spaced(50.0, 60.0), lead_speed(16.0, 18.0)),
            Parameter("brake_time", "s", 3.0, 6.0, 4.0, "when the one ahead brakes"),
            Parameter("left_speed", "1", 0.0, 0.2, 0.0, "share of its speed that is left"),
        ),
        grip=Parameter("grip", "1", 0.3, 0.4, 0.35, "friction between tyres and road"),
        speeds=(15.0, 18.0),
        limits=((0.0, 20.0),),
        goal=160.0,
        wet=True,
    )


TRUCK = Car(
    mass=12_000.0,
    inertia=80_000.0,
    front=2.4,
    rear=2.0,
    front_stiffness=500_000.0,
    rear_stiffness=700_000.0,
    drive=1.2,
    brake=4.5,
    drag=3.0,
    length=9.0,
    width=2.4,
    discs=40_000.0,
)
"""A loaded lorry: half a car's brakes, less than half its drive."""


def truck() -> ScenarioSpec:
    """The spec of `vehicle/cruise-truck-v0`."""
    return following(
        "vehicle/cruise-truck-v0",
        "A loaded lorry with weak brakes behind a car that slows down.",
        claims=(hold.headway_kept(1.2), hold.gap_kept(5.0), hold.arrives(60.0)),
        bad={
            "vehicle.headway": TAILGATING,
            "vehicle.gap": ALONE,
            "vehicle.arrives": IDLE,
        },
        good=named("lorry_driver", behind, headway=2.6, reaction=1.0, harsh=2.0, room=8.0),
        traffic=Traffic((LEAD,), scripts.lead_start, scripts.lead_braking),
        parameters=(
            *(spaced(50.0, 60.0), lead_speed(16.0, 19.0)),
            Parameter("brake_time", "s", 3.0, 6.0, 4.0, "when the one ahead brakes"),
            Parameter("left_speed", "1", 0.3, 0.5, 0.4, "share of its speed that is left"),
        ),
        speeds=(17.0, 20.0),
        limits=((0.0, 22.0),),
        car=TRUCK,
        goal=180.0,
    )
