"""The braking vehicle as a Gymnasium environment."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym_scenarios.braking_dynamics import HORIZON, INPUTS, advance, observe, signals, start

Observation = NDArray[np.float32]


class BrakingEnv(gym.Env[Observation, Observation]):
    """Stop before the line, on a road that rises and falls and in a wind; one step is 0.1 s.

    Observation: distance to the line / 50 m, speed / 20 m/s. Action in [-1, 1]: brake or
    accelerate. `reset(seed)` draws start, mass, grip, and every piece of the road's grade and of
    the wind; its options "parameters" and "disturbances" override them, and set faults, which no
    seed draws. info tells all of them. Never terminates.

    Reward: minus the share of the action used, minus 1 for each metre beyond the line and, at
    standstill, minus a tenth for each metre more than 3 before it.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-20.0, 20.0, (2,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.signals: tuple[float, ...] = ()
        self._parameters: dict[str, np.float64] = {}
        self._schedules: dict[str, tuple[float, ...]] = {}
        self._state: tuple[Any, ...] = ()
        self._step = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw an approach. Raises ScenarioError for an unknown input or one out of its range."""
        super().reset(seed=seed)
        drawn = INPUTS.draw_pieces(self.np_random, INPUTS.draw(self.np_random, options))
        self._parameters = {name: np.float64(value) for name, value in drawn.parameters.items()}
        self._schedules = {
            each.name: drawn.schedule(each.name) or () for each in INPUTS.disturbances
        }
        self._state, self._step = start(np, self._parameters), 0
        self._note()
        return self._observe(), drawn.info

    def step(self, action: Observation) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive 0.1 s."""
        step = min(self._step, HORIZON - 1)
        pushes = {name: np.float64(values[step]) for name, values in self._schedules.items()}
        self._state = advance(
            np, self._state, np.asarray(action)[0], self._parameters, pushes, self._step
        )
        self._step += 1
        self._note()
        distance, speed, _ = self.signals
        reward = -0.01 * abs(float(action[0])) - max(0.0, -distance)
        reward -= 0.1 * max(0.0, distance - 3.0) if speed == 0.0 else 0.0
        return self._observe(), reward, False, False, {}

    def _note(self) -> None:
        self.signals = tuple(map(float, signals(np, self._state)))

    def _observe(self) -> Observation:
        return np.array(observe(np, self._state), dtype=np.float32)


def read_signals(env: Any) -> tuple[float, ...]:
    """Values of the declared signals, in order."""
    values: tuple[float, ...] = env.signals
    return values
