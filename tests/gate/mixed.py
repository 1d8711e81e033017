"""A scenario on which a claim of every kind has an exactly known truth.

Each episode draws, from its own seed, a wind, whether the hazard comes (with one probability in
strong wind and another in calm), a margin, and how many of its ten samples are good. Recorder,
campaign, monitor, statistics, ledger and log are the real thing.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.formula.build import always, eventually, fraction, mean, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

HAZARD = Signal("hazard", "1", bounds=(0.0, 1.0), hold="max")
WIND = Signal("wind", "m/s", bounds=(0.0, 10.0))
MARGIN = Signal("margin", "m", bounds=(-1.0, 1.0))
DUTY = Signal("duty", "1", bounds=(0.0, 1.0))
SAMPLES = 10
STRONG = 5.0

FAILS = eventually(HAZARD >= 0.5)
WINDY = always(WIND >= STRONG)


def given(threshold: float, confidence: float = 0.95) -> Claim:
    """P(hazard | strong wind) < threshold."""
    return Claim("m.given", prob(FAILS, given=WINDY) < threshold, confidence=confidence)


def any_(threshold: float, confidence: float = 0.95) -> Claim:
    """P(hazard) < threshold."""
    return Claim("m.any", prob(FAILS) < threshold, confidence=confidence)


def margin(q: float, beats: float, confidence: float = 0.95) -> Claim:
    """All but less than a share q of the episodes keep a margin above `beats`."""
    return Claim("m.margin", quantile(always(MARGIN >= 0.0), q) > beats, confidence=confidence)


def duty(threshold: float, confidence: float = 0.95) -> Claim:
    """The mean share of good samples is at least the threshold."""
    return Claim("m.duty", mean(fraction(DUTY >= 0.5)) >= threshold, confidence=confidence)


class Mixed(gym.Env[Any, Any]):
    """windy, calm: probabilities of the hazard. good: the least of the ten samples that are good.

    The margin is even in [-1, 1] scaled to [low, 1]; the number of good samples is even in
    good..10, so the mean share is (good + 10) / 20. Wind is even in [0, 10].
    """

    def __init__(self, windy: float, calm: float, low: float, good: int) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.windy, self.calm, self.low, self.good = windy, calm, low, good
        self.values = (0.0, 0.0, 0.0, 0.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        asked = (options or {}).get("parameters", {})
        wind = float(self.np_random.uniform(0.0, 10.0))
        self.draw = float(self.np_random.random())
        self.margin = float(self.np_random.uniform(self.low, 1.0))
        self.share = int(self.np_random.integers(self.good, SAMPLES + 1))
        self.wind = float(asked.get("wind", wind))
        self.stuck = float(asked.get("stuck", 0.0))
        self.step_ = 0
        self._see(0.0)
        parameters = {"wind": self.wind, "stuck": self.stuck}
        return np.zeros(1, np.float32), {"parameters": parameters}

    def _see(self, hazard: float) -> None:
        self.values = (hazard, self.wind, self.margin, float(self.step_ < self.share))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.step_ += 1
        last = self.step_ == SAMPLES - 1
        likely = self.windy if self.wind >= STRONG else self.calm
        fails = self.draw < likely or self.stuck > 0.0
        self._see(float(last and fails))
        info = {"terminal": "done"} if last else {}
        return np.zeros(1, np.float32), 0.0, last, False, info


def read(env: Any) -> tuple[float, ...]:
    return tuple(env.values)


def mixed_spec(
    *claims: Claim, windy: float = 0.0, calm: float = 0.0, low: float = 0.0, good: int = 9
) -> ScenarioSpec:
    """The scenario with those probabilities, gated on those claims."""
    return ScenarioSpec(
        name="test/mixed-v0",
        summary="an episode of which every kind of claim has a known truth",
        make_env=partial(Mixed, windy, calm, low, good),
        read_signals=read,
        signals=(HAZARD, WIND, MARGIN, DUTY),
        clock=Clock(Fraction(1, 10)),
        horizon=SAMPLES,
        claims=claims,
        parameters=(Parameter("wind", "m/s", 0.0, 10.0),),
        faults=(Parameter("stuck", "1", 0.0, 1.0, default=0.0),),
        terminals={"done": "absorbed"},
        physics=("gymnasium",),
    )
