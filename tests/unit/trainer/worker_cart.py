"""A cart for rollout workers: it loads no torch, and misbehaves when it finds a file that says so.

The files lie in the folder that WORKER_CART names, which worker processes inherit. A file is taken
away by whoever obeys it, so that it happens once; "always-die" stays.
"""

import os
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

import gymnasium as gym

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.trainer.settings import TrainSettings
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

ANGLE = Signal("angle", "rad", scale=0.1)
UPRIGHT = Claim("cart.upright", always(abs(ANGLE) < 0.1))


class Troubled(gym.Wrapper):
    """Its process is killed ("die", "die-in-reset"), it sleeps ("hang"), raises ("raise"),
    ends its process ("exit") or shows too little ("shape").
    """

    def step(self, action):
        if told("die") or told("always-die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if told("hang"):
            time.sleep(60)
        if told("raise"):
            raise RuntimeError("the cart fell off")
        if told("exit"):
            sys.exit(0)
        seen, *rest = self.env.step(action)
        return (seen[:2] if told("shape") else seen, *rest)

    def reset(self, **how):
        if told("die-in-reset"):
            os.kill(os.getpid(), signal.SIGKILL)
        return self.env.reset(**how)


def told(what: str) -> bool:
    """Whether the file lies there; it is taken away, unless it is to stay."""
    path = Path(os.environ.get("WORKER_CART", "/nowhere"), what)
    if what.startswith("always"):
        return path.exists()
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def make_cart() -> gym.Env:
    return Troubled(gym.make("CartPole-v1", max_episode_steps=-1))


def read_cart(env) -> tuple[float, ...]:
    return (float(env.state[2]),)


def worker_cart() -> ScenarioSpec:
    return ScenarioSpec(
        name="test/worker-cart",
        summary="A pole on a cart.",
        make_env=make_cart,
        read_signals=read_cart,
        signals=(ANGLE,),
        clock=Clock(Fraction(1, 50)),
        horizon=60,
        claims=(UPRIGHT,),
        terminals={"terminated": "failed"},
    )


def worker_settings(**changes) -> TrainSettings:
    fields = {
        "steps": 384,
        "gate_every": 96,
        "n_envs": 3,
        "n_steps": 32,
        "batch_size": 32,
        "n_epochs": 2,
        "net_arch": (8,),
        "seed": 7,
    }
    return TrainSettings(**{**fields, **changes})


def heavy_modules(_env) -> list[str]:
    """What the process that steps this environment has loaded and should not have."""
    return sorted({"torch", "stable_baselines3", "scipy", "ray"} & set(sys.modules))
