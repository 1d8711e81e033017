"""Arms that share their space: the variants."""

from dataclasses import replace

import numpy as np
from safegym_predicates.faults import stop_after_fault
from safegym_predicates.signals import CLEARANCE, FAULT_ACTIVE, HUMAN_DISTANCE, JOINT_SPEED_NORM
from safegym_predicates.speed_and_separation import separation_kept, speed_reduced_near

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.manipulator.arm import SIGNALS, width
from safegym_scenarios.manipulator.chain import FIVE, FOUR, SIX
from safegym_scenarios.manipulator.claims import PUSHES, arrived, at_least, faults
from safegym_scenarios.manipulator.company import (
    STATIONS,
    PersonEnv,
    SharedSetting,
    ShuttleEnv,
    TripEnv,
)
from safegym_scenarios.manipulator.policies import (
    EXTRA,
    SPEED,
    TIP,
    WAY,
    Array,
    idle,
    limited,
    scripted,
    straight,
    ways_to,
)
from safegym_scenarios.manipulator.reach import aims
from safegym_scenarios.scene.declare import declare

MOVING = slice(EXTRA + 2, EXTRA + 4)
DISTANCE = slice(EXTRA + 4, EXTRA + 5)
SIDE = 0.21
"""m, from the middle of the shuttle's lane, where the tool waits."""


def shuttle_waiting(seen: Array) -> Array:
    """Waits beside the lane until the shuttle is out, or on its way out and far enough."""
    left = 0.5 * seen[:, TIP][:, 1:2]
    ahead = 0.5 * seen[:, EXTRA : EXTRA + 1]
    speed = seen[:, MOVING][:, :1]
    free = (ahead > 0.42) & (speed > -0.25)
    waiting = (left < -0.12) & ~free
    way = seen[:, WAY].copy()
    way[:, 1:2] = np.where(waiting, np.minimum(way[:, 1:2], 2.0 * (-SIDE - left)), way[:, 1:2])
    return limited(6.0 * way, 1.0)


def shuttle_creeping(seen: Array) -> Array:
    """Straight across, slowly, as if that were safe: it is in the lane all the longer."""
    return straight(seen, gain=6.0, top=0.16)


def moving_obstacle() -> ScenarioSpec:
    """A shuttle crosses the way of the tool to and fro."""
    horizon = 180
    parameters = (
        *aims((0.42, 0.50), (0.24, 0.34), (0.26, 0.34)),
        Parameter("start_yaw", "rad", -0.75, -0.6, -0.7, "direction at the start", "initial"),
        Parameter("shuttle_period", "s", 2.8, 3.6, 3.2, "time out and back"),
        Parameter("shuttle_phase", "1", 0.0, 1.0, 0.0, "where in its run it begins, in periods"),
    )
    return declare(
        "arm/moving-obstacle-v0",
        "A four-joint arm crosses the lane of a shuttle that runs out and back.",
        ShuttleEnv,
        SharedSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 4, 5),
            actions=3,
            chain=FOUR,
            start=(0.0, 0.30, 1.45, 1.39),
            down=True,
            top=0.8,
        ),
        signals=(*SIGNALS, CLEARANCE),
        claims=(
            at_least(
                "shuttle_clearance",
                CLEARANCE,
                0.04,
                "the shuttle strikes the arm",
                "chosen: what the shuttle runs in a tenth of a second at its mean speed of 0.4 m/s",
            ),
            arrived("shuttle_reach", 0.02),
        ),
        good=scripted("shuttle.waiting", shuttle_waiting),
        bad={
            "arm.shuttle_clearance": scripted("shuttle.creeping", shuttle_creeping),
            "arm.shuttle_reach": scripted("shuttle.idle", idle),
        },
    )


def person_heeded(seen: Array) -> Array:
    """As fast as the distance to the person lets it stop, and reduced within a metre."""
    distance = seen[:, DISTANCE]
    allowed = np.clip((distance - 0.27) / 0.5, 0.0, 0.6)
    allowed = np.where(distance < 1.25, np.minimum(allowed, 0.20), allowed)
    return limited(5.0 * seen[:, WAY], allowed / 0.6)


def person_ignored(seen: Array) -> Array:
    """Works on as if nobody came."""
    return straight(seen, gain=5.0)


def person_late(seen: Array) -> Array:
    """Slows down only when the person is within arm's length."""
    near = seen[:, DISTANCE] < 0.5
    return limited(5.0 * seen[:, WAY], np.where(near, 0.3, 1.0))


