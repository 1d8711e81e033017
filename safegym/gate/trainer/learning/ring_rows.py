"""Which row of a replay ring holds which step of which episode."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from safegym.errors import GateError

BUFFER_SIZE = 1_000_000
"""Transitions that a replay buffer holds where `buffer_size` is not given, over all slots."""


@dataclass(slots=True)
class _Open:
    """The open episode of a slot. first: the row of its first action, < 0 where it is lost."""

    episode: int
    first: int


@dataclass(slots=True)
class RingRows:
    """The map (slot, episode, step) -> row, and which rows were overwritten.

    A ring of `size` rows is written one row a vector step, a column for each slot. Rows are
    counted from 0 for the whole run, so row n stands at position n % size until row n + size
    overwrites it. A row below 0 belongs to an episode whose beginning went with an earlier process.

    size: rows of the ring. added: rows written so far.
    """

    size: int
    slots: int
    added: int = 0
    _open: list[_Open] = field(default_factory=list[_Open])
    _ended: dict[tuple[int, int], tuple[int, int]] = field(
        default_factory=dict[tuple[int, int], tuple[int, int]]
    )

    def begin(self, episodes: Sequence[int], steps: Sequence[int]) -> None:
        """Number the open episodes, one a slot, and tell how many steps each has taken already."""
        if len(episodes) != self.slots or len(steps) != self.slots:
            raise GateError(f"The replay buffer has {self.slots} slots, not {len(episodes)}.")
        self._open = [
            _Open(episode, self.added - taken)
            for episode, taken in zip(episodes, steps, strict=True)
        ]
        self._ended = {}

    def forget_ended(self) -> None:
        """Forget the episodes that ended: a new rollout begins, the last one was judged."""
        self._ended = {}

    def add(self, dones: NDArray[np.bool_]) -> None:
        """One more row was written. dones: shape (slots,), whether its step ended the episode."""
        row = self.added
        self.added += 1
        for slot in np.flatnonzero(dones).tolist():
            episode = self._open[slot]
            self._ended[slot, episode.episode] = (episode.first, row + 1 - episode.first)
            self._open[slot] = _Open(episode.episode + 1, row + 1)

    @property
    def oldest(self) -> int:
        """The oldest row that still stands in the ring."""
        return max(0, self.added - self.size)

    def stands(self, row: int) -> bool:
        """Whether the row was written by this run's ring and is not overwritten."""
        return self.oldest <= row < self.added

    def row(self, slot: int, episode: int, step: int) -> int | None:
        """The row of action `step` (from 0) of an episode that ended in this rollout.

        None where it was overwritten or never written here.
        Raises GateError where no such episode ended, or it had not so many steps.
        """
        if (slot, episode) not in self._ended:
            raise GateError(
                f"Episode {episode} of slot {slot} did not end in this rollout; the replay buffer "
                "holds no row of it that may be changed."
            )
        first, length = self._ended[slot, episode]
        if not 0 <= step < length:
            raise GateError(f"Episode {episode} of slot {slot} has {length} steps, not {step + 1}.")
        return first + step if self.stands(first + step) else None

    def length(self, slot: int, episode: int) -> int:
        """Steps of an episode that ended in this rollout. Raises GateError if none did."""
        self.row(slot, episode, 0)
        return self._ended[slot, episode][1]


def refuse_short_ring(size: int, slots: int, *, horizon: int, rollout: int) -> None:
    """Raises GateError unless a ring of `size` transitions holds an episode of each slot, judged.

    rollout: steps of each slot between two updates. An episode may end with the first of them and
    is judged after the last, so a shorter ring would overwrite rows before that.
    """
    rows, least = max(size // slots, 1), horizon + rollout - 1
    if rows < least:
        raise GateError(
            f"buffer_size={size} holds {rows} steps of each of {slots} environments, and an "
            f"episode has up to {horizon}, judged up to {rollout - 1} steps later: its rows would "
            f"be overwritten before that. buffer_size={least * slots} is the least."
        )
