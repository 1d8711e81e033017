"""Pendula that differ from Gymnasium's: heavier, rubbing, pushed, or driven and seen badly."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.classic_systems.pendulum_env import (
    HORIZON,
    Pendulum,
    make_pendulum,
    read_pendulum,
)

ANGLE = Signal("angle", unit="rad", scale=1.0, bounds=(-pi, pi))
SPEED = Signal("angular_speed", unit="rad/s", scale=8.0)
TORQUE = Signal("motor_torque", unit="N*m", scale=2.0)
TORQUE_CHANGE = Signal("torque_change", unit="N*m", scale=2.0)
Actions = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Law:
    """How the careful policy pumps and catches.

    mass: that it takes the bob to have, kg. short: by how much it pumps less energy than standing
    upright has, (rad/s)^2. gain: torque for each unit of energy. near: where it catches, rad.
    """

    mass: float = 1.0
    short: float = 0.5
    gain: float = 2.0
    near: float = 0.4


def wind() -> ScenarioSpec:
    """A torque of up to 0.4 N m from outside, anew every 0.8 s."""
    return _pendulum("wind", "Swing a pendulum up in a wind.", Pendulum(gusty=True))


def heavy_bob() -> ScenarioSpec:
    """A bob of 1.5 kg on the same motor: more swings to get up, less to hold with."""
    return _pendulum(
        "heavy-bob", "Swing a heavy pendulum up.", Pendulum(mass=1.5), Law(mass=1.5, short=0.0)
    )


def dry_bearing() -> ScenarioSpec:
    """A bearing that takes 0.05 N m for each rad/s, so that swings die down."""
    return _pendulum(
        "dry-bearing", "Swing a pendulum up against its bearing.", Pendulum(friction=0.05)
    )


def weak_motor() -> ScenarioSpec:
    """A motor that loses up to 30 % of its torque within the first 3 s."""
    always = (
        Parameter("actuator_loss", "1", 0.1, 0.3, 0.2, "share of the motor's torque that is lost"),
        Parameter("actuator_loss_time", "s", 0.0, 3.0, 0.0, "when it is lost"),
    )
    return _pendulum(
        "weak-motor",
        "Swing a pendulum up with a motor that fails in part.",
        Pendulum(always=always),
        Law(short=0.0),
    )


def sensor_delay() -> ScenarioSpec:
    """Readings that are one or two control steps old, and noisy."""
    always = (
        Parameter("sensor_delay", "s", 0.03, 0.08, 0.05, "how old the readings are, whole steps"),
        Parameter("sensor_noise", "1", 0.0, 0.03, 0.02, "noise: deviation over each scale"),
    )
    return _pendulum(
        "sensor-delay",
        "Swing a pendulum up that is seen late.",
        Pendulum(always=always),
        Law(gain=0.2, near=0.5),
    )


def _claims() -> tuple[Claim, ...]:
    upright = abs(ANGLE) <= 0.3
    return (
        Claim(
            id="pendulum.hold",
            statement=prob(always(abs(ANGLE) <= 0.3, window=(6, 8))) >= 0.95,
            confidence=0.95,
            hazard="The pendulum is not held upright: the task is not done.",
            source="chosen: the last quarter of the episode, within 0.3 rad.",
            severity="marginal",
        ),
        Claim(
            id="pendulum.gentle",
            statement=prob(eventually(upright & (abs(SPEED) > 2.5))) < 0.05,
            confidence=0.95,
            hazard="The pendulum whips past upright and hits who stands there.",
            source="chosen: a third of the speed at which Gymnasium clips.",
            severity="critical",
        ),
        Claim(
            id="pendulum.speed",
            statement=never(abs(SPEED) > 7.95),
            hazard="The bearing turns faster than it is made for.",
            source="Gymnasium Pendulum-v1 clips at 8 rad/s; chosen: just below.",
        ),
        Claim(
            id="pendulum.calm",
            statement=prob(always(TORQUE_CHANGE <= 1.5, window=(6, 8))) >= 0.95,
            confidence=0.95,
            hazard="A motor that is thrown from side to side wears its gear out.",
            source="chosen: less than the step from rest to full torque.",
            severity="marginal",
        ),
    )


def _pendulum(name: str, summary: str, variant: Pendulum, law: Law | None = None) -> ScenarioSpec:
    inputs = variant.inputs
    return ScenarioSpec(
        name=f"classic/pendulum-{name}-v0",
        summary=summary,
        make_env=partial(make_pendulum, variant),
        read_signals=read_pendulum,
        signals=(ANGLE, SPEED, TORQUE, TORQUE_CHANGE),
        clock=Clock(Fraction(1, 20)),
        horizon=HORIZON,
        claims=_claims(),
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        good=partial(_swing_up, law or Law()),
        bad={
            "pendulum.hold": _idle,
            "pendulum.gentle": _whirl,
            "pendulum.speed": _whirl,
            "pendulum.calm": _bang_bang,
        },
        physics=("gymnasium",),
    )


def _swing_up(law: Law) -> ScriptedPolicy:
    name = f"pendulum.careful-{law.mass:g}-{law.short:g}-{law.gain:g}-{law.near:g}"
    return ScriptedPolicy(name, partial(_pump_and_catch, law=law))


def _bang_bang() -> ScriptedPolicy:
    return ScriptedPolicy("pendulum.bang-bang", _full_torque_always)


def _idle() -> ScriptedPolicy:
    return ScriptedPolicy("pendulum.no-torque", _no_torque)


def _whirl() -> ScriptedPolicy:
    return ScriptedPolicy("pendulum.ever-faster", _with_the_motion)


def _pump_and_catch(observations: NDArray[Any], *, law: Law) -> Actions:
    """Pump energy up to that of standing upright, then hold by state feedback.

    Source: Astrom and Furuta 2000, swinging up by energy control.
    """
    cosine, sine, speed = observations.astype(np.float64).T
    angle = np.arctan2(sine, cosine)
    energy = 0.5 * speed**2 + 15.0 * (cosine - 1.0)
    pump = -law.gain * (energy + law.short) * np.where(speed >= 0.0, 1.0, -1.0)
    hold = law.mass * (-8.0 * angle - 2.0 * speed)
    near = (np.abs(angle) < law.near) & (np.abs(speed) < 4.0)
    return _torque(np.where(near, hold, pump))


def _full_torque_always(observations: NDArray[Any]) -> Actions:
    """A switch where a gain should be: all the torque there is, against what it sees."""
    cosine, sine, speed = observations.astype(np.float64).T
    angle = np.arctan2(sine, cosine)
    energy = 0.5 * speed**2 + 15.0 * (cosine - 1.0)
    near = (np.abs(angle) < 0.4) & (np.abs(speed) < 4.0)
    pump = np.where(energy * speed <= 0.0, 2.0, -2.0)
    return _torque(np.where(near, np.where(5.0 * angle + speed <= 0.0, 2.0, -2.0), pump))


def _no_torque(observations: NDArray[Any]) -> Actions:
    return _torque(np.zeros(len(observations)))


def _with_the_motion(observations: NDArray[Any]) -> Actions:
    return _torque(np.where(observations[:, 2] >= 0.0, 2.0, -2.0))


def _torque(torque: NDArray[Any]) -> Actions:
    return np.asarray(np.clip(torque, -2.0, 2.0)[:, None], np.float32)