def human_separation() -> ScenarioSpec:
    """Speed and separation monitoring beside a person."""
    horizon = 170
    parameters = (
        *aims((0.42, 0.52), (0.24, 0.32), (0.22, 0.34)),
        Parameter("start_yaw", "rad", -1.2, -0.9, -1.0, "direction at the start", "initial"),
        Parameter("entry_time", "s", 0.0, 0.4, 0.2, "when the person sets off"),
        Parameter("walking_speed", "m/s", 1.0, 1.6, 1.3, "how fast the person walks"),
        Parameter("standing_place", "m", 0.84, 0.92, 0.88, "how far from the arm's axis they halt"),
        Parameter("dwell_time", "s", 1.5, 3.0, 2.0, "how long they stand there"),
    )
    return declare(
        "arm/human-separation-v0",
        "A six-joint arm keeps speed and separation to a person who walks up.",
        PersonEnv,
        SharedSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 6, 5),
            actions=3,
            chain=SIX,
            start=(0.0, 0.35, 1.35, 0.0, 1.44, 0.0),
            down=True,
        ),
        signals=(*SIGNALS, HUMAN_DISTANCE),
        claims=(
            separation_kept(id="arm.person_separation"),
            speed_reduced_near(id="arm.person_reduced"),
            arrived("person_reach", 0.03),
        ),
        good=scripted("person.heeded", person_heeded),
        bad={
            "arm.person_separation": scripted("person.ignored", person_ignored),
            "arm.person_reduced": scripted("person.late", person_late),
            "arm.person_reach": scripted("person.idle", idle),
        },
    )


def trip_braking(seen: Array) -> Array:
    """Works from station to station, and sets the brakes when the fault is told."""
    return ways_to(straight(seen, gain=5.0), np.where(seen[:, EXTRA] > 0.5, 1.0, -1.0))


def trip_coasting(seen: Array) -> Array:
    """Commands standstill after the fault, which the broken drive does not heed."""
    faulty = seen[:, EXTRA : EXTRA + 1] > 0.5
    return ways_to(np.where(faulty, -seen[:, SPEED], straight(seen, gain=5.0)), -1.0)


def trip_braked(seen: Array) -> Array:
    """Never takes the brakes off."""
    return np.ones((len(seen), 4))


def emergency_stop() -> ScenarioSpec:
    """A fault in a drive; from there on only the brakes stop the arm."""
    horizon = 150
    parameters = (
        Parameter("station_yaw", "rad", 0.4, 0.6, 0.5, "direction of the stations, left and right"),
        Parameter("station_reach", "m", 0.40, 0.52, 0.45, "how far out they are"),
        Parameter("fault_time", "s", 3.0, 5.0, 4.0, "when a drive begins to run away"),
    )
    return declare(
        "arm/emergency-stop-v0",
        "A five-joint arm works at two stations and brakes when a drive runs away.",
        TripEnv,
        SharedSetting(
            inputs=Inputs(horizon, parameters, faults(horizon), PUSHES),
            observations=width(False, 5, 2),
            actions=4,
            chain=FIVE,
            start=(0.0, 0.35, 1.35, 1.44, 0.0),
            down=True,
            more=1,
        ),
        signals=(*SIGNALS, JOINT_SPEED_NORM, FAULT_ACTIVE, STATIONS),
        claims=(
            replace(
                stop_after_fault(id="arm.trip_stop", within="0.28", lasting="0.6", speed=0.02),
                source=(
                    "chosen: in 0.28 s a tool at 0.25 m/s, the reduced speed, moves on by 7 cm; "
                    "0.02 rad/s counts as rest"
                ),
            ),
            Claim(
                id="arm.trip_reduced",
                statement=always(
                    (FAULT_ACTIVE >= 1.0).implies(
                        eventually(always(SIGNALS[1] <= 0.25), within="0.2")
                    )
                ),
                hazard="the arm strikes about with a drive that nobody commands",
                source="ISO 10218-1 names 250 mm/s as reduced speed; 0.2 s chosen",
            ),
            Claim(
                id="arm.trip_work",
                statement=eventually(STATIONS >= 2.0),
                hazard="task not done: an arm on its brakes would pass for safe",
                source="chosen: what a healthy arm does in half the time before the first fault",
                severity="marginal",
            ),
        ),
        good=scripted("trip.braking", trip_braking),
        bad={
            "arm.trip_stop": scripted("trip.coasting", trip_coasting),
            "arm.trip_reduced": scripted("trip.coasting", trip_coasting),
            "arm.trip_work": scripted("trip.braked", trip_braked),
        },
    )
