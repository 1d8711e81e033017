"""Whether a scenario's environment is one: it is made, reset and stepped on its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.wrap import make

LARGEST = 2**63 - 1
"""The largest seed that a campaign gives."""


def stumbles(spec: ScenarioSpec, steps: int = 3) -> Iterator[str]:
    """A sentence for each way in which a few steps with random actions go wrong."""
    env = make(spec)
    try:
        space: Any = env.observation_space
        observation, _ = env.reset(seed=LARGEST)
        if not space.contains(observation):
            yield f"The first observation lies outside the space {space}."
        env.action_space.seed(0)
        for _ in range(steps):
            observation, reward, terminated, *_ = env.step(env.action_space.sample())
            if not space.contains(observation):
                yield f"An observation lies outside the space {space}: {observation}."
                return
            if not np.isfinite(float(reward)):
                yield f"A reward is {float(reward)}; it must be finite."
                return
            if terminated:
                return
    finally:
        env.close()
