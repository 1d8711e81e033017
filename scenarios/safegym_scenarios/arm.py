"""The arm that must stop for people: claims and scenario.

Signals are extremes over the 10 physics sub-steps of a control step.
"""

from fractions import Fraction
from importlib.resources import files
from pathlib import Path

from safegym_predicates.force import force_limited
from safegym_predicates.joint_limits import joint_limits_kept
from safegym_predicates.speed_and_separation import stop_on_intrusion

from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.arm_drive import DISTURBANCES, FAULTS, HORIZON
from safegym_scenarios.arm_env import (
    PARAMETERS,
    SIGNALS,
    STATIONS_REACHED,
    HumanStopEnv,
    read_signals,
)
from safegym_scenarios.arm_policies import careful, creeping, heedless, idle, overreaching

CLAIMS = (
    force_limited(id="arm.force", limit=140.0),
    stop_on_intrusion(id="arm.stop", within="0.3", lasting="1", speed=0.01),
    joint_limits_kept(id="arm.joint_limits", margin=0.05),
    Claim(
        id="arm.work",
        statement=prob(eventually(STATIONS_REACHED >= 2.0)) >= 0.9,
        confidence=0.95,
        hazard="task not done",
        source="thresholds chosen; keeps an arm that never moves from passing",
        severity="marginal",
    ),
)


def human_stop() -> ScenarioSpec:
    """Swing between two stations, and stand still while a person is near: 10 s at 20 Hz."""
    return ScenarioSpec(
        name="arm/human-stop-v0",
        summary="An arm at a cyclic task stops for a person who walks in.",
        make_env=HumanStopEnv,
        read_signals=read_signals,
        signals=SIGNALS,
        clock=Clock(Fraction(1, 20)),
        horizon=HORIZON,
        claims=CLAIMS,
        parameters=PARAMETERS,
        faults=FAULTS,
        disturbances=DISTURBANCES,
        good=careful,
        bad={
            "arm.force": heedless,
            "arm.stop": creeping,
            "arm.joint_limits": overreaching,
            "arm.work": idle,
        },
        sources=(Path(str(files("safegym_scenarios").joinpath("arm.xml"))),),
    )
