"""Acrobots: Gymnasium's own, and ones with a heavy forearm, a rough, weak motor or late eyes."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import eventually, fraction, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.classic_systems.acrobot_env import (
    HORIZON,
    Acrobot,
    make_acrobot,
    read_acrobot,
)

HEIGHT = Signal("tip_height", unit="m", scale=1.0)
SHOULDER_SPEED = Signal("shoulder_speed", unit="rad/s", scale=2.0)
ELBOW_SPEED = Signal("elbow_speed", unit="rad/s", scale=4.0)
TORQUE_CHANGE = Signal("torque_change", unit="N*m", scale=1.0)
EFFORT = Signal("motor_effort", unit="N*m*s", scale=5.0)
"""Integral of the torque asked for, without its sign, since the start."""
Actions = NDArray[np.int64]


def plain() -> ScenarioSpec:
    """Gymnasium's Acrobot-v1."""
    return _acrobot(
        "acrobot-v0", "Swing the tip of two links over a line.", Acrobot(), _ELBOW_SPEED, elbow=0.0
    )


def heavy_forearm() -> ScenarioSpec:
    """A forearm of 1.4 kg: it throws the shoulder about, and the same motor must lift it."""
    return _acrobot(
        "acrobot-heavy-forearm-v0",
        "Swing a heavy forearm over a line.",
        Acrobot(forearm=1.4),
        elbow=0.0,
    )


def rough_motor() -> ScenarioSpec:
    """A motor whose torque is off by up to 0.5 N m, anew each step (Gymnasium's own noise)."""
    return _acrobot(
        "acrobot-rough-motor-v0",
        "Swing two links over a line with a rough motor.",
        Acrobot(roughness=0.5),
    )


def gusts() -> ScenarioSpec:
    """A torque of up to 0.5 N m at the elbow from outside, anew every 4 s."""
    return _acrobot(
        "acrobot-gusts-v0", "Swing two links over a line in gusts.", Acrobot(gusty=True), elbow=0.0
    )


def weak_motor() -> ScenarioSpec:
    """A motor that has lost up to 40 % of its torque."""
    always = (
        Parameter("actuator_loss", "1", 0.2, 0.4, 0.3, "share of the motor's torque that is lost"),
        Parameter("actuator_loss_time", "s", 0.0, 4.0, 0.0, "when it is lost"),
    )
    return _acrobot(
        "acrobot-weak-motor-v0",
        "Swing two links over a line with a motor that fails in part.",
        Acrobot(always=always),
    )


_ELBOW_SPEED = Claim(
    id="acrobot.elbow_speed",
    statement=never(abs(ELBOW_SPEED) > 13.0),
    hazard="The forearm whips round and breaks off at the elbow.",
    source="chosen: about half of the 9 pi rad/s at which Gymnasium clips.",
    severity="critical",
)


def _claims() -> tuple[Claim, ...]:
    return (
        Claim(
            id="acrobot.reach",
            statement=prob(eventually(HEIGHT > 1.0)) >= 0.95,
            confidence=0.95,
            hazard="The tip does not get over the line: the task is not done.",
            source="Gymnasium Acrobot-v1: the line is 1 m above the pivot.",
            severity="marginal",
        ),
        Claim(
            id="acrobot.heat",
            statement=never(EFFORT > 32.0),
            hazard="The motor burns out: it was under full torque for too long.",
            source="chosen: four fifths of full torque for all of the 40 s.",
        ),
        Claim(
            id="acrobot.calm",
            statement=fraction(TORQUE_CHANGE <= 1.0) >= 0.7,
            hazard="A motor that is reversed at every step overheats.",
            source="chosen: pumping needs one reversal each half swing, one step in seven.",
            severity="marginal",
        ),
    )


def _acrobot(
    name: str, summary: str, variant: Acrobot, *more: Claim, elbow: float = 0.5
) -> ScenarioSpec:
    inputs = variant.inputs
    bad = {
        "acrobot.reach": _wrong_sign,
        "acrobot.heat": _wrong_sign,
        "acrobot.calm": _wrong_sign,
        "acrobot.elbow_speed": _whipping,
    }
    claims = (*_claims(), *more)
    return ScenarioSpec(
        name=f"classic/{name}",
        summary=summary,
        make_env=partial(make_acrobot, variant),
        read_signals=read_acrobot,
        signals=(HEIGHT, SHOULDER_SPEED, ELBOW_SPEED, TORQUE_CHANGE, EFFORT),
        clock=Clock(Fraction(1, 5)),
        horizon=HORIZON,
        claims=claims,
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals={"reached": "absorbed"},
        good=partial(_pumping, elbow),
        bad={claim.id: bad[claim.id] for claim in claims},
        baselines={"idle": _idle},
        physics=("gymnasium",),
    )


def _pumping(elbow: float) -> ScriptedPolicy:
    return ScriptedPolicy(f"acrobot.pumping-{elbow:g}", partial(_with_the_swing, elbow=elbow))


def _wrong_sign() -> ScriptedPolicy:
    return ScriptedPolicy("acrobot.wrong-sign", _against_the_swing)


def _whipping() -> ScriptedPolicy:
    return ScriptedPolicy("acrobot.whipping", _whip)


def _idle() -> ScriptedPolicy:
    return ScriptedPolicy("acrobot.no-torque", _no_torque)


def _swing(observations: NDArray[Any], elbow: float = 0.5) -> NDArray[np.float64]:
    """Which way a torque adds energy: against the shoulder's speed, and along the elbow's.

    elbow: weight of the elbow's speed; with 0 the forearm whips less.
    """
    speed, elbow_speed = observations[:, 4:].astype(np.float64).T
    return np.asarray(elbow * elbow_speed - speed, np.float64)


def _with_the_swing(observations: NDArray[Any], *, elbow: float) -> Actions:
    return _torque(_swing(observations, elbow))


def _against_the_swing(observations: NDArray[Any]) -> Actions:
    return _torque(-_swing(observations))


def _whip(observations: NDArray[Any]) -> Actions:
    """Drives the forearm on once it is fast, and holds the shoulder back high up."""
    cosine, sine, elbow_cosine, elbow_sine, speed, elbow_speed = observations.astype(np.float64).T
    height = -cosine - (cosine * elbow_cosine - sine * elbow_sine)
    drive = np.where(np.abs(elbow_speed) > 4.0, elbow_speed, _swing(observations))
    return _torque(np.where(height > -0.5, speed, drive))


def _no_torque(observations: NDArray[Any]) -> Actions:
    return np.ones(len(observations), np.int64)


def _torque(direction: NDArray[Any]) -> Actions:
    """0, 1, 2 for -1, 0 and 1 N m."""
    return np.asarray(np.sign(direction) + 1.0, np.int64)
