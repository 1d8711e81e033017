"""One copy of an envpool task as a Gymnasium environment."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym_scenarios.packs.envpool.making import pool, spaces_of

LONGEST = 1_000_000
"""Steps after which envpool would truncate: the scenario's horizon comes first."""


class PoolEnv(gym.Env[NDArray[Any], Any]):
    """An envpool task with one copy; a seed builds the pool afresh, since a pool is seeded once.

    Observation: the task's arrays one after the other, in its order. `parts` holds them by name
    ("" where the task has one array), `last_reward` the newest reward. Seeds are taken modulo 2^31:
    envpool's are of 32 bits, with a sign.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, task: str) -> None:
        self.task, self.render_mode = task, None
        self._pool: Any = self._build(0)
        self._space = spaces_of(self._pool)[1]
        observation = self._note(self._pool.reset()[0])
        self.observation_space = spaces.Box(
            -np.inf, np.inf, observation.shape, observation.dtype.type
        )
        self.action_space = self._own_space()
        self.last_reward = 0.0

    def _build(self, seed: int) -> Any:
        named = {"num_envs": 1, "num_threads": 1, "max_episode_steps": LONGEST}
        return pool(self.task, seed=seed, **named)

    def _own_space(self) -> Any:
        """Envpool's action space as one of Gymnasium's, apart from the pool's own object."""
        found = self._space
        if isinstance(found, spaces.Discrete):
            return spaces.Discrete(int(found.n))
        return spaces.Box(found.low, found.high, found.shape, found.dtype.type)

    def _note(self, found: Any) -> NDArray[Any]:
        parts = found if isinstance(found, dict) else {"": found}
        self.parts = {name: np.array(part[0]) for name, part in parts.items()}
        return np.concatenate([part.ravel() for part in self.parts.values()])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode; without a seed the pool goes on drawing from its stream."""
        super().reset(seed=seed)
        if seed is not None:
            self._pool.close()
            self._pool = self._build(int(seed) % 2**31)
        self.last_reward = 0.0
        return self._note(self._pool.reset()[0]), {}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """One step of the one copy."""
        whole = isinstance(self._space, spaces.Discrete)
        row = np.asarray(action, np.int32 if whole else self._space.dtype)[None]
        observation, reward, terminated, truncated, _ = self._pool.step(row)
        self.last_reward = float(reward[0])
        ended = bool(terminated[0]), bool(truncated[0])
        return self._note(observation), self.last_reward, *ended, {}

    def close(self) -> None:
        """Let the pool go."""
        self._pool.close()
