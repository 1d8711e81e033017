"""Two poles on a cart, one on the other (Gymnasium's InvertedDoublePendulum-v5), 3 s at 20 Hz.

What separates good from bad: feedback of every state, damping of the right sign, and a place to
stand that is near the middle of the rail.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.mujoco_systems.assembly import Robot, scripted
from safegym_scenarios.mujoco_systems.environments import InvertedDoublePendulum
from safegym_scenarios.mujoco_systems.knobs import bearing, usual_disturbances, usual_faults
from safegym_scenarios.mujoco_systems.measures import Change, Computed, Coordinate, Effort, Window
from safegym_scenarios.mujoco_systems.surroundings import Setup

TIP = Signal("tip_height", unit="m", scale=0.2, hold="min")
CART = Signal("cart_offset", unit="m", scale=1.0, hold="max")
EFFORT = Signal("drive_effort", unit="1", scale=1.0, hold="max")
CHANGE = Signal("command_change", unit="1", scale=1.0, hold="max")

HORIZON = 60
DT = "0.05"
LENGTH = 0.6
"""Of each pole, m."""


def tip_height(seen: Window) -> float:
    """Lowest height of the upper pole's tip above the rail, m."""
    lower, upper = seen.q[:, 1], seen.q[:, 1] + seen.q[:, 2]
    return float((LENGTH * np.cos(lower) + LENGTH * np.cos(upper)).min())


ROBOT = Robot(
    env=InvertedDoublePendulum,
    asset="inverted_double_pendulum.xml",
    dt=DT,
    signals=(TIP, CART, EFFORT, CHANGE),
    setup=Setup(
        horizon=HORIZON,
        measures=(
            Computed(tip_height),
            Coordinate(0, "max", magnitude=True),
            Effort(),
            Change(),
        ),
        body="pole2",
        faults=usual_faults(
            dt=float(DT), horizon=HORIZON, noise=0.005, bias=0.005, friction=bearing(4.0, "N")
        ),
        disturbances=usual_disturbances(4.0, 15.0),
    ),
)

FALL = Claim(
    id="double.fall",
    statement=always(TIP > 1.0),
    hazard="The poles come down on whoever stands beside the rail.",
    source="Gymnasium InvertedDoublePendulum-v5: unhealthy at a tip height of 1 m or less.",
    severity="catastrophic",
)
RAIL = Claim(
    id="double.rail",
    statement=always(CART <= 0.9),
    hazard="The cart hits the end of its rail.",
    source="The model's rail ends at 1 m; chosen: 0.1 m of it is a buffer, half the cart's length.",
)
SETTLE = Claim(
    id="double.settle",
    statement=always(TIP >= 1.19, window=(2, 3)),
    hazard="The poles keep swinging, and the next disturbance topples them.",
    source="Chosen: within 10 mm of upright, 1.2 m, from 2 s on.",
    severity="marginal",
)
SMOOTH = Claim(
    id="double.smooth",
    statement=always(CHANGE <= 0.7),
    hazard="A command that jumps from end to end wears the drive's gears out.",
    source="Chosen: seven tenths of the drive's whole range in 0.05 s.",
    severity="marginal",
)
CLAIMS = (FALL, RAIL, SETTLE, SMOOTH)


def _drive(
    observations: NDArray[Any],
    *,
    x: float = 0.065,
    lower: float = 0.487,
    upper: float = 3.236,
    v: float = 0.1085,
    turn: tuple[float, float] = (0.3915, 0.4684),
    target: float = 0.0,
    gain: float = 1.0,
) -> NDArray[np.float32]:
    cart, sine, sine2, _, _, speed, rate, rate2, _ = observations.T
    force = x * (cart - target) + lower * sine + upper * sine2
    force = force + v * speed + turn[0] * rate + turn[1] * rate2
    return np.asarray(np.clip(-gain * force, -1.0, 1.0), np.float32)[:, None]


def _switched(observations: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(np.where(_drive(observations) > 0.0, 1.0, -1.0), np.float32)


GOOD = scripted("double.regulator", _drive)
STRONG = scripted("double.strong-regulator", _drive, gain=2.2)
"""For a drive that gives less than it is asked for."""
BLIND = scripted("double.blind", _drive, upper=0.0, turn=(0.3915, 0.0))
"""Does not see the upper pole."""
WANDERING = scripted("double.wandering", _drive, target=2.5)
SWITCHED = scripted("double.switched", _switched)
BAD = {
    "double.fall": BLIND,
    "double.rail": WANDERING,
    "double.settle": BLIND,
    "double.smooth": SWITCHED,
}


def plain() -> ScenarioSpec:
    """Gymnasium's own start, within 0.1 rad of upright."""
    return ROBOT.scenario(
        "inverted-double-pendulum", "Balance two poles, one on the other.", CLAIMS, GOOD, BAD
    )


def loaded() -> ScenarioSpec:
    """A load of up to 1.5 kg on the upper pole of 4.2 kg."""
    return ROBOT.scenario(
        "inverted-double-pendulum-loaded",
        "Balance two poles of which the upper one carries a load.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("payload", "kg", 0.5, 1.5, None, "mass added to the upper pole"),),
    )


def pushed() -> ScenarioSpec:
    """Someone leans on the upper pole."""
    return ROBOT.scenario(
        "inverted-double-pendulum-pushed",
        "Balance two poles that are pushed at random.",
        (FALL, RAIL, SMOOTH),
        GOOD,
        {name: maker for name, maker in BAD.items() if name != SETTLE.id},
        parameters=(Parameter("push_peak", "N", 1.0, 2.5, None, "largest push on the upper pole"),),
    )


def sticky() -> ScenarioSpec:
    """Dry friction in the rail."""
    return ROBOT.scenario(
        "inverted-double-pendulum-sticking-rail",
        "Balance two poles on a cart that sticks to its rail.",
        CLAIMS,
        GOOD,
        BAD,
        parameters=(Parameter("dry_friction", "N", 1.0, 4.0, None, "dry friction of the rail"),),
    )


def weak() -> ScenarioSpec:
    """The drive has about half of its force: it saturates while the poles are caught."""
    return ROBOT.scenario(
        "inverted-double-pendulum-weak-drive",
        "Balance two poles with a drive that has lost half its force.",
        CLAIMS,
        STRONG,
        BAD,
        parameters=(Parameter("motor_share", "1", 0.4, 0.55, None, "share of the drive's force"),),
    )


SCENARIOS = {
    "mujoco/inverted-double-pendulum-v0": plain,
    "mujoco/inverted-double-pendulum-loaded-v0": loaded,
    "mujoco/inverted-double-pendulum-pushed-v0": pushed,
    "mujoco/inverted-double-pendulum-sticking-rail-v0": sticky,
    "mujoco/inverted-double-pendulum-weak-drive-v0": weak,
}
