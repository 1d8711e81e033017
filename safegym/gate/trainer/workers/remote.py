"""What the driver holds of a slot that runs in a worker: enough to run its open episode again."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import GateError
from safegym.gate.trainer.slots import FinishedEpisode, Start, not_finite
from safegym.gate.trainer.workers.block import Recalled
from safegym.trace.model import Trace


class RemoteSlot:
    """A `Slot` whose environment is elsewhere. actions: those of the open episode."""

    def __init__(self, slot: int, prefix_of: Callable[[int], Trace]) -> None:
        self.slot = slot
        self.row = 0
        self.start = Start(episode=-1, seed=0)
        self.finished: list[FinishedEpisode] = []
        self.is_open = False
        self._prefix_of = prefix_of
        self._actions: list[Any] = []
        self._rewards: list[np.float32] = []
        self._seen: Any = None

    def begin_rollout(self) -> None:
        """Count rollout steps from 0 and forget the episodes of the last rollout."""
        self.row = 0
        self.finished = []

    def begin(self, start: Start) -> None:
        """The slot's next episode is about to begin; its first observation is not there yet."""
        self.start, self.is_open = start, False
        self._actions, self._rewards = [], []

    def began(self, observation: Any) -> None:
        """The episode has begun."""
        self.is_open, self._seen = True, observation

    def stepped(self, action: Any, reward: np.float32, observation: Any) -> None:
        """The open episode has gone one step on."""
        self._actions.append(np.array(action))
        self._rewards.append(reward)
        self._seen = observation
        self.row += 1

    def ended(self, trace: Trace, terms: Mapping[str, float]) -> None:
        """The open episode has ended with the last step."""
        self.finished.append(FinishedEpisode(self.slot, self.start, trace, self.row - 1, terms))
        self.is_open = False

    def taken(self) -> NDArray[Any]:
        """Actions of the open episode, shape (steps, ...)."""
        return np.array(self._actions)

    def resumed(self, start: Start, actions: NDArray[Any], recalled: Recalled) -> None:
        """The episode was run again from a checkpoint's actions."""
        self.begin(start)
        self._actions, self._rewards = list(actions), list(recalled.rewards)
        self.began(recalled.observation)
        self.begin_rollout()

    def check_same(self, recalled: Recalled) -> None:
        """Raises GateError if the episode that was run again is not the one that was lost."""
        rewards = np.array(self._rewards, np.float32)
        same = np.array_equal(recalled.observation, self._seen, equal_nan=True)
        if not same or not np.array_equal(recalled.rewards, rewards, equal_nan=True):
            raise GateError(
                f"A rollout worker died, and running the open episode of slot {self.slot} again "
                f"from seed {self.start.seed} gave other samples: the scenario is not determined "
                "by seed and actions. The last checkpoint is kept."
            )

    def prefix(self) -> Trace:
        """The open episode so far. Raises GateError where a number in it is not finite."""
        return self._prefix_of(self.slot)

    def not_finite(self, what: str) -> GateError:
        """The error for a number that is not finite."""
        return not_finite(what, self.slot, self.start)
