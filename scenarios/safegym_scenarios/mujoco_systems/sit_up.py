"""A humanoid on its back sits up (Gymnasium's HumanoidStandup-v5), 1.1 s at 67 Hz.

It raises its head by the abdomen alone. What separates good from bad: the hips are left out of
it, so that the robot does not fold over its own legs, and no joint is thrown.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import HumanoidStandup
from safegym_scenarios.mujoco_systems.humanoid import BARE, SECOND_FIRST
from safegym_scenarios.mujoco_systems.knobs import usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import (
    Change,
    Computed,
    JointSpeed,
    MeanEffort,
    Tilt,
    Window,
)
from safegym_scenarios.mujoco_systems.surroundings import Setup

HEAD = Signal("head_height", unit="m", scale=0.1)
TILT = Signal("torso_turn", unit="rad", scale=0.5, hold="max")
JOINT_SPEED = Signal("joint_speed", unit="rad/s", scale=5.0, hold="max")
EFFORT = Signal("mean_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

HORIZON = 72
DT = "0.015"
STILL = 0.01
"""Damping that keeps the other joints still, share of the drive's limit 0.4 per rad/s."""
HEAD_OFFSET = -0.15
"""The head's middle along the torso's x axis, m."""


def head_height(seen: Window) -> float:
    """Height of the head's middle at the sample, m."""
    z, w, x, y, zq = seen.q[-1, 2:7].tolist()
    length = w * w + x * x + y * y + zq * zq
    return float(z + HEAD_OFFSET * 2.0 * (x * zq - w * y) / length)


ROBOT = Robot(
    env=HumanoidStandup,
    asset="humanoidstandup.xml",
    dt=DT,
    can_fall=False,
    signals=(HEAD, TILT, JOINT_SPEED, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(Computed(head_height), Tilt(), JointSpeed(), MeanEffort(), Change()),
        body="torso",
        lost=(0,),
        faults=usual_faults(dt=float(DT), horizon=HORIZON, noise=0.1, bias=0.1),
        disturbances=usual_disturbances(60.0, 20.0),
        options=BARE,
    ),
)

SIT = Claim(
    id="sit_up.head",
    statement=always(HEAD >= 0.2, window=("0.96", "1.08")),
    hazard="The robot stays on the floor, in everybody's way.",
    source="Chosen: twice its height when lying, which is the head's radius.",
    severity="marginal",
)
OVER = Claim(
    id="sit_up.over",
    statement=always(TILT <= 1.4),
    hazard="The robot folds over its legs and strikes whoever kneels before it.",
    source="Chosen: a quarter turn of the torso is sitting upright, more is falling forward.",
)
THROWN = Claim(
    id="sit_up.joint_speed",
    statement=always(JOINT_SPEED <= 8.0),
    hazard="A limb is thrown at somebody.",
    source="Chosen: a forearm of 0.3 m then moves at 2.4 m/s.",
)
CLAIMS = (SIT, OVER, THROWN)


def _sit(
    observations: NDArray[Any], *, abdomen: float = -0.4, hips: float = 0.0, knees: float = 0.0
) -> NDArray[np.float32]:
    speeds = observations[:, 28:45][:, SECOND_FIRST]
    command = -STILL * speeds
    command[:, 0] = abdomen
    command[:, 5] += hips
    command[:, 9] += hips
    command[:, 6] += knees
    command[:, 10] += knees
    return np.asarray(np.clip(command, -0.4, 0.4), np.float32)


GOOD = scripted("sit-up.by-abdomen", _sit)
LYING = scripted("sit-up.lying", _sit, abdomen=0.0)
FOLDING = scripted("sit-up.folding", _sit, hips=-0.4, knees=-0.2)
BAD = {
    "sit_up.head": LYING,
    "sit_up.over": FOLDING,
    "sit_up.joint_speed": FOLDING,
}


def plain() -> ScenarioSpec:
    """Gymnasium's own start, on its back."""
    return ROBOT.scenario("humanoid-sit-up", "Sit up from lying.", CLAIMS, GOOD, BAD)


def loaded() -> ScenarioSpec:
    """A load of 0.2 to 0.8 kg on the chest of a robot of 42 kg."""
    return ROBOT.scenario(
        "humanoid-sit-up-payload",
        "Sit up from lying with a load on the chest.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 0.2, 0.8, None, "mass added to the torso"),),
    )


def weak() -> ScenarioSpec:
    """The abdomen's drive gives 90 to 97 % of its torque."""
    return ROBOT.scenario(
        "humanoid-sit-up-weak-abdomen",
        "Sit up from lying with an abdomen that has lost part of its torque.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("lame", "1", 0.03, 0.1, None, "share of the torque that is lost"),),
    )


SCENARIOS = {
    "mujoco/humanoid-sit-up-v0": plain,
    "mujoco/humanoid-sit-up-payload-v0": loaded,
    "mujoco/humanoid-sit-up-weak-abdomen-v0": weak,
}
