"""Gymnasium's cart-pole and pendulum, with named signals and claims.

Both step their equations once per control step, so a sample is all there is between two samples.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from numpy.typing import NDArray

from safegym.formula.build import always, eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

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
        make_env=CartPoleEnv,
        read_signals=_read_cartpole,
        signals=(CART, CART_SPEED, POLE, POLE_SPEED),
        training=CARTPOLE_TRAINING,
        clock=Clock(Fraction(1, 50)),
        horizon=500,
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
        make_env=PendulumEnv,
        read_signals=_read_pendulum,
        signals=(ANGLE, SPEED),
        clock=Clock(Fraction(1, 20)),
        horizon=200,
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
    angle, speed = env.state
    return (angle + math.pi) % (2.0 * math.pi) - math.pi, float(speed)


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
    """State feedback to a bang-bang motor."""
    x, v, angle, rate = observations.astype(np.float64).T
    offset = np.clip(x - target, -1.0, 1.0)
    push = 0.5 * offset + 1.0 * v + 10.0 * angle + 2.0 * rate
    return np.where(push > 0.0, 1, 0)


def _swing_up() -> Policy:
    return ScriptedPolicy("pendulum.swing-up", _pump_and_catch)


def _idle() -> Policy:
    return ScriptedPolicy("pendulum.idle", _no_torque)


def _whirl() -> Policy:
    return ScriptedPolicy("pendulum.whirl", _full_torque)


def _pump_and_catch(observations: Observations) -> Observations:
    """Pump energy up to that of standing upright, then hold by state feedback near the top.

    Source: Astrom and Furuta 2000, swinging up by energy control.
    """
    cosine, sine, speed = observations.astype(np.float64).T
    angle = np.arctan2(sine, cosine)
    energy = 0.5 * speed**2 + 15.0 * (cosine - 1.0)
    pump = -energy * np.where(speed >= 0.0, 1.0, -1.0)
    hold = -10.0 * angle - 3.0 * speed
    near = (np.abs(angle) < 0.4) & (np.abs(speed) < 4.0)
    torque = np.clip(np.where(near, hold, pump), -2.0, 2.0)
    return np.asarray(torque[:, None], np.float32)


def _no_torque(observations: Observations) -> Observations:
    return np.zeros((len(observations), 1), np.float32)


def _full_torque(observations: Observations) -> Observations:
    return np.asarray(np.where(observations[:, 2:] >= 0.0, 2.0, -2.0), np.float32)
