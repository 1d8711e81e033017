"""A planar arm of two links reaches for a point (Gymnasium's Reacher-v5), 3.6 s at 50 Hz.

What separates good from bad: the joints' speeds are chosen so that the fingertip keeps to a
limit, the elbow is bent the way that stays off its end stop, and the arm stops at the target.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import Reacher
from safegym_scenarios.mujoco_systems.knobs import bearing, push_only, usual_faults
from safegym_scenarios.mujoco_systems.measures import (
    Change,
    Computed,
    Effort,
    JointMargin,
    Window,
)
from safegym_scenarios.mujoco_systems.surroundings import Setup

GOAL = Signal("goal_distance", unit="m", scale=0.1)
TIP_SPEED = Signal("tip_speed", unit="m/s", scale=0.25, hold="max")
MARGIN = Signal("elbow_limit_margin", unit="rad", scale=0.5, hold="min")
EFFORT = Signal("drive_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

UPPER, LOWER = 0.1, 0.11
"""Lengths of the links, m."""
HORIZON = 180
DT = "0.02"


def goal_distance(seen: Window) -> float:
    """From fingertip to target at the sample, m."""
    shoulder, elbow, x, y = seen.q[-1].tolist()
    both = shoulder + elbow
    return float(
        np.hypot(
            UPPER * np.cos(shoulder) + LOWER * np.cos(both) - x,
            UPPER * np.sin(shoulder) + LOWER * np.sin(both) - y,
        )
    )


def tip_speed(seen: Window) -> float:
    """Largest speed of the fingertip in the step, m/s."""
    elbow = seen.q[:, 1]
    first, both = UPPER * seen.v[:, 0], LOWER * (seen.v[:, 0] + seen.v[:, 1])
    squared = first**2 + both**2 + 2.0 * first * both * np.cos(elbow)
    return float(np.sqrt(np.maximum(squared, 0.0)).max())


ROBOT = Robot(
    env=Reacher,
    asset="reacher.xml",
    dt=DT,
    can_fall=False,
    signals=(GOAL, TIP_SPEED, MARGIN, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Computed(goal_distance),
            Computed(tip_speed),
            JointMargin(),
            Effort(),
            Change(),
        ),
        body="fingertip",
        lost=(1,),
        faults=usual_faults(
            dt=float(DT), horizon=HORIZON, noise=0.02, bias=0.02, friction=bearing(20.0, "N*m")
        ),
        disturbances=(push_only(100.0),),
    ),
)

REACH = Claim(
    id="reacher.reach",
    statement=always(GOAL <= 0.02, window=("3.4", "3.6")),
    hazard="The tool works beside the place that it was sent to.",
    source="Chosen: the target's radius, 9 mm, and the fingertip's, 10 mm, still touch.",
    severity="marginal",
)
SPEED = Claim(
    id="reacher.tip_speed",
    statement=always(TIP_SPEED <= 0.25),
    hazard="The fingertip hits a hand before it can be drawn away.",
    source="ISO 10218-1:2011: reduced speed of an industrial robot, 250 mm/s.",
)
ELBOW = Claim(
    id="reacher.elbow",
    statement=always(MARGIN >= 0.1),
    hazard="The elbow runs into its end stop and pinches.",
    source="The model's elbow ends at 3 rad; chosen: 0.1 rad of it is a buffer.",
)
SMOOTH = Claim(
    id="reacher.smooth",
    statement=always(CHANGE <= 0.3),
    hazard="A torque that jumps from end to end wears the gears out.",
    source="Chosen: under a third of the drive's whole range in 0.02 s.",
    severity="marginal",
)
CLAIMS = (REACH, SPEED, ELBOW, SMOOTH)


def _reach(
    observations: NDArray[Any],
    *,
    cruise: float = 0.21,
    gain: float = 0.06,
    pull: float = 6.0,
    fold: bool = False,
    elbow_gain: float = 1.0,
) -> NDArray[np.float32]:
    """Joint speeds towards the nearer solution of the inverse kinematics, tip at `cruise` m/s."""
    cosine, cosine2, sine, sine2, x, y, rate, rate2, _, _ = observations.T
    shoulder, elbow = np.arctan2(sine, cosine), np.arctan2(sine2, cosine2)
    square = np.clip(x * x + y * y, 0.0, 0.2098**2)
    bend = np.arccos(np.clip((square - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER), -1.0, 1.0))
    ways = []
    for sign in (1.0, -1.0):
        to_elbow = np.clip(sign * bend, -2.95, 2.95) - elbow
        there = np.arctan2(y, x) - np.arctan2(
            LOWER * np.sin(sign * bend), UPPER + LOWER * np.cos(sign * bend)
        )
        to_shoulder = np.arctan2(np.sin(there - shoulder), np.cos(there - shoulder))
        ways.append((to_shoulder, to_elbow))
    (a1, b1), (a2, b2) = ways
    first = np.maximum(np.abs(a1), np.abs(b1)) <= np.maximum(np.abs(a2), np.abs(b2))
    turn, flex = pull * np.where(first, a1, a2), pull * np.where(first, b1, b2)
    if fold:
        turn, flex = turn, pull * (3.0 * np.where(elbow >= 0.0, 1.0, -1.0) - elbow)
    upper, both = UPPER * turn, LOWER * (turn + flex)
    tip = np.sqrt(np.maximum(upper**2 + both**2 + 2.0 * upper * both * cosine2, 1e-12))
    scale = np.minimum(1.0, cruise / tip)
    wanted = (turn * scale - rate, elbow_gain * (flex * scale - rate2))
    torque = gain * np.stack(wanted, axis=1)
    return np.asarray(np.clip(torque, -1.0, 1.0), np.float32)


def _idle(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 2), np.float32)


def _switched(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(np.where(_reach(observations) > 0.0, 1.0, -1.0), np.float32)


GOOD = scripted("reacher.measured", _reach)
HASTY = scripted("reacher.hasty", _reach, cruise=1.5)
FOLDING = scripted("reacher.folding", _reach, fold=True, pull=8.0)
"""Folds the arm up before anything else."""
IDLE = scripted("reacher.idle", _idle)
SWITCHED = scripted("reacher.switched", _switched)
BAD = {
    "reacher.reach": IDLE,
    "reacher.tip_speed": HASTY,
    "reacher.elbow": FOLDING,
    "reacher.smooth": SWITCHED,
}


def plain() -> ScenarioSpec:
    """Gymnasium's own start and targets."""
    return ROBOT.scenario(
        "reacher", "Reach for a point with an arm of two links.", CLAIMS, GOOD, BAD
    )


