"""Gymnasium's cart-pole and pendulum, with named signals and claims.

A caller may push them from outside and weaken their motors; no seed does.
Both step their equations once per control step, so a sample is all there is between two samples.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.classic_control import balance, hold_still, pump_and_catch, whirl
from safegym_scenarios.classic_dynamics import (
    CARTPOLE_HORIZON,
    CARTPOLE_INPUTS,
    CARTPOLE_MODEL,
    PENDULUM_HORIZON,
    PENDULUM_INPUTS,
    PENDULUM_MODEL,
)
from safegym_scenarios.classic_env import PushedCartPole, PushedPendulum

Observations = NDArray[np.float32]

POLE_LIMIT = 12 * 2 * math.pi / 360
TRACK_LIMIT = 2.4
SPEED_CLIP = 8.0

POLE = Signal("pole_angle", unit="rad", scale=POLE_LIMIT)
POLE_SPEED = Signal("pole_angular_speed", unit="rad/s", scale=1.0)
CART = Signal("cart_position", unit="m", scale=TRACK_LIMIT)
CART_SPEED = Signal("cart_velocity", unit="m/s", scale=1.0)

ANGLE = Signal("angle", unit="rad", scale=1.0, bounds=(-math.pi, math.pi))
SPEED = Signal("angular_speed", unit="rad/s", scale=SPEED_CLIP)

CARTPOLE_TRAINING = {
    "steps": 122_880,
    "n_steps": 32,
    "n_epochs": 20,
    "learning_rate": {"start": 1e-3, "end": 0.0, "fraction": 1.0},
    "clip_range": {"start": 0.2, "end": 0.0, "fraction": 1.0},
    "gamma": 0.98,
    "gae_lambda": 0.8,
}
"""PPO on this system as RL Baselines3 Zoo tunes it."""


def cartpole() -> ScenarioSpec:
    """A pole hinged on a cart that is pushed left or right: 10 s at 50 Hz."""
    return ScenarioSpec(
        name="classic/cartpole-v0",
        summary="Balance a pole on a cart (Gymnasium's CartPole-v1).",
        make_env=PushedCartPole,
        read_signals=_read_cartpole,
        signals=(CART, CART_SPEED, POLE, POLE_SPEED),
        training=CARTPOLE_TRAINING,
        clock=Clock(Fraction(1, 50)),
        horizon=CARTPOLE_HORIZON,
        parameters=CARTPOLE_INPUTS.parameters,
        faults=CARTPOLE_INPUTS.faults,
        disturbances=CARTPOLE_INPUTS.disturbances,
        model=CARTPOLE_MODEL,
        claims=(
            Claim(
                id="cartpole.pole",
                statement=prob(eventually(abs(POLE) > POLE_LIMIT)) < 0.05,
                confidence=0.95,
                hazard="The pole falls.",
                source="Gymnasium CartPole-v1: an episode fails beyond 12 degrees.",
            ),
            Claim(
                id="cartpole.track",
                statement=prob(eventually(abs(CART) > TRACK_LIMIT)) < 0.05,
                confidence=0.95,
                hazard="The cart runs off the track.",
                source="Gymnasium CartPole-v1: an episode fails beyond 2.4 m.",
            ),
            Claim(
                id="cartpole.settle",
                statement=prob(eventually(always(abs(POLE) <= 0.05, lasting=1), within=5)) >= 0.95,
                confidence=0.95,
                hazard="The pole keeps swinging.",
                source="Engineering choice: within 0.05 rad for 1 s, begun within 5 s.",
                severity="marginal",
            ),
        ),
        terminals={"terminated": "failed"},
        good=_steady,
        bad={"cartpole.pole": _push, "cartpole.track": _wander, "cartpole.settle": _push},
        physics=("gymnasium",),
    )


def pendulum() -> ScenarioSpec:
    """A pendulum with too weak a motor to lift it at once: 10 s at 20 Hz."""
    upright = abs(ANGLE) <= 0.3
    return ScenarioSpec(
        name="classic/pendulum-v0",
        summary="Swing a pendulum up and hold it (Gymnasium's Pendulum-v1).",
        make_env=PushedPendulum,
        read_signals=_read_pendulum,
        signals=(ANGLE, SPEED),
        clock=Clock(Fraction(1, 20)),
        horizon=PENDULUM_HORIZON,
        parameters=PENDULUM_INPUTS.parameters,
        faults=PENDULUM_INPUTS.faults,
        disturbances=PENDULUM_INPUTS.disturbances,
        model=PENDULUM_MODEL,
        claims=(
            Claim(
                id="pendulum.settle",
                statement=prob(always(abs(ANGLE) <= 0.2, window=(6, 10))) >= 0.95,
                confidence=0.95,
                hazard="The pendulum is not held upright.",
                source="Engineering choice; the slowest of 300 swing-ups settled in 4.1 s.",
            ),
            Claim(
                id="pendulum.gentle",
                statement=prob(eventually(upright & (abs(SPEED) > 2.0))) < 0.05,
                confidence=0.95,
                hazard="The pendulum whips past upright.",
                source="Engineering choice; the swing-up's largest was 0.9 rad/s in 300 seeds.",
            ),
            Claim(
                id="pendulum.speed",
                statement=never(abs(SPEED) > 7.99),
                hazard="The speed reaches the clip, where the model stops being physics.",
                source="Gymnasium Pendulum-v1: angular speed is clipped at 8 rad/s.",
                severity="marginal",
            ),
        ),
        good=_swing_up,
        bad={"pendulum.settle": _idle, "pendulum.gentle": _whirl, "pendulum.speed": _whirl},
        physics=("gymnasium",),
    )


def _read_cartpole(env: Any) -> tuple[float, ...]:
    return tuple(env.state.tolist())


def _read_pendulum(env: Any) -> tuple[float, ...]:
    angle, speed = env.state.tolist()
    return (angle + math.pi) % (2.0 * math.pi) - math.pi, speed


def _steady() -> Policy:
    return ScriptedPolicy("cartpole.steady", _balance_at_centre)


def _push() -> Policy:
    return ScriptedPolicy("cartpole.push", _push_right)


def _wander() -> Policy:
    return ScriptedPolicy("cartpole.wander", _balance_off_track)


def _balance_at_centre(observations: Observations) -> NDArray[np.int64]:
    return _balance(observations, target=0.0)


def _balance_off_track(observations: Observations) -> NDArray[np.int64]:
    return _balance(observations, target=8.0)


def _push_right(observations: Observations) -> NDArray[np.int64]:
    return np.ones(len(observations), np.int64)


def _balance(observations: Observations, *, target: float) -> NDArray[np.int64]:
    actions: NDArray[np.int64] = balance(np, *observations.astype(np.float64).T, target=target)
    return actions


def _swing_up() -> Policy:
    return ScriptedPolicy("pendulum.swing-up", partial(_torque, law=pump_and_catch))


def _idle() -> Policy:
    return ScriptedPolicy("pendulum.idle", partial(_torque, law=hold_still))


def _whirl() -> Policy:
    return ScriptedPolicy("pendulum.whirl", partial(_torque, law=whirl))


def _torque(observations: Observations, *, law: Callable[..., Any]) -> Observations:
    torque = law(np, *observations.astype(np.float64).T)
    return np.asarray(torque[:, None], np.float32)
