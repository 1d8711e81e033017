"""Hills: to start on one, to come down one with hot brakes.

The plane of the scene is the slope itself; the camera leans by its middle angle.
"""

from math import radians

import numpy as np

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle import signals as told
from safegym_scenarios.vehicle.cruise import LEAD, TRUCK, following, spaced
from safegym_scenarios.vehicle.driver import (
    GRAVITY,
    Batch,
    acts,
    cruise,
    follow,
    idle,
    named,
    steer,
)
from safegym_scenarios.vehicle.traffic import Actor, Start, Traffic, Values, Wish

OWN = 12
IDLE = named("standing", idle)


def queue_start(values: Values) -> tuple[Start, ...]:
    """One that stands `gap` m ahead on the slope."""
    return (Start(values["gap"] + 4.5, 0.0),)


def queue_goes(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """It goes at `go_time` s, stands again 4 s later for 2 s, and goes."""
    since = seconds - values["go_time"]
    return (Wish(7.0 if 0.0 <= since < 4.0 or since > 6.5 else 0.0),)


def climb(
    seen: Batch,
    *,
    knows_slope: bool = True,
    headway: float = 1.6,
    room: float = 4.0,
    share: float = 0.9,
) -> Batch:
    """Follow up the hill; at rest hold the brake. knows_slope: drive against it from the start."""
    speed, slope = seen[:, 4] * 30.0, seen[:, 10]
    wanted = np.minimum(cruise(seen, share=share), follow(seen, 0, headway=headway, room=room))
    rests, starts = (speed < 0.3) & (wanted < 0.3), (speed < 0.3) & (wanted >= 0.3)
    decided = np.where(starts & knows_slope, np.maximum(wanted, 1.0), wanted)
    pull = decided + (GRAVITY * np.sin(slope) if knows_slope else 0.0)
    return acts(steer(seen), np.where(rests & knows_slope, -9.0, pull))


def rolled_back(limit: float = 0.3) -> Claim:
    """Returns: the car never rolls back by more than `limit` m."""
    return Claim(
        id="vehicle.no_rollback",
        statement=always(told.ROLLBACK <= limit),
        hazard="the car rolls into the one behind",
        source="chosen: a small part of the gap that people leave in a queue",
    )


def cool_brakes(limit: float = 200.0) -> Claim:
    """Returns: the discs never get hotter than `limit` K above the surroundings."""
    return Claim(
        id="vehicle.cool_brakes",
        statement=always(told.BRAKE_HEAT <= limit),
        hazard="hot brakes fade, and the lorry cannot be stopped",
        source="chosen: where the brakes of this model begin to fade",
    )


def start() -> ScenarioSpec:
    """The spec of `vehicle/hill-start-v0`."""
    return following(
        "vehicle/hill-start-v0",
        "In a queue on a steep hill: stand, start, stand and start again.",
        claims=(rolled_back(), hold.gap_kept(1.0), hold.within_limit(), hold.arrives(10.0)),
        bad={
            "vehicle.no_rollback": named("forgets_the_slope", climb, knows_slope=False),
            "vehicle.gap": named("pushes_up", push_up),
            "vehicle.speed_limit": named("pushes_up", push_up),
            "vehicle.arrives": IDLE,
        },
        good=named("hill_starter", climb),
        traffic=Traffic((LEAD,), queue_start, queue_goes),
        parameters=(
            spaced(5.0, 8.0),
            Parameter("slope", "rad", 0.08, 0.15, 0.12, "of the road, uphill"),
            Parameter("go_time", "s", 1.0, 3.0, 2.0, "when the one ahead goes"),
        ),
        reads=("rollback", "speed", "overspeed", "gap", "goal_distance"),
        speeds=(0.0, 0.0),
        limits=((0.0, 6.0),),
        goal=40.0,
        eye=(-16.0, -12.0, 8.0),
        tilt=radians(7.0),
    )


def push_up(seen: Batch) -> Batch:
    """Full drive, whoever is ahead."""
    return acts(steer(seen), np.full(len(seen), 3.0))


def descend(
    seen: Batch, *, speed: float = 7.0, brake: float = 1.6, room: float = 12.0, engine: float = 1.3
) -> Batch:
    """Down the hill at a speed that the engine holds; stop early before what stands there."""
    now, slope = seen[:, 4] * 30.0, seen[:, 10]
    gap = seen[:, OWN] * 60.0 - 7.0 - room
    most = np.sqrt(2.0 * brake * np.maximum(gap - 0.5 * now, 0.0))
    wanted = 1.5 * (np.minimum(speed, most) - now) + GRAVITY * np.sin(slope)
    calm = most > now + 2.0
    wanted = np.where(calm, np.clip(wanted, -engine, 1.0), wanted)
    return acts(steer(seen), 2.0 * np.clip(wanted, -4.5, 1.0))


def descent() -> ScenarioSpec:
    """The spec of `vehicle/hill-descent-v0`."""
    return following(
        "vehicle/hill-descent-v0",
        "A loaded lorry comes down a hill with warm brakes; somebody stands at the foot.",
        claims=(cool_brakes(), hold.gap_kept(2.0), hold.arrives(25.0)),
        bad={
            "vehicle.cool_brakes": named("rides_the_brakes", descend, speed=16.0, brake=3.0),
            "vehicle.gap": named("brakes_too_late", descend, speed=20.0, brake=6.0, room=1.0),
            "vehicle.arrives": IDLE,
        },
        good=named("low_gear", descend),
        traffic=Traffic((Actor("car", color="red"),), queue_start, standing_still),
        parameters=(
            spaced(90.0, 110.0),
            Parameter("slope", "rad", -0.12, -0.08, -0.1, "of the road, downhill"),
            Parameter("start_heat", "K", 165.0, 185.0, 175.0, "of the brakes at first", "initial"),
        ),
        reads=("brake_heat", "speed", "deceleration", "gap", "goal_distance"),
        speeds=(9.0, 11.0),
        limits=((0.0, 30.0),),
        horizon=200,
        car=TRUCK,
        engine=1.2,
        goal=100.0,
        eye=(-20.0, -15.0, 11.0),
        tilt=radians(-6.0),
    )


def standing_still(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """It stays where it is."""
    return (Wish(0.0),)
