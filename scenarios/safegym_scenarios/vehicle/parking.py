"""Parking: into a space beside others, nose in or backwards along the kerb."""

from collections.abc import Mapping
from math import acos, pi
from typing import Any

import numpy as np

from safegym.formula.build import all_of, always, eventually
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle import signals as told
from safegym_scenarios.vehicle.driver import (
    STEERING,
    WHEELBASE,
    Batch,
    acts,
    named,
)
from safegym_scenarios.vehicle.environment import OWN, RoadEnv, RoadSetting
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.scenery import house, strip, tree
from safegym_scenarios.vehicle.scripted import covering
from safegym_scenarios.vehicle.signals import in_order
from safegym_scenarios.vehicle.traffic import Actor, Start, Traffic, Values

READS = ("speed", "lateral_error", "heading_error", "clearance", "jerk", "goal_distance")
HORIZON = 170
TERMINALS: Mapping[str, Any] = {"off_road": "failed", "collision": "failed"}
REAR_AXLE = -1.5
TIGHT = 5.5
SIDE = 2.7
S_BEND = 5.2
S_ANGLE = acos(1.0 - SIDE / (2.0 * S_BEND))
NOSE_IN = Path(((5.0, 0.0), (TIGHT * pi / 2.0, 1.0 / TIGHT), (60.0, 0.0)))
NOSE_GOAL = 5.0 + TIGHT * pi / 2.0 + 5.5
ALONGSIDE = Path(
    (
        (3.0, 0.0),
        (S_BEND * S_ANGLE, 1.0 / S_BEND),
        (S_BEND * S_ANGLE, -1.0 / S_BEND),
        (60.0, 0.0),
    ),
    heading=pi,
)
ALONGSIDE_GOAL = 3.0 + 2.0 * S_BEND * S_ANGLE + 0.1


def park(
    seen: Batch,
    *,
    gear: float = 1.0,
    gain: float = 1.0,
    turn: float = 1.0,
    speed: float = 1.6,
    brake: float = 0.5,
    short: float = 0.0,
) -> Batch:
    """Along the path and to a stop at its goal.

    gear: -1 backwards. turn: factor on bends. short: m before the goal.
    """
    offset, turned = seen[:, 0] * 2.0, seen[:, 1] * 0.3
    curvature = seen[:, 5] / 50.0
    wanted = turn * curvature - gain * (0.35 * offset + 1.1 * turned)
    angle = gear * np.arctan(WHEELBASE * wanted) / STEERING
    left = seen[:, 9] * 100.0 - short
    most = np.minimum(speed, np.sqrt(2.0 * brake * np.maximum(left, 0.0)))
    pull = np.clip(3.0 * (most - seen[:, 4] * 30.0), -6.0, 2.0)
    pull = np.where(left < 0.05, -6.0, pull)
    return acts(np.clip(angle, -1.0, 1.0), pull)


PARKED = Claim(
    id="vehicle.parked",
    statement=eventually(
        always(
            all_of(
                told.GOAL_DISTANCE <= 0.3,
                told.LATERAL_ERROR <= 0.2,
                told.HEADING_ERROR <= 0.08,
                told.SPEED <= 0.1,
            ),
            lasting=1,
        )
    ),
    hazard="the car is left askew in the way, or never gets into its space",
    source="chosen: 0.2 m is half of what a 2.6 m space leaves beside a 1.8 m car, and at rest",
    severity="marginal",
)
SLOW = Claim(
    id="vehicle.slow",
    statement=always(told.SPEED <= 2.2),
    hazard="somebody who steps out between the cars is run over",
    source="chosen: 8 km/h, from which the car stops within a metre: 0.3 m at 9 m/s^2, and the lag",
)


def _start(values: Values, places: tuple[float, ...]) -> tuple[Start, ...]:
    return tuple(
        Start(place + values["neighbour"] * (-1.0) ** k, 0.0) for k, place in enumerate(places)
    )


def beside_start(values: Values) -> tuple[Start, ...]:
    """Cars in the spaces to both sides, a little off their middle."""
    return _start(values, (2.0, 2.0, 2.0))


def kerb_start(values: Values) -> tuple[Start, ...]:
    """Cars before and behind the space along the kerb."""
    return _start(values, (0.0, 0.0, 0.0))


