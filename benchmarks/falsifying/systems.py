"""Piecewise-constant systems whose smallest counterexamples are known, as scenarios.

`switches`: each of ten pieces counts with a sign of its own; six of them at a limit are needed.
`resonance`: an undamped spring that must be pushed to and fro at its own pace.
`needle`: only near one inner point, which no corner comes near.
`leak`: a fault and one piece together; neither does it alone.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import cos, pi, sin
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

LEVEL = Signal("level", unit="m", scale=1.0)
HORIZON = 40
PIECES = 10
PARAMETERS = (
    Parameter("load", "kg", 0.0, 2.0, 0.5),
    Parameter("start", "m", -1.0, 1.0, 0.0, role="initial"),
)
FAULTS = (Parameter("leak", "1", 0.0, 1.0, 0.0),)
PUSH = Disturbance("push", "N", -1.0, 1.0, PIECES)
INPUTS = Inputs(HORIZON, PARAMETERS, FAULTS, (PUSH,))
SIGNS = (1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0)
Rule = Callable[[Mapping[str, Any]], float]
Seen = NDArray[np.float32]

LIMITS = {"switches": 5.5, "resonance": 2.1, "needle": 0.93, "leak": 0.95}
SMALLEST = {"switches": 6, "leak": 2}
"""Components of a smallest counterexample, by hand."""


def switches(given: Mapping[str, Any]) -> float:
    """The sum of the pieces, each with its sign."""
    return sum(sign * push for sign, push in zip(SIGNS, given["push"], strict=True))


def resonance(given: Mapping[str, Any]) -> float:
    """Amplitude of x'' = -w^2 x + push after the last piece, w = 2 pi / (4 pieces), exactly."""
    turn = 2.0 * pi / 4.0
    x, v = given["start"] * 0.1, 0.0
    for push in given["push"]:
        x, v = (
            push + (x - push) * cos(turn) + v * sin(turn),
            -(x - push) * sin(turn) + v * cos(turn),
        )
    return float(np.hypot(x, v)) / 4.0


def needle(given: Mapping[str, Any]) -> float:
    """1 at one inner point, less by the largest distance from it."""
    gaps = (given["load"] - 1.3, given["start"] - 0.4, given["push"][3] + 0.2)
    return 1.0 - max(abs(gap) for gap in gaps)


def leak(given: Mapping[str, Any]) -> float:
    """The fault times the strongest push."""
    return float(given["leak"] * max(given["push"]))


RULES: dict[str, Rule] = {
    "switches": switches,
    "resonance": resonance,
    "needle": needle,
    "leak": leak,
}


class Tank(gym.Env[Seen, Seen]):
    """Rises evenly to what its rule says of what reset was given."""

    def __init__(self, name: str) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self._rule = RULES[name]
        self._height, self._count = 0.0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Draw, or take, what decides the episode."""
        super().reset(seed=seed)
        drawn = INPUTS.draw(self.np_random, options)
        push = drawn.disturbances.get("push", (0.0,) * PIECES)
        self._height = self._rule({**drawn.parameters, "push": push})
        self._count = 0
        return self._seen(), drawn.info

    def step(self, action: Seen) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Rise one step."""
        self._count += 1
        return self._seen(), 0.0, False, False, {}

    @property
    def level(self) -> float:
        """The level in m."""
        return self._height * self._count / HORIZON

    def _seen(self) -> Seen:
        return np.array((self.level,), np.float32)


def read_level(env: Any) -> tuple[float, ...]:
    """The declared signal."""
    return (env.level,)


def idle() -> ScriptedPolicy:
    """A policy that does nothing."""
    return ScriptedPolicy("tank.idle", nothing)


def nothing(observations: Seen) -> Seen:
    """No action."""
    return np.zeros((len(observations), 1), np.float32)


def tank(name: str) -> ScenarioSpec:
    """The system of that name."""
    return ScenarioSpec(
        name=f"benchmark/{name}-v0",
        summary="A piecewise-constant system.",
        make_env=partial(Tank, name),
        read_signals=read_level,
        signals=(LEVEL,),
        clock=Clock(Fraction(1, 10)),
        horizon=HORIZON,
        claims=(Claim("tank.over", never(LEVEL > LIMITS[name])),),
        parameters=PARAMETERS,
        faults=FAULTS,
        disturbances=(PUSH,),
        good=idle,
        physics=("gymnasium",),
    )
