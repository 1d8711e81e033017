"""What a policy remembers from step to step: an episode's memory never reaches another episode."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.policy.base import Array, Policy


class Memory:
    """Asks a policy for actions, and hands each episode's state back to that episode.

    A policy of a width above 1 always sees all rows at their places, so that its state is one for
    all of them. One of width 1 sees the running rows only, and those change: if it has a state, it
    is asked row by row, each with the state of its own episode, None at first.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._compact = policy.card.width == 1
        self._shared: Any = None
        self._own: dict[int, Any] = {}

    def forget(self, slot: int) -> None:
        """The episode in this slot is over."""
        self._own.pop(slot, None)

    def forget_all(self) -> None:
        """Begins anew."""
        self._shared = None
        self._own.clear()

    def ask(
        self, observations: Array, starts: NDArray[np.bool_], slots: Sequence[int]
    ) -> tuple[Any, int]:
        """The policy's actions and how many there must be. It sees copies, and may write there.

        observations, starts: of all slots. slots: those in which an episode runs.
        """
        if not self._compact:
            seen = observations.copy()
            found, self._shared = self._policy.act(seen, self._shared, starts.copy())
            return found, len(observations)
        if not self._own:
            rows = list(slots)
            found, state = self._policy.act(observations[rows], None, starts[rows])
            if state is None:
                return found, len(rows)
            if len(rows) == 1:
                self._own[rows[0]] = state
                return found, 1
        parts = [self._alone(observations, starts, slot) for slot in slots]
        return np.concatenate(parts), len(slots)

    def _alone(self, observations: Array, starts: NDArray[np.bool_], slot: int) -> Array:
        row = [slot]
        found, state = self._policy.act(observations[row], self._own.get(slot), starts[row])
        self._own[slot] = state
        return np.asarray(found)
