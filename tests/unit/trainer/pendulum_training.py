"""A small scenario on Gymnasium's Pendulum, for algorithms with continuous actions."""

from fractions import Fraction

import gymnasium as gym
from cart_training import cart_spec

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.penalty import PenaltySettings
from safegym.gate.trainer.settings import TrainSettings
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

TURN = Signal("turn", "rad/s", scale=1.0)
CALM = Claim("pendulum.calm", always(abs(TURN) < 2.0))
BOUNDED = Claim("pendulum.bounded", always(abs(TURN) < 1e6))
OFF_POLICY = ("sac", "td3", "ddpg", "dqn", "tqc", "qr-dqn")


def make_pendulum() -> gym.Env:
    return gym.make("Pendulum-v1", max_episode_steps=-1)


def read_pendulum(env) -> tuple[float]:
    return (float(env.state[1]),)


def pendulum_spec(**changes) -> ScenarioSpec:
    fields = {
        "name": "test/pendulum",
        "summary": "A pendulum with a motor.",
        "make_env": make_pendulum,
        "read_signals": read_pendulum,
        "signals": (TURN,),
        "clock": Clock(Fraction(1, 20)),
        "horizon": 30,
        "claims": (CALM,),
    }
    return ScenarioSpec(**{**fields, **changes})


def spec_for(algo: str) -> ScenarioSpec:
    """Carts take discrete actions, pendulums continuous ones."""
    return cart_spec(horizon=30) if algo in ("dqn", "qr-dqn") else pendulum_spec()


def off_settings(algo: str, **changes) -> TrainSettings:
    """Tiny, with updates from step 32 on."""
    fields = {
        "algo": algo,
        "steps": 128,
        "gate_every": 32,
        "n_envs": 2,
        "n_steps": 2,
        "batch_size": 16,
        "net_arch": [8],
        "seed": 7,
        "buffer_size": 400,
        "learning_starts": 32,
        "gradient_steps": 1,
        "failing_share": 0.1,
        "penalty": PenaltySettings().to_json(),
    }
    if algo in ("dqn", "qr-dqn"):
        fields |= {"exploration_fraction": 0.8, "target_update_interval": 20}
    return TrainSettings.of({**fields, **changes})
