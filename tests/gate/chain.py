"""A scenario whose failure probability is known exactly, for tests of the whole gate.

Each episode draws, from its own seed, whether it fails; failing and safe episodes have their own
lengths, so that finishing order and outcome can be made to depend on each other as badly as
wished. Everything else (recorder, campaign, monitor, e-process, ledger, log) is the real thing.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

HAZARD = Signal("hazard", "1", bounds=(0.0, 1.0), hold="max")
SAFE = Claim(id="chain.safe", statement=prob(eventually(HAZARD >= 0.5)) < 0.01, confidence=0.95)


class Chain(gym.Env[Any, Any]):
    """Fails with probability `failure` at the last step; `lengths` = (safe, failing) steps."""

    def __init__(self, failure: float, lengths: tuple[int, int]) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.failure = failure
        self.lengths = lengths
        self.hazard = 0.0
        self._observation = np.zeros(1, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.fails = bool(self.np_random.random() < self.failure)
        self.left = self.lengths[self.fails]
        self.hazard = 0.0
        return self._observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        done = self.left == 0
        self.hazard = float(done and self.fails)
        info = {"terminal": "done"} if done else {}
        return self._observation, 0.0, done, False, info


def read(env: Any) -> tuple[float]:
    return (env.hazard,)


def chain_spec(failure: float, lengths: tuple[int, int] = (1, 1)) -> ScenarioSpec:
    """The scenario with P(hazard) = failure exactly."""
    return ScenarioSpec(
        name="test/chain-v0",
        summary="an episode that fails with a known probability",
        make_env=partial(Chain, failure, lengths),
        read_signals=read,
        signals=(HAZARD,),
        clock=Clock(Fraction(1, 10)),
        horizon=max(lengths) + 1,
        claims=(SAFE,),
        terminals={"done": "absorbed"},
        physics=("gymnasium",),
    )


def still(name: str) -> ScriptedPolicy:
    """A policy that does nothing; the name makes its digest."""
    return ScriptedPolicy(name, lambda observations: np.zeros((len(observations), 1), np.float32))


class Acted(Chain):
    """Fails with the probability that the last action names, from 0 to 1."""

    def __init__(self) -> None:
        super().__init__(0.0, (1, 1))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        found = super().reset(seed=seed, options=options)
        self.draw = self.np_random.random()
        return found

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.fails = bool(self.draw < float(action[0]))
        return super().step(action)


def acted_spec() -> ScenarioSpec:
    """The scenario in which the policy decides P(hazard)."""
    return replace(chain_spec(0.0), name="test/acted-v0", make_env=Acted)


def failing(name: str, probability: float) -> ScriptedPolicy:
    """A policy that fails with that probability."""
    return ScriptedPolicy(
        name, lambda observations: np.full((len(observations), 1), probability, np.float32)
    )
