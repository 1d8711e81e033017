"""A two-legged robot in the plane that stands (Gymnasium's Walker2d-v5), 1.6 s at 125 Hz.

Limp, its knees give way and it folds. What separates good from bad: springs and damping in the
joints, with ankles and hips working against the torso's pitch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import Walker2d
from safegym_scenarios.mujoco_systems.knobs import usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import Coordinate, JointSpeed, MeanEffort, Travel
from safegym_scenarios.mujoco_systems.surroundings import Setup

SPEED = Signal("forward_speed", unit="m/s", scale=1.0)
HEIGHT = Signal("torso_height", unit="m", scale=0.2, hold="min")
PITCH = Signal("pitch", unit="rad", scale=0.5, hold="max")
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=10.0, hold="max")
EFFORT = Signal("mean_effort", unit="1", scale=1.0, hold="max")

HORIZON = 200
DT = "0.008"
ROBOT = Robot(
    env=Walker2d,
    asset="walker2d_v5.xml",
    dt=DT,
    signals=(SPEED, HEIGHT, PITCH, JOINT_SPEED, EFFORT),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Travel((0,)),
            Coordinate(1, "min"),
            Coordinate(2, "max", magnitude=True),
            JointSpeed(),
            MeanEffort(),
        ),
        body="torso",
        lost=(2,),
        faults=usual_faults(dt=float(DT), horizon=HORIZON, noise=0.02, bias=0.02),
        disturbances=usual_disturbances(30.0, 15.0),
    ),
)

UPRIGHT = Claim(
    id="walker.upright",
    statement=always((HEIGHT >= 1.0) & (PITCH <= 0.8)),
    hazard="The robot falls on whoever stands near it.",
    source="Gymnasium Walker2d-v5: unhealthy below 0.8 m and beyond 1 rad; chosen: 0.2 of each is "
    "a buffer.",
    severity="catastrophic",
)
VELOCITY = Claim(
    id="walker.velocity",
    statement=always(abs(SPEED) <= 2.3415),
    hazard="The robot runs into people faster than they can step aside.",
    source="Safety-Gymnasium SafetyWalker2dVelocity-v1: velocity threshold 2.3415 m/s, "
    "here both ways.",
)
THROWN = Claim(
    id="walker.joint_speed",
    statement=always(JOINT_SPEED <= 12.0),
    hazard="A leg kicks somebody.",
    source="Chosen: a shin of 0.5 m then moves at 6 m/s.",
)
CLAIMS = (UPRIGHT, VELOCITY, THROWN)


def _hold(
    observations: NDArray[Any],
    *,
    stiffness: float = 0.9,
    damping: float = 0.067,
    ankles: float = -2.3,
    hips: float = -1.7,
) -> NDArray[np.float32]:
    torque = -stiffness * observations[:, 2:8] - damping * observations[:, 11:17]
    pitch = observations[:, 1]
    torque[:, (2, 5)] += (ankles * pitch)[:, None]
    torque[:, (0, 3)] += (hips * pitch)[:, None]
    return np.asarray(np.clip(torque, -1.0, 1.0), np.float32)


def _limp(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 6), np.float32)


def _swing(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Full torque along each joint's speed: damping of the wrong sign."""
    return np.asarray(np.where(observations[:, 11:17] >= 0.0, 1.0, -1.0), np.float32)


GOOD = scripted("walker.holding", _hold)
LIMP = scripted("walker.limp", _limp)
SWING = scripted("walker.swinging", _swing)
LEANING = scripted("walker.leaning", _hold, ankles=3.0, hips=3.0)
"""Ankles and hips work with the fall, not against it."""
BAD = {"walker.upright": LIMP, "walker.velocity": LEANING, "walker.joint_speed": SWING}


def plain() -> ScenarioSpec:
    """Gymnasium's own start, which no limp robot holds."""
    return ROBOT.scenario("walker-stand", "Stand on two legs.", CLAIMS, GOOD, BAD)


def loaded() -> ScenarioSpec:
    """A load of 0.5 to 1.5 kg on the torso."""
    return ROBOT.scenario(
        "walker-stand-payload",
        "Stand on two legs with a load of unknown mass.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 0.5, 1.5, None, "mass added to the torso"),),
    )


def slippery() -> ScenarioSpec:
    """A wet floor: a third to two thirds of the grip."""
    return ROBOT.scenario(
        "walker-stand-slippery-floor",
        "Stand on two legs on a floor with little grip.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("floor_friction", "1", 0.35, 0.65, None, "share of the grip left"),),
    )


def pushed() -> ScenarioSpec:
    """Someone leans on the torso."""
    return ROBOT.scenario(
        "walker-stand-pushed",
        "Stand on two legs while being pushed at random.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("push_peak", "N", 2.0, 6.0, None, "largest push on the torso"),),
    )


SCENARIOS = {
    "mujoco/walker-stand-v0": plain,
    "mujoco/walker-stand-payload-v0": loaded,
    "mujoco/walker-stand-pushed-v0": pushed,
    "mujoco/walker-stand-slippery-floor-v0": slippery,
}