def _spec(
    name: str,
    summary: str,
    path: Path,
    goal: float,
    traffic: Traffic,
    good: Any,
    bad: Mapping[str, Any],
    **more: Any,
) -> ScenarioSpec:
    inputs = Inputs(
        HORIZON,
        (
            Parameter("start_offset", "m", -0.15, 0.15, 0.0, "beside the path", "initial"),
            Parameter("start_heading", "rad", -0.04, 0.04, 0.0, "to the path", "initial"),
            Parameter("neighbour", "m", -0.15, 0.15, 0.0, "of the others from their middle"),
            Parameter("grip", "1", 0.7, 1.0, 0.9, "friction between tyres and ground"),
        ),
        standard_faults(HORIZON * 0.1, noise=0.02, bias=0.02, friction=True),
        push(3000.0),
    )
    setting = RoadSetting(
        inputs=inputs,
        path=path,
        lanes=(-20.0, 20.0),
        reads=READS,
        traffic=traffic,
        observations=OWN + 4 * len(traffic.actors),
        limits=((0.0, 2.2),),
        goal=goal,
        tracked=REAR_AXLE,
        extent=12.0,
        **more,
    )
    spec = declare(
        name,
        summary,
        RoadEnv,
        setting,
        signals=in_order(READS),
        claims=(hold.clear(0.2), SLOW, PARKED),
        good=good,
        bad=bad,
        terminals=TERMINALS,
    )
    return covering(spec, traffic.start)


def _space(x: float, y: float, heading: float, length: float = 5.4, width: float = 2.6) -> str:
    lot = Path(((100.0, 0.0),), x=x, y=y, heading=heading)
    return "".join(
        strip(lot, -length / 2.0, length / 2.0, side - 0.05, side + 0.05, "marking", 0.013)
        for side in (-width / 2.0, width / 2.0)
    )


def perpendicular() -> ScenarioSpec:
    """The spec of `vehicle/parking-perpendicular-v0`."""
    end = NOSE_IN.at(NOSE_GOAL)
    x, y = end.x, end.y + 1.4
    lanes = [x + 2.6 * k for k in (-2, -1, 0, 1, 2)]
    slots = [Path(((50.0, 0.0),), x=at, y=y - 2.0, heading=pi / 2.0) for at in lanes]
    colors = ("orange", "white", "", "green", "red")
    actors = tuple(Actor("car", slots[k], color=colors[k]) for k in (1, 3, 0))
    scenery = strip(Path(((99.0, 0.0),)), -14.0, 34.0, -4.0, 14.5, "dark", 0.01)
    scenery += "".join(_space(at, y, pi / 2.0) for at in lanes)
    scenery += tree(0.0, 18.0) + tree(22.0, 17.0, 1.2) + house(12.0, 22.0, 14.0, 8.0, 5.0)
    return _spec(
        "vehicle/parking-perpendicular-v0",
        "Nose in between two parked cars.",
        NOSE_IN,
        NOSE_GOAL,
        Traffic(actors, beside_start),
        named("neat_parker", park),
        {
            "vehicle.clearance": named("no_correction", park, gain=0.0, turn=0.88),
            "vehicle.slow": named("fast_parker", park, speed=3.5, brake=2.0),
            "vehicle.parked": named("stops_short", park, short=1.0),
        },
        scenery=scenery,
        eye=(-6.0, -14.0, 12.0),
        still=(10.0, 6.0, 0.0),
        center=(10.0, 6.0, 0.0),
    )


def parallel() -> ScenarioSpec:
    """The spec of `vehicle/parking-parallel-v0`."""
    end = ALONGSIDE.at(ALONGSIDE_GOAL)
    middle = end.x + 1.4
    places = [middle + 7.4, middle - 5.5, middle - 11.6]
    slots = [Path(((50.0, 0.0),), x=at, y=end.y) for at in places]
    colors = ("orange", "red", "green")
    actors = tuple(Actor("car", slot, color=colors[k]) for k, slot in enumerate(slots))
    scenery = strip(Path(((99.0, 0.0),)), -40.0, 30.0, -3.6, 5.0, "dark", 0.01)
    scenery += strip(Path(((99.0, 0.0),)), -40.0, 30.0, -5.4, -3.6, "concrete", 0.07)
    scenery += house(-12.0, -11.0, 14.0, 8.0, 6.0) + house(4.0, -11.0, 10.0, 8.0, 4.5)
    scenery += tree(-20.0, 8.0) + tree(2.0, 9.0)
    return _spec(
        "vehicle/parking-parallel-v0",
        "Backwards into a space along the kerb.",
        ALONGSIDE,
        ALONGSIDE_GOAL,
        Traffic(actors, kerb_start),
        named("kerb_parker", park, gear=-1.0),
        {
            "vehicle.clearance": named("parks_too_deep", park, gear=-1.0, short=-2.5),
            "vehicle.slow": named("fast_kerb_parker", park, gear=-1.0, speed=3.5, brake=2.0),
            "vehicle.parked": named("kerb_stops_short", park, gear=-1.0, short=1.5),
        },
        backwards=True,
        scenery=scenery,
        eye=(-18.0, 12.0, 11.0),
        still=(-5.0, -1.5, 0.0),
        center=(-5.0, 0.0, 0.0),
    )