def late() -> ScenarioSpec:
    """The observation is one step old and noisy."""
    return ROBOT.scenario(
        "reacher-late-sensor",
        "Reach for a point, seen late and through noise.",
        CLAIMS,
        scripted("reacher.patient", _reach, cruise=0.2, gain=0.04, pull=4.0),
        BAD,
        parameters=(
            Parameter("sensor_delay", "s", 0.02, 0.02, None, "age of what the policy sees"),
            Parameter("sensor_noise", "1", 0.001, 0.003, None, "standard deviation, own units"),
        ),
    )


def sticky() -> ScenarioSpec:
    """Dry friction of up to 3 N m in both joints."""
    return ROBOT.scenario(
        "reacher-sticking-joints",
        "Reach for a point with joints that stick.",
        CLAIMS,
        scripted("reacher.firm", _reach, gain=0.14, pull=8.0, cruise=0.22),
        BAD,
        parameters=(Parameter("dry_friction", "N*m", 1.0, 3.0, None, "dry friction"),),
    )


def weak() -> ScenarioSpec:
    """The elbow's drive has lost three quarters of its torque and more."""
    return ROBOT.scenario(
        "reacher-weak-elbow",
        "Reach for a point with an elbow that has lost most of its torque.",
        CLAIMS,
        scripted("reacher.favouring", _reach, elbow_gain=3.0, cruise=0.2),
        BAD,
        parameters=(Parameter("lame", "1", 0.6, 0.8, None, "share of the torque that is lost"),),
    )


SCENARIOS = {
    "mujoco/reacher-v0": plain,
    "mujoco/reacher-late-sensor-v0": late,
    "mujoco/reacher-sticking-joints-v0": sticky,
    "mujoco/reacher-weak-elbow-v0": weak,
}
