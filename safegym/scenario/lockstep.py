"""Two episodes of one seed side by side, until the first sample at which they part."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.fitting import action_check
from safegym.scenario.memory import Memory
from safegym.scenario.spec import ScenarioSpec

Options = Mapping[str, Any]
Sample = tuple[NDArray[np.float64], ...]


class Side:
    """One environment under the scenario's good policy, without a recorder.

    Raises ScenarioError if the scenario has no good policy.
    """

    def __init__(self, spec: ScenarioSpec) -> None:
        if spec.good is None:
            raise ScenarioError(f"Scenario {spec.name} has no good policy to run.")
        self._spec, self._policy = spec, spec.good()
        self.env = spec.make_env()
        space = self.env.observation_space
        shape = (self._policy.card.width, *(space.shape or ()))
        self._observations = np.zeros(shape, space.dtype)
        self._check = action_check(self._policy, self.env.action_space)
        self._whole = isinstance(self.env.action_space, spaces.Discrete)
        self._memory = Memory(self._policy)

    def reset(self, seed: int, options: Options | None) -> dict[str, Any]:
        """Begins an episode; returns the info of reset."""
        observation, info = self.env.reset(seed=seed, options=dict(options or {}) or None)
        self._observations[0] = observation
        self._starts = np.ones(len(self._observations), np.bool_)
        self._memory.forget_all()
        begin = getattr(self._policy, "begin", None)
        if begin is not None:
            begin(0, seed)
        return dict(info)

    def step(self) -> bool:
        """One control step; returns whether the episode is over."""
        found, _ = self._memory.ask(self._observations, self._starts, [0])
        actions, _ = self._check(found)
        self._starts[0] = False
        action = actions.tolist()[0] if self._whole else actions[0]
        observation, _, terminated, truncated, _ = self.env.step(action)
        self._observations[0] = observation
        return bool(terminated or truncated)

    def read(self) -> Sample:
        """The signals of this sample."""
        return tuple(np.asarray(value) for value in self._spec.read_signals(self.env.unwrapped))

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def part(one: Side, other: Side, seed: int, options: tuple[Options, Options], steps: int) -> bool:
    """Whether the signals of two episodes differ at any sample of `steps` steps, or their lengths.

    Both begin with the same seed, each with its own options. Stops at the first difference.
    """
    sides = (one, other)
    for side, given in zip(sides, options, strict=True):
        side.reset(seed, given)
    for _ in range(steps):
        if _differ(one.read(), other.read()):
            return True
        over = [side.step() for side in sides]
        if any(over):
            return over[0] != over[1] or _differ(one.read(), other.read())
    return _differ(one.read(), other.read())


def _differ(one: Sample, other: Sample) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))
