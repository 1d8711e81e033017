"""Any envpool task with as many copies as one likes, for `TensorRecorder`.

recorder = TensorRecorder(EnvPoolTensors("Hopper-v5", 256), signals=(HEIGHT,), horizon=1000,
                          read=lambda env: (env.entry(0),), clock=Clock.parse("0.008"),
                          autoreset="next step")
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym_scenarios.packs.envpool.making import pool, spaces_of, tasks


class EnvPoolTensors:
    """`copies` copies of an envpool task, stepped together in envpool's own threads.

    envpool resets a copy in the step after the one that ended it, ignores that step's action and
    gives it reward 0: this is `autoreset="next step"`, and the last observation of an episode is
    what the step that ended it returned. Copy i draws from envpool's stream of seed `seed` + i, so
    copy i under seed s and copy 0 under seed s + i have the same episodes; give runs that are to be
    independent seeds farther apart than `copies`.

    horizon: steps after which envpool truncates, its own choice where None; give the recorder the
    same. threads: envpool's, 0 for its own choice. `observations` are the newest ones (an array, or
    a dictionary of arrays), `info` envpool's newest info. `dones` (copies,) says which copies the
    last step ended. Raises ScenarioError for a task that envpool does not have or that steps
    several players, ImportError without envpool.
    """

    def __init__(
        self,
        task: str,
        copies: int,
        seed: int = 0,
        *,
        horizon: int | None = None,
        threads: int = 0,
    ) -> None:
        version, known = tasks()
        if task not in known:
            near = ", ".join(get_close_matches(task, known, n=3)) or f"{len(known)} others"
            raise ScenarioError(f"envpool {version} has no task {task!r}; it has {near}.")
        if copies < 1 or (horizon is not None and horizon < 1):
            raise ScenarioError(f"copies and horizon are at least 1, found {copies}, {horizon}.")
        self.task, self.num_envs = task, copies
        self._named: dict[str, Any] = {"num_threads": threads} if threads else {}
        if horizon is not None:
            self._named["max_episode_steps"] = horizon
        self._open(seed)
        if int(getattr(self._pool.spec.config, "max_num_players", 1)) != 1:
            self.close()
            raise ScenarioError(f"Task {task} has several players; a trace is of one.")

    def _open(self, seed: int) -> None:
        if not 0 <= seed <= 2**31 - 1 - self.num_envs:
            raise ScenarioError(
                f"seed is {seed}; envpool takes 0 to {2**31 - 1 - self.num_envs} for "
                f"{self.num_envs} copies."
            )
        self._seed, self._fresh = seed, True
        self._pool: Any = pool(self.task, num_envs=self.num_envs, seed=seed, **self._named)
        self.observation_space, self.action_space = spaces_of(self._pool)
        self.observations: Any = None
        self.info: Mapping[str, Any] = {}
        self.dones = np.zeros(self.num_envs, np.bool_)

    @property
    def horizon(self) -> int:
        """Steps after which envpool truncates an episode."""
        return int(self._pool.spec.config.max_episode_steps)

    def entry(self, index: int | tuple[int, ...], key: str = "") -> NDArray[np.float64]:
        """Entry `index` of every copy's newest observation, (copies,); `key` where it has names."""
        part = self.observations[key] if key else self.observations
        where = index if isinstance(index, tuple) else (index,)
        rows: Any = np.asarray(part, np.float64)
        found: NDArray[np.float64] = rows[(slice(None), *where)]
        return found

    def reset(self, *, seed: int | None = None) -> tuple[Any, Mapping[str, Any]]:
        """Every copy begins its first episode of this seed; the pool is built afresh for it.

        seed: as given at first where None.
        """
        wanted = self._seed if seed is None else int(seed)
        if wanted != self._seed or not self._fresh:
            self.close()
            self._open(wanted)
        self._fresh = False
        self.observations, self.info = self._pool.reset()
        return self.observations, self.info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Mapping[str, Any]]:
        """One step of every copy; of those that ended before, a reset."""
        discrete = isinstance(self.action_space, spaces.Discrete)
        rows = np.asarray(actions, np.int32 if discrete else self.action_space.dtype)
        self.observations, rewards, terminated, truncated, self.info = self._pool.step(rows)
        self.dones = terminated | truncated
        return self.observations, rewards, terminated, truncated, self.info

    def close(self) -> None:
        """Let the pool go."""
        self._pool.close()
