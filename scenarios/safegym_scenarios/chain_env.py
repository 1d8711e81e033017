"""A finite Markov decision process as a Gymnasium environment that draws exactly."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from safegym.errors import ScenarioError
from safegym_scenarios.chain_model import ChainModel, Row

Drawn = tuple[int, list[int], list[int]]
"""Sum of the weights, their running sums, and the states' numbers."""


class ChainEnv(gym.Env[Any, Any]):
    """Observes the state's number, in the order of `model.states`; acts by the action's number.

    A move is drawn as one whole number below the sum of the row's weights, which numpy draws
    without bias, so the declared probability is the real one; a row with one successor draws
    nothing. Reward -1 where the episode ends by a failure, else 0. `values` are the signals now.
    """

    def __init__(self, model: ChainModel) -> None:
        self.model = model
        self.observation_space = spaces.Discrete(len(model.states))
        self.action_space = spaces.Discrete(model.actions)
        numbers = {state: number for number, state in enumerate(model.states)}
        self._initial = _drawn(model.initial, numbers)
        self._moves = [
            [_drawn(row, numbers) for row in model.moves.get(state, ())] for state in model.states
        ]
        self._kinds = [model.terminals.get(state) for state in model.states]
        self._rows = [tuple(map(float, model.values[state])) for state in model.states]
        self._at = 0

    @property
    def values(self) -> tuple[float, ...]:
        """The value of each signal in the state as it is."""
        return self._rows[self._at]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Draws the state at sample 0."""
        super().reset(seed=seed)
        self._at = self._draw(self._initial)
        return self._at, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Draws the next state. Raises ScenarioError at a terminal."""
        rows = self._moves[self._at]
        if not rows:
            raise ScenarioError("This episode has ended; call reset() before step().")
        self._at = at = self._draw(rows[int(action)])
        kind = self._kinds[at]
        if kind is None:
            return at, 0.0, False, False, {}
        return at, -1.0 if kind == "failed" else 0.0, True, False, {"terminal": kind}

    def get_state(self) -> int:
        """The number of the state: all there is besides the generator."""
        return self._at

    def set_state(self, state: int) -> None:
        """Goes to a state that `get_state` gave."""
        self._at = int(state)

    def _draw(self, row: Drawn) -> int:
        total, sums, numbers = row
        if len(numbers) == 1:
            return numbers[0]
        return numbers[bisect_right(sums, int(self.np_random.integers(total)))]


def read_signals(env: Any) -> tuple[float, ...]:
    """The signals, in the model's order."""
    values: tuple[float, ...] = env.values
    return values


def _drawn(row: Row, numbers: dict[str, int]) -> Drawn:
    sums = list(accumulate(weight for _, weight in row))
    return sums[-1], sums, [numbers[state] for state, _ in row]
