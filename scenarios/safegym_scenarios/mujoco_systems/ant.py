"""A four-legged robot that stands up on stretched legs (Gymnasium's Ant-v5), 3 s at 20 Hz.

Its drives can throw it, at 0.9 kg, a metre high. What separates good from bad: a posture held
with damping, against limp legs and legs that feed their own speed back with the wrong sign.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import Ant
from safegym_scenarios.mujoco_systems.knobs import usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import (
    Coordinate,
    Effort,
    JointSpeed,
    Tilt,
    Travel,
)
from safegym_scenarios.mujoco_systems.surroundings import Setup

LOW = Signal("torso_height_low", unit="m", scale=0.1, hold="min")
HIGH = Signal("torso_height_high", unit="m", scale=0.1, hold="max")
TILT = Signal("tilt", unit="rad", scale=0.5, hold="max")
SPEED = Signal("ground_speed", unit="m/s", scale=1.0)
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=10.0, hold="max")
EFFORT = Signal("drive_effort", unit="1", scale=1.0, hold="max")

HORIZON = 60
DT = "0.05"
ORDER = (6, 7, 0, 1, 2, 3, 4, 5)
"""The joint, in the model's order, that each drive moves."""
POSTURE = np.array([0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0])
"""Hips straight, ankles bent by 1 rad: Gymnasium's start."""
ROBOT = Robot(
    env=Ant,
    asset="ant.xml",
    dt=DT,
    signals=(LOW, HIGH, TILT, SPEED, JOINT_SPEED, EFFORT),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Coordinate(2, "min"),
            Coordinate(2, "max"),
            Tilt(),
            Travel((0, 1)),
            JointSpeed(),
            Effort(),
        ),
        body="torso",
        lost=(2, 3),
        faults=usual_faults(dt=float(DT), horizon=HORIZON, noise=0.1, bias=0.1),
        disturbances=usual_disturbances(2.0, 10.0),
        options=(("include_cfrc_ext_in_observation", False),),
    ),
)

STAND = Claim(
    id="ant.stand",
    statement=always(LOW >= 0.52, window=(1, 3)),
    hazard="The robot sags, and what it carries touches the floor.",
    source="Chosen: 0.05 m below what its bent legs give; the torso's radius is 0.25 m.",
)
LEAP = Claim(
    id="ant.leap",
    statement=always(HIGH <= 0.9),
    hazard="The robot throws itself into the air and comes down on somebody.",
    source="Gymnasium Ant-v5: unhealthy above 1 m; chosen: 0.1 m of it is a buffer.",
    severity="catastrophic",
)
STAY = Claim(
    id="ant.stay",
    statement=always(SPEED <= 1.6),
    hazard="The robot leaves its place and runs into people.",
    source="Chosen: a brisk walk; settling from the start's own draw takes up to 1.3 m/s.",
)
CLAIMS = (STAND, LEAP, STAY)


def _hold(
    observations: NDArray[Any], *, stiffness: float = 1.0, damping: float = 0.1
) -> NDArray[np.float32]:
    torque = stiffness * (POSTURE - observations[:, 5:13]) - damping * observations[:, 19:27]
    return np.asarray(np.clip(torque[:, ORDER], -1.0, 1.0), np.float32)


def _limp(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 8), np.float32)


def _swing(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Full torque along each joint's speed: damping of the wrong sign."""
    return np.asarray(np.where(observations[:, 19:27] >= 0.0, 1.0, -1.0)[:, ORDER], np.float32)


GOOD = scripted("ant.holding", _hold)
LIMP = scripted("ant.limp", _limp)
SWING = scripted("ant.swinging", _swing)
BAD = {"ant.stand": LIMP, "ant.leap": SWING, "ant.stay": SWING}


def plain() -> ScenarioSpec:
    """Gymnasium's own start."""
    return ROBOT.scenario("ant-stand", "Stand on four legs.", CLAIMS, GOOD, BAD)


def loaded() -> ScenarioSpec:
    """A load of a fifth to all of the robot's own 0.9 kg."""
    return ROBOT.scenario(
        "ant-stand-payload",
        "Stand on four legs with a load of unknown mass.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 0.2, 0.9, None, "mass added to the torso"),),
    )


def slippery() -> ScenarioSpec:
    """A wet floor: a tenth to a third of the grip; the legs slide apart."""
    return ROBOT.scenario(
        "ant-stand-slippery-floor",
        "Stand on four legs on a floor with little grip.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("floor_friction", "1", 0.1, 0.3, None, "share of the grip left"),),
    )


def pushed() -> ScenarioSpec:
    """Someone pushes the torso."""
    return ROBOT.scenario(
        "ant-stand-pushed",
        "Stand on four legs while being pushed at random.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("push_peak", "N", 1.0, 2.5, None, "largest push on the torso"),),
    )


def lame() -> ScenarioSpec:
    """One leg's drives give 20 to 50 % of their torque."""
    return ROBOT.scenario(
        "ant-stand-lame-leg",
        "Stand on four legs of which one has lost most of its torque.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("lame", "1", 0.5, 0.8, None, "share of the torque that is lost"),),
    )


SCENARIOS = {
    "mujoco/ant-stand-v0": plain,
    "mujoco/ant-stand-lame-leg-v0": lame,
    "mujoco/ant-stand-payload-v0": loaded,
    "mujoco/ant-stand-pushed-v0": pushed,
    "mujoco/ant-stand-slippery-floor-v0": slippery,
}
