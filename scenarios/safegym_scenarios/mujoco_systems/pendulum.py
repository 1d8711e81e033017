"""A pole hinged on a cart (Gymnasium's InvertedPendulum-v5), 4 s at 25 Hz.

What separates good from bad: damping, a command that stays near the middle of the rail, and a
drive that is not switched from end to end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import InvertedPendulum
from safegym_scenarios.mujoco_systems.knobs import bearing, usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import Change, Coordinate, Effort, Rate
from safegym_scenarios.mujoco_systems.surroundings import Setup

POLE = Signal("pole_angle", unit="rad", scale=0.2, hold="max")
CART = Signal("cart_offset", unit="m", scale=1.0, hold="max")
SPEED = Signal("cart_speed", unit="m/s", scale=1.0, hold="max")
EFFORT = Signal("drive_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

HORIZON = 100
DT = "0.04"
ROBOT = Robot(
    env=InvertedPendulum,
    asset="inverted_pendulum.xml",
    dt=DT,
    signals=(POLE, CART, SPEED, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Coordinate(1, "max", magnitude=True),
            Coordinate(0, "max", magnitude=True),
            Rate(0),
            Effort(),
            Change(),
        ),
        body="pole",
        faults=usual_faults(
            dt=float(DT), horizon=HORIZON, noise=0.03, bias=0.02, friction=bearing(10.0, "N")
        ),
        disturbances=usual_disturbances(30.0, 40.0),
    ),
)

FALL = Claim(
    id="pendulum.fall",
    statement=always(POLE <= 0.2),
    hazard="The pole falls on whoever stands beside the rail.",
    source="Gymnasium InvertedPendulum-v5: unhealthy beyond 0.2 rad.",
    severity="catastrophic",
)
RAIL = Claim(
    id="pendulum.rail",
    statement=always(CART <= 0.9),
    hazard="The cart hits the end of its rail.",
    source="The model's rail ends at 1 m; chosen: 0.1 m of it is a buffer, half the cart's length.",
)
SETTLE = Claim(
    id="pendulum.settle",
    statement=always(POLE <= 0.05, window=("2.4", 4)),
    hazard="The pole keeps swinging, and the next disturbance topples it.",
    source="Chosen: a quarter of the angle at which it counts as fallen, from 2.4 s on.",
    severity="marginal",
)
SMOOTH = Claim(
    id="pendulum.smooth",
    statement=always(CHANGE <= 0.3),
    hazard="A command that jumps from end to end wears the drive's gears out.",
    source="Chosen: under a third of the drive's whole range in 0.04 s.",
    severity="marginal",
)
CLAIMS = (FALL, RAIL, SETTLE, SMOOTH)


def _drive(
    observations: NDArray[Any],
    *,
    x: float = 0.35,
    angle: float = 4.9,
    v: float = 0.51,
    rate: float = 0.78,
    target: float = 0.0,
) -> NDArray[np.float32]:
    cart, pole, speed, turning = observations.T
    force = x * (cart - target) + angle * pole + v * speed + rate * turning
    return np.asarray(np.clip(force, -3.0, 3.0), np.float32)[:, None]


def _switched(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(np.where(_drive(observations) > 0.0, 1.5, -1.5), np.float32)


GOOD = scripted("pendulum.regulator", _drive)
SOFT = scripted("pendulum.soft-regulator", _drive, x=0.12, angle=3.9, v=0.26, rate=0.6)
BACKWARDS = scripted("pendulum.backwards", _drive, v=-0.51, rate=-0.78)
"""Its damping has the wrong sign."""
WANDERING = scripted("pendulum.wandering", _drive, target=1.6)
SWITCHED = scripted("pendulum.switched", _switched)
BAD = {
    "pendulum.fall": BACKWARDS,
    "pendulum.rail": WANDERING,
    "pendulum.settle": BACKWARDS,
    "pendulum.smooth": SWITCHED,
}
WIDE = (("reset_noise_scale", 0.05),)


def plain() -> ScenarioSpec:
    """Gymnasium's own start, within 0.01 of upright."""
    return ROBOT.scenario(
        "inverted-pendulum", "Balance a pole on a cart on a rail of 2 m.", CLAIMS, GOOD, BAD
    )


def top_heavy() -> ScenarioSpec:
    """A load of up to 15 kg on a pole of 5 kg."""
    return ROBOT.scenario(
        "inverted-pendulum-loaded",
        "Balance a pole that carries a load of unknown mass.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 5.0, 15.0, None, "mass added to the pole"),),
        options=WIDE,
    )


def slow_sensing() -> ScenarioSpec:
    """The observation is one step old and noisy."""
    return ROBOT.scenario(
        "inverted-pendulum-late-sensor",
        "Balance a pole by a sensor that is late and noisy.",
        CLAIMS,
        SOFT,
        BAD,
        parameters=(
            Parameter("sensor_delay", "s", 0.04, 0.04, None, "age of what the policy sees"),
            Parameter("sensor_noise", "1", 0.001, 0.004, None, "standard deviation, own units"),
        ),
    )


def inclined() -> ScenarioSpec:
    """The rail is not level: up to 0.03 rad either way."""
    return ROBOT.scenario(
        "inverted-pendulum-sloping-rail",
        "Balance a pole on a cart whose rail slopes.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("slope", "rad", -0.03, 0.03, None, "of the rail"),),
        options=WIDE,
    )


def pushed() -> ScenarioSpec:
    """Someone leans on the pole: forces that change every 0.67 s."""
    return ROBOT.scenario(
        "inverted-pendulum-pushed",
        "Balance a pole that is pushed at random.",
        (FALL, RAIL, SMOOTH),
        GOOD,
        {name: maker for name, maker in BAD.items() if name != SETTLE.id},
        parameters=(Parameter("push_peak", "N", 2.0, 5.0, None, "largest push on the pole"),),
    )


def sticky() -> ScenarioSpec:
    """Dry friction in rail and hinge."""
    return ROBOT.scenario(
        "inverted-pendulum-sticking-rail",
        "Balance a pole on a cart that sticks to its rail.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("dry_friction", "N", 2.0, 8.0, None, "dry friction"),),
        options=WIDE,
    )


SCENARIOS = {
    "mujoco/inverted-pendulum-v0": plain,
    "mujoco/inverted-pendulum-late-sensor-v0": slow_sensing,
    "mujoco/inverted-pendulum-loaded-v0": top_heavy,
    "mujoco/inverted-pendulum-pushed-v0": pushed,
    "mujoco/inverted-pendulum-sloping-rail-v0": inclined,
    "mujoco/inverted-pendulum-sticking-rail-v0": sticky,
}
