"""A scenario in which a policy's strength decides exactly which starts it passes.

Each episode draws a gust in [0, 1] and lasts one step; the action is the strength that meets it.
The claim fails exactly where the gust is stronger.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.formula.build import always, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

DRIFT = Signal("drift", "m", scale=1.0)
KEEPS = always(DRIFT <= 0.0)
STAYS = Claim("gusty.stays", prob(KEEPS) > 0.9)
HOLDS = Claim("gusty.holds", KEEPS)
GUST = Parameter("gust", "m", 0.0, 1.0, 0.0, "how far the gust pushes")
INPUTS = Inputs(2, (GUST,), (), ())


class Gusty(gym.Env[Any, Any]):
    """reward: what a push past the limit costs, and `effort` times the strength."""

    def __init__(self, effort: float) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(0.0, 1.0, (1,), np.float32)
        self.effort, self.drift, self.gust = effort, 0.0, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = INPUTS.draw(self.np_random, options)
        self.gust, self.drift = drawn.parameters["gust"], 0.0
        return np.array((self.gust,), np.float32), drawn.info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        strength = float(action[0])
        self.drift = self.gust - strength
        reward = -10.0 * max(0.0, self.drift) - self.effort * strength
        return np.array((self.gust,), np.float32), reward, True, False, {"terminal": "done"}


def read_drift(env: Any) -> tuple[float]:
    return (env.drift,)


def gusty_spec(*claims: Claim, effort: float = 0.5) -> ScenarioSpec:
    return ScenarioSpec(
        name="test/gusty-v0",
        summary="a gust against a strength",
        make_env=partial(Gusty, effort),
        read_signals=read_drift,
        signals=(DRIFT,),
        parameters=(GUST,),
        clock=Clock(Fraction(1, 10)),
        horizon=2,
        claims=claims or (STAYS,),
        terminals={"done": "absorbed"},
        physics=("gymnasium",),
    )


def strength(level: float) -> ScriptedPolicy:
    """Meets gusts up to `level`, so that it fails with probability 1 - level."""
    return ScriptedPolicy(
        f"strength {level}", lambda seen: np.full((len(seen), 1), level, np.float32)
    )
