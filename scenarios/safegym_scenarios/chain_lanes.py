"""Many independent chains in one episode: one campaign then serves many repeats of a test.

Lane k fails with its own rational probability, independently of all others, and has its own claim.
The episode lasts as long as its slowest lane: a lane that fails always runs for the failing length,
so that for every lane outcome and finishing order depend on each other as in a single chain.
"""

from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.chain_fork import CLOCK, careful


class LanesEnv(gym.Env[Any, Any]):
    """Lane k of `hazards` is 1 at the last sample with probability failures[k], exactly, else 0.

    lengths: steps of an episode in which (no lane, some lane) fails. Each lane's outcome is one
    whole number below the common denominator, drawn by numpy without bias.
    """

    def __init__(self, failures: tuple[str, ...], lengths: tuple[int, int]) -> None:
        self.observation_space = spaces.Discrete(1)
        self.action_space = spaces.Discrete(2)
        shares = [Fraction(failure) for failure in failures]
        self._total = lcm(*(share.denominator for share in shares))
        self._below = np.array([int(share * self._total) for share in shares], np.int64)
        self._lengths = lengths
        self._quiet = np.zeros(len(failures))
        self.hazards: NDArray[np.float64] = self._quiet
        self._fails: NDArray[np.bool_] | None = None
        self._left = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Draws every lane's outcome."""
        super().reset(seed=seed)
        drawn = self.np_random.integers(self._total, size=len(self._below))
        fails = drawn < self._below
        self._fails = fails
        self._left = self._lengths[bool(fails.any())]
        self.hazards = self._quiet
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """One step; at the last one the lanes show how they came out."""
        self._left -= 1
        if self._left or self._fails is None:
            return 0, 0.0, False, False, {}
        self.hazards = self._fails.astype(np.float64)
        return 0, 0.0, True, False, {"terminal": "done"}


def read_hazards(env: Any) -> tuple[NDArray[np.float64]]:
    """The one signal."""
    return (env.hazards,)


def lanes_claims(count: int, threshold: float) -> tuple[Claim, ...]:
    """One claim a lane: that it fails with probability below the threshold."""
    signal = _signal(count)
    return tuple(
        Claim(
            id=f"lane.{k:03d}",
            statement=prob(eventually(signal[k] >= 0.5)) < threshold,
            confidence=0.95,
        )
        for k in range(count)
    )


def make_lanes(failures: tuple[str, ...], lengths: tuple[int, int]) -> LanesEnv:
    """The environment."""
    return LanesEnv(failures, lengths)


def lanes(
    name: str, failures: tuple[str, ...], lengths: tuple[int, int], threshold: float
) -> ScenarioSpec:
    """The scenario of these lanes under a name of your own."""
    return ScenarioSpec(
        name=name,
        summary=f"{len(failures)} independent chains in one episode.",
        make_env=partial(make_lanes, failures, lengths),
        read_signals=read_hazards,
        signals=(_signal(len(failures)),),
        clock=CLOCK,
        horizon=max(lengths) + 1,
        claims=lanes_claims(len(failures), threshold),
        terminals={"done": "absorbed"},
        good=careful,
        physics=("gymnasium",),
    )


def _signal(count: int) -> Signal:
    return Signal("hazards", "1", shape=(count,), bounds=(0.0, 1.0))
