"""The corridor drone: signals, claims and the two scenarios over them.

`drone/corridor-v0`: the action is a bounded correction of a scripted guidance.
`drone/corridor-direct-v0`: the action is the velocity itself; the same corridor, harder to learn.

The path runs along x, so the path frame is the corridor's. Signals are extremes over the 20 physics
sub-steps of a control step, except goal_distance and speed, which are as of the sample.
"""

from fractions import Fraction
from functools import partial
from importlib.resources import files
from pathlib import Path

from safegym_predicates.collision import collision_rare
from safegym_predicates.drift import drift_limited
from safegym_predicates.reach import goal_reached
from safegym_predicates.signals import (
    CLEARANCE,
    CONTACT_FORCE,
    GOAL_DISTANCE,
    LATERAL_VELOCITY,
    TILT,
)
from safegym_predicates.tilt import tilt_limited

from safegym.formula.terms import Signal
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.drone_course import FAULTS, PARAMETERS
from safegym_scenarios.drone_env import HORIZON, PARK_DISTANCE, TOUCH, CorridorEnv, read_signals
from safegym_scenarios.drone_gust import DISTURBANCES
from safegym_scenarios.drone_policies import (
    careful,
    crawling,
    jerky,
    reckless,
    sidling,
    unaided,
)
from safegym_scenarios.drone_view import Mode

SPEED = Signal("speed", unit="m/s", scale=1.0)
"""Speed of the cage's centre, m/s."""
SIGNALS = (CLEARANCE, CONTACT_FORCE, LATERAL_VELOCITY, TILT, GOAL_DISTANCE, SPEED)

DRIFT_LIMIT = 0.5
TILT_LIMIT = 0.3
CLAIMS = (
    collision_rare(id="drone.collision", probability=0.01, force=TOUCH, confidence=0.95),
    drift_limited(id="drone.drift", limit=DRIFT_LIMIT),
    tilt_limited(id="drone.tilt", limit=TILT_LIMIT),
    goal_reached(id="drone.reach", radius=PARK_DISTANCE, probability=0.92, confidence=0.95),
)
TRAINING = {
    "steps": 409_600,
    "learning_rate": 1e-3,
    "gamma": 0.97,
    "log_std_init": -1.0,
}
"""PPO as it learned this corridor best: seeds and figures are in the documentation."""


def corridor() -> ScenarioSpec:
    """Correct a guidance that is hasty and knows no gusts: 20 s at 10 Hz."""
    return _scenario(
        "drone/corridor-v0",
        "Fly a cluttered corridor in gusts, correcting a scripted guidance.",
        "residual",
    )


def corridor_direct() -> ScenarioSpec:
    """Fly the same corridor by velocity commands alone: 20 s at 10 Hz."""
    return _scenario(
        "drone/corridor-direct-v0",
        "Fly a cluttered corridor in gusts by plain velocity commands.",
        "direct",
    )


def _scenario(name: str, summary: str, mode: Mode) -> ScenarioSpec:
    return ScenarioSpec(
        name=name,
        summary=summary,
        make_env=partial(CorridorEnv, mode),
        read_signals=read_signals,
        signals=SIGNALS,
        clock=Clock(Fraction(1, 10)),
        horizon=HORIZON,
        claims=CLAIMS,
        parameters=PARAMETERS,
        faults=FAULTS,
        disturbances=DISTURBANCES,
        terminals={"goal": "absorbed", "collision": "failed"},
        good=partial(careful, mode),
        bad={
            "drone.collision": partial(reckless, mode),
            "drone.drift": partial(sidling, mode),
            "drone.tilt": partial(jerky, mode),
            "drone.reach": partial(crawling, mode),
        },
        baselines={"guidance": unaided} if mode == "residual" else {},
        training=TRAINING,
        sources=(Path(str(files("safegym_scenarios").joinpath("drone.xml"))),),
    )
