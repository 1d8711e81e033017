"""A small scenario on Gymnasium's CartPole, tiny settings, and a gate that answers by a script."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import gymnasium as gym
import torch

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplaySettings
from safegym.gate.trainer.hook import Hold
from safegym.gate.trainer.settings import TrainSettings
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

torch.set_num_threads(1)
ANGLE = Signal("angle", "rad", scale=0.1)
PLACE = Signal("place", "m", scale=1.0)
UPRIGHT = Claim("cart.upright", always(abs(ANGLE) < 0.1))
ARRIVES = Claim("cart.arrives", eventually(PLACE > 2.0))


def make_cart() -> gym.Env:
    return gym.make("CartPole-v1", max_episode_steps=-1)


def read_cart(env) -> tuple[float, float]:
    return float(env.state[2]), float(env.state[0])


def cart_spec(**changes) -> ScenarioSpec:
    fields = {
        "name": "test/cart",
        "summary": "A pole on a cart.",
        "make_env": make_cart,
        "read_signals": read_cart,
        "signals": (ANGLE, PLACE),
        "clock": Clock(Fraction(1, 50)),
        "horizon": 60,
        "claims": (UPRIGHT, ARRIVES),
        "terminals": {"terminated": "failed"},
    }
    return ScenarioSpec(**{**fields, **changes})


def small_settings(**changes) -> TrainSettings:
    fields = {
        "steps": 256,
        "gate_every": 64,
        "n_envs": 2,
        "n_steps": 32,
        "batch_size": 32,
        "n_epochs": 2,
        "net_arch": (8,),
        "seed": 7,
    }
    return TrainSettings(**{**fields, **changes})


def idle_settings(**changes) -> TrainSettings:
    """Without penalty and replay."""
    return small_settings(
        penalty=PenaltySettings(weight=0.0), replay=ReplaySettings(share=0.0), **changes
    )


@dataclass
class ScriptedGate:
    """Answers epoch n with script[n] (a decision or a function of report and freeze)."""

    script: dict[int, object] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    frozen: dict[int, str] = field(default_factory=dict)
    memory: int = 0

    def after_epoch(self, report, freeze):
        torch.rand(3)
        self.asked.append(report.epoch)
        self.memory += 1
        self.frozen[report.epoch] = freeze().card.digest
        answer = self.script.get(report.epoch, Hold())
        return answer(report, freeze) if isinstance(answer, Callable) else answer

    def at_end(self, report):
        self.ended.append(report.epoch)
        return self.script.get("end", Hold("stop", ("steps used up",)))

    def keeps(self):
        return tuple(self.kept)

    def state(self):
        return {"memory": self.memory}

    def restore(self, state, load):
        self.memory = state["memory"]
