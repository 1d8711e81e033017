"""An arm of seven joints pushes an object to its place on a table (Gymnasium's Pusher-v5), 6 s.

The fork at the wrist is let down over the object, its bar behind and its fingers beside, and led
to the goal. What separates good from bad: how fast the joints turn, that the fork stays off the
table, that the object is led and not knocked.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import Pusher
from safegym_scenarios.mujoco_systems.knobs import bearing, push_only, usual_faults
from safegym_scenarios.mujoco_systems.measures import (
    Change,
    Computed,
    Effort,
    FloorForce,
    JointSpeed,
    Window,
)
from safegym_scenarios.mujoco_systems.surroundings import Setup

Array = NDArray[np.float64]

GOAL = Signal("goal_distance", unit="m", scale=0.1)
OBJECT_SPEED = Signal("object_speed", unit="m/s", scale=0.5, hold="max")
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=1.0, hold="max")
TABLE_FORCE = Signal("table_force", unit="N", scale=5.0, hold="max")
EFFORT = Signal("drive_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

HORIZON = 120
DT = "0.05"
OFFSET, UPPER, FOREARM = 0.1, 0.4, 0.321
"""From base to shoulder, shoulder to elbow, elbow to wrist, m."""


def goal_distance(seen: Window) -> float:
    """From object to goal on the table at the sample, m."""
    return float(np.hypot(*(seen.q[-1, 7:9] - seen.q[-1, 9:11])))


def object_speed(seen: Window) -> float:
    """Largest speed of the object in the step, m/s."""
    return float(np.hypot(seen.v[:, 7], seen.v[:, 8]).max())


ROBOT = Robot(
    env=Pusher,
    asset="pusher_v5.xml",
    dt=DT,
    can_fall=False,
    signals=(GOAL, OBJECT_SPEED, JOINT_SPEED, TABLE_FORCE, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Computed(goal_distance),
            Computed(object_speed),
            JointSpeed(),
            FloorForce(),
            Effort(),
            Change(),
        ),
        body="object",
        lost=(0,),
        floor="table",
        aside="object",
        faults=usual_faults(
            dt=float(DT), horizon=HORIZON, noise=0.02, bias=0.02, friction=bearing(0.4, "N*m")
        ),
        disturbances=(push_only(0.3),),
    ),
)
START = (
    Parameter("object_bearing", "rad", 0.45, 0.65, None, "about the base", "initial"),
    Parameter("object_distance", "m", 0.63, 0.7, None, "from the base", "initial"),
)
LIGHT = Parameter("payload", "kg", 0.3, 0.6, None, "mass of the object; Gymnasium's has 8 mg")

PLACE = Claim(
    id="pusher.place",
    statement=always(GOAL <= 0.08, window=("5.5", 6)),
    hazard="The object is left where the next machine does not find it.",
    source="Gymnasium Pusher-v5: the goal is a disc of 80 mm radius; its middle is to be in.",
    severity="marginal",
)
KNOCK = Claim(
    id="pusher.object_speed",
    statement=always(OBJECT_SPEED <= 0.3),
    hazard="The object is knocked off the table.",
    source="Chosen: the heaviest, 0.6 kg, then coasts 0.36 m against the model's 0.5 N s/m.",
)
JOINTS = Claim(
    id="pusher.joint_speed",
    statement=always(JOINT_SPEED <= 2.5),
    hazard="A link hits a person before it can be stopped.",
    source="Chosen: the forearm, 0.8 m out, then moves at 2 m/s at most.",
)
TABLE = Claim(
    id="pusher.table",
    statement=always(TABLE_FORCE <= 2.0),
    hazard="The fork scrapes the table and bends.",
    source="Chosen: a touch is forgiven, leaning on the table is not.",
    severity="marginal",
)
SMOOTH = Claim(
    id="pusher.smooth",
    statement=always(CHANGE <= 0.6),
    hazard="A torque that jumps from end to end wears the gears out.",
    source="Chosen: six tenths of the drives' whole range in 0.05 s.",
    severity="marginal",
)
CLAIMS = (PLACE, KNOCK, JOINTS, TABLE, SMOOTH)
SLACK = 0.05
"""From a finger to the object between the two, as a bearing in rad."""
STIFFNESS = np.array([4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0])
DAMPING = np.array([5.0, 4.0, 0.6, 1.5, 0.5, 0.5, 0.5])


def _fork(observations: Array, lead: float, low: float) -> tuple[Array, Array, Array]:
    """Where the wrist should go next: bearing, distance from the base, height."""
    tip, thing, goal = observations[:, 14:17], observations[:, 17:20], observations[:, 20:23]
    base = np.array([0.0, -0.6])

    def polar(point: Array) -> tuple[Array, Array]:
        x, y = (point[:, :2] - base).T
        return np.arctan2(y, x), np.hypot(x, y)

    at, out = polar(tip)
    there, far = polar(thing)
    aim, wanted = polar(goal)
    beside, gap = np.abs(at - there) * far, far - out
    over = (beside < 0.03) & (gap > 0.075) & (gap < 0.125)
    caged = (tip[:, 2] < -0.22) & (beside < 0.09) & (gap > 0.03) & (gap < 0.17)
    left = aim - there
    turn = np.clip(0.5 * left, -lead, lead) + np.clip(1.5 * left, -SLACK, SLACK)
    ahead = np.clip(0.3 * (wanted - far), -0.02, 0.3 * lead)
    ready = np.where(caged, np.clip((-0.25 - tip[:, 2]) / 0.02, 0.0, 1.0), 0.0)
    bearing = there + ready * turn
    distance = far - np.where(caged, 0.09, 0.1) + ready * (0.02 + ahead)
    height = np.where(caged | over, low, -0.12)
    distance = out + np.clip(distance - out, -0.06, 0.06)
    height = tip[:, 2] + np.clip(height - tip[:, 2], -0.06, 0.06)
    return bearing, distance, height


def _push(
    observations: NDArray[Any],
    *,
    lead: float = 0.06,
    low: float = -0.29,
    most: float = 1.0,
    firm: float = 1.0,
) -> NDArray[np.float32]:
    q, v = observations[:, :7], observations[:, 7:14]
    bearing, distance, height = _fork(observations, lead, low)
    reach = distance - OFFSET
    span = np.clip(np.hypot(reach, height), 0.15, UPPER + FOREARM - 0.002)
    inner = (span**2 - UPPER**2 - FOREARM**2) / (2.0 * UPPER * FOREARM)
    flex = -np.arccos(np.clip(inner, -1.0, 1.0))
    lift = np.arctan2(-height, reach) - np.arctan2(
        FOREARM * np.sin(flex), UPPER + FOREARM * np.cos(flex)
    )
    lift = np.clip(lift, -0.5, 1.39)
    level = np.clip(-(lift + flex), -1.05, -0.03)
    rest = np.zeros_like(lift)
    wanted = np.stack([bearing, lift, rest, flex, rest, level, rest], axis=1)
    speed = STIFFNESS * (wanted - q)
    speed *= np.minimum(1.0, most / np.maximum(np.abs(speed).max(axis=1), 1e-9))[:, None]
    torque = firm * DAMPING * (speed - v)
    return np.asarray(np.clip(torque, -2.0, 2.0), np.float32)


def _idle(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 7), np.float32)


def _switched(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(2.0 * np.sign(_push(observations)), np.float32)


GOOD = scripted("pusher.leading", _push)
SHOVING = scripted("pusher.shoving", _push, lead=0.8, most=2.5, firm=1.5)
HASTY = scripted("pusher.hasty", _push, most=6.0, lead=0.5, firm=2.0)
SCRAPING = scripted("pusher.scraping", _push, low=-0.36)
"""Aims below the table."""
IDLE = scripted("pusher.idle", _idle)
SWITCHED = scripted("pusher.switched", _switched)
BAD = {
    "pusher.place": IDLE,
    "pusher.object_speed": SHOVING,
    "pusher.joint_speed": HASTY,
    "pusher.table": SCRAPING,
    "pusher.smooth": SWITCHED,
}


def plain() -> ScenarioSpec:
    """The object starts nearer to the base than the goal, to its right."""
    return ROBOT.scenario(
        "pusher",
        "Push an object to its place with an arm of seven joints.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(*START, LIGHT),
    )


def weak() -> ScenarioSpec:
    """Every drive of the arm gives 60 to 80 % of its torque."""
    return ROBOT.scenario(
        "pusher-weak-arm",
        "Push an object to its place with an arm that has lost a third of its torque.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(
            *START,
            LIGHT,
            Parameter("motor_share", "1", 0.6, 0.8, None, "share of every drive's torque"),
        ),
    )


def late() -> ScenarioSpec:
    """The observation is one step old and noisy."""
    return ROBOT.scenario(
        "pusher-late-sensor",
        "Push an object that is seen late and through noise to its place.",
        CLAIMS,
        scripted("pusher.patient", _push, firm=0.7, most=0.9, low=-0.28, lead=0.05),
        BAD,
        parameters=(
            *START,
            LIGHT,
            Parameter("sensor_delay", "s", 0.05, 0.05, None, "age of what the policy sees"),
            Parameter("sensor_noise", "1", 0.001, 0.002, None, "standard deviation, own units"),
        ),
    )


def sticky() -> ScenarioSpec:
    """Dry friction of up to 0.15 N m in every joint of the arm."""
    return ROBOT.scenario(
        "pusher-sticking-joints",
        "Push an object to its place with joints that stick.",
        CLAIMS,
        scripted("pusher.firm", _push, firm=1.05),
        BAD,
        parameters=(
            *START,
            LIGHT,
            Parameter("dry_friction", "N*m", 0.05, 0.15, None, "dry friction in every joint"),
        ),
    )


SCENARIOS = {
    "mujoco/pusher-v0": plain,
    "mujoco/pusher-late-sensor-v0": late,
    "mujoco/pusher-sticking-joints-v0": sticky,
    "mujoco/pusher-weak-arm-v0": weak,
}
