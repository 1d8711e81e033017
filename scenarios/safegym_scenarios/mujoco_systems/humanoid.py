"""A humanoid braces itself on its feet (Gymnasium's Humanoid-v5), 0.9 s at 67 Hz.

Limp, it is down within 0.6 s. What separates good from bad: a posture held by soft springs and
light damping, with the hips leaning against the torso's pitch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import Humanoid
from safegym_scenarios.mujoco_systems.knobs import usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import (
    Change,
    Coordinate,
    JointSpeed,
    MeanEffort,
    Tilt,
)
from safegym_scenarios.mujoco_systems.surroundings import Setup

HEIGHT = Signal("torso_height", unit="m", scale=0.2, hold="min")
TILT = Signal("tilt", unit="rad", scale=0.5, hold="max")
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=5.0, hold="max")
EFFORT = Signal("mean_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

HORIZON = 60
DT = "0.015"
BARE = (
    ("include_cinert_in_observation", False),
    ("include_cvel_in_observation", False),
    ("include_qfrc_actuator_in_observation", False),
    ("include_cfrc_ext_in_observation", False),
)
"""Gymnasium's own switches: the observation is positions and velocities, 45 numbers."""
ROBOT = Robot(
    env=Humanoid,
    asset="humanoid.xml",
    dt=DT,
    signals=(HEIGHT, TILT, JOINT_SPEED, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(Coordinate(2, "min"), Tilt(), JointSpeed(), MeanEffort(), Change()),
        body="torso",
        lost=(6,),
        faults=usual_faults(dt=float(DT), horizon=HORIZON, noise=0.1, bias=0.1),
        disturbances=usual_disturbances(60.0, 20.0),
        options=BARE,
    ),
)

UPRIGHT = Claim(
    id="humanoid.upright",
    statement=always(HEIGHT >= 1.1),
    hazard="The robot, 42 kg, comes down on a person.",
    source="Gymnasium Humanoid-v5: unhealthy below 1 m; chosen: 0.1 m of it is a buffer.",
    severity="catastrophic",
)
LEAN = Claim(
    id="humanoid.tilt",
    statement=always(TILT <= 0.6),
    hazard="The torso bends over and the head strikes something.",
    source="Chosen: half of the angle at which the hips' range ends.",
)
THROWN = Claim(
    id="humanoid.joint_speed",
    statement=always(JOINT_SPEED <= 8.0),
    hazard="A limb is thrown at somebody.",
    source="Chosen: a forearm of 0.3 m then moves at 2.4 m/s.",
)
SMOOTH = Claim(
    id="humanoid.smooth",
    statement=always(CHANGE <= 0.5),
    hazard="Torques that jump from end to end wear the gears out.",
    source="Chosen: half the drives' whole range in 15 ms.",
    severity="marginal",
)
CLAIMS = (UPRIGHT, LEAN, THROWN, SMOOTH)

SECOND_FIRST = (1, 0, *range(2, 17))
"""The model's first two hinges are driven in the opposite order."""
HIPS = (5, 9)


def _brace(
    observations: NDArray[Any],
    *,
    stiffness: float = 0.8,
    damping: float = 0.03,
    lean: float = 0.5,
) -> NDArray[np.float32]:
    joints = observations[:, 5:22][:, SECOND_FIRST]
    speeds = observations[:, 28:45][:, SECOND_FIRST]
    command = -stiffness * joints - damping * speeds
    w, x, y, z = observations[:, 1:5].T
    pitch = 2.0 * (w * y - x * z)
    command[:, HIPS] += lean * pitch[:, None]
    return np.asarray(np.clip(command, -0.4, 0.4), np.float32)


def _limp(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.zeros((len(observations), 17), np.float32)


def _swing(observations: NDArray[Any]) -> NDArray[np.float32]:
    """Full torque along each joint's speed: damping of the wrong sign."""
    speeds = observations[:, 28:45][:, SECOND_FIRST]
    return np.asarray(np.where(speeds >= 0.0, 0.4, -0.4), np.float32)


GOOD = scripted("humanoid.bracing", _brace)
LIMP = scripted("humanoid.limp", _limp)
SWING = scripted("humanoid.swinging", _swing)
TIPPING = scripted("humanoid.tipping", _brace, lean=-6.0, stiffness=0.5)
"""The hips work with the torso's pitch, not against it."""
BAD = {
    "humanoid.upright": LIMP,
    "humanoid.tilt": TIPPING,
    "humanoid.joint_speed": SWING,
    "humanoid.smooth": SWING,
}


def plain() -> ScenarioSpec:
    """Gymnasium's own start, dropped from a few centimetres."""
    return ROBOT.scenario("humanoid-brace", "Land on two feet and stay up.", CLAIMS, GOOD, BAD)


def loaded() -> ScenarioSpec:
    """A load of 2 to 6 kg on a robot of 42 kg."""
    return ROBOT.scenario(
        "humanoid-brace-payload",
        "Land on two feet and stay up with a load on the back.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 2.0, 6.0, None, "mass added to the torso"),),
    )


def lame() -> ScenarioSpec:
    """The right knee gives 20 to 60 % of its torque."""
    return ROBOT.scenario(
        "humanoid-brace-weak-knee",
        "Land on two feet and stay up with a knee that has lost most of its torque.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("lame", "1", 0.4, 0.8, None, "share of the torque that is lost"),),
    )


def pushed() -> ScenarioSpec:
    """Someone pushes the torso."""
    return ROBOT.scenario(
        "humanoid-brace-pushed",
        "Land on two feet and stay up while being pushed at random.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("push_peak", "N", 10.0, 30.0, None, "largest push on the torso"),),
    )


SCENARIOS = {
    "mujoco/humanoid-brace-v0": plain,
    "mujoco/humanoid-brace-payload-v0": loaded,
    "mujoco/humanoid-brace-pushed-v0": pushed,
    "mujoco/humanoid-brace-weak-knee-v0": lame,
}
