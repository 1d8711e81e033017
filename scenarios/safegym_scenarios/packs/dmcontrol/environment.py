"""A task of the control suite as a Gymnasium environment."""

from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

Observation = NDArray[np.float64]


class SuiteEnv(gym.Env[Observation, NDArray[np.float64]]):
    """`suite.load(domain, task)`; a seed builds it afresh, since its tasks draw from one stream.

    Observation: the task's arrays one after the other, in its order. A time step of type LAST with
    discount 0 is a termination; the suite's time limit is not passed on.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, domain: str, task: str, render_mode: str | None = None) -> None:
        self.domain, self.task, self.render_mode = domain, task, render_mode
        self._env = self._load(0)
        spec = self._env.action_spec()
        self.action_space = gym.spaces.Box(
            np.broadcast_to(spec.minimum, spec.shape).astype(np.float64),
            np.broadcast_to(spec.maximum, spec.shape).astype(np.float64),
            dtype=np.float64,
        )
        size = len(self._flat(self._env.reset().observation))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float64)

    def _load(self, seed: int) -> Any:
        suite: Any = import_module("dm_control.suite")

        return suite.load(
            self.domain, self.task, task_kwargs={"random": seed, "time_limit": float("inf")}
        )

    @property
    def physics(self) -> Any:
        """Of the suite: model and data are `physics.model.ptr`, `physics.data.ptr`."""
        return self._env.physics

    @property
    def dt(self) -> float:
        """Control step in s."""
        return float(self._env.control_timestep())

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """An episode of the task; the seed decides it."""
        super().reset(seed=seed)
        self._env.task._random = np.random.RandomState(int(self.np_random.integers(2**31)))
        return self._flat(self._env.reset().observation), {}

    def step(
        self, action: NDArray[np.float64]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One control step."""
        found = self._env.step(np.asarray(action, np.float64))
        over = bool(found.last() and found.discount == 0.0)
        return self._flat(found.observation), float(found.reward or 0.0), over, False, {}

    def _flat(self, observation: Any) -> Observation:
        parts = [np.ravel(np.asarray(part, np.float64)) for part in observation.values()]
        return np.concatenate(parts)

    def render(self) -> Any:
        """A picture (480, 640, 3) uint8."""
        if self.render_mode != "rgb_array":
            return None
        return self.physics.render(480, 640, camera_id=0 if self.physics.model.ncam else -1)
