"""What happened in all copies, step by step, kept on the device and fetched a stretch at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.tensors.arrays import on_host

Rows = Mapping[str, Any]
"""Name -> array (copies, ...), on whatever device."""
STRETCH = 64
"""Steps that stay on the device before they are fetched in one go."""


@dataclass(frozen=True, slots=True)
class Instant:
    """One step of all copies.

    after: signals when the step returned. final: signals just before copies were reset within the
    step, None where none was. ends: reason -> which copies ended so; `truncated` is one of them.
    actions (copies, ...), rewards (copies,).
    """

    after: Rows
    final: Rows | None
    actions: Any
    rewards: Any
    ends: Rows


@dataclass(frozen=True, slots=True)
class Stretch:
    """So many steps on the host, (steps, copies, ...); `first` is the number of its first step."""

    first: int
    after: dict[str, NDArray[Any]]
    final: dict[str, NDArray[Any]]
    actions: NDArray[Any]
    rewards: NDArray[Any]
    ends: dict[str, NDArray[np.bool_]]

    @property
    def steps(self) -> int:
        """How many steps."""
        return len(self.rewards)


def fetched(instants: list[Instant], first: int) -> Stretch:
    """The instants on the host, one transfer a quantity."""
    names = list(instants[0].after)
    finals = [instant.after if instant.final is None else instant.final for instant in instants]
    return Stretch(
        first,
        {name: on_host([instant.after[name] for instant in instants]) for name in names},
        {name: on_host([final[name] for final in finals]) for name in names},
        on_host([instant.actions for instant in instants]),
        on_host([instant.rewards for instant in instants]),
        {
            reason: on_host([instant.ends[reason] for instant in instants]).astype(np.bool_)
            for reason in instants[0].ends
        },
    )


@dataclass(slots=True)
class Open:
    """The open episode of one copy: its number, and its samples so far in pieces."""

    number: int
    signals: dict[str, list[NDArray[Any]]]
    actions: list[NDArray[Any]]
    rewards: list[NDArray[Any]]

    @classmethod
    def begun(cls, number: int, first: Mapping[str, NDArray[Any]]) -> "Open":
        """An episode with sample 0 alone."""
        return cls(number, {name: [row[None]] for name, row in first.items()}, [], [])

    def extend(self, stretch: Stretch, copy: int, begin: int, end: int) -> None:
        """Take in the steps begin..end - 1 of the stretch, of which none ends the episode."""
        if end <= begin:
            return
        for name, pieces in self.signals.items():
            pieces.append(stretch.after[name][begin:end, copy])
        self._did(stretch, copy, begin, end)

    def finish(self, stretch: Stretch, copy: int, at: int) -> None:
        """Take in the step that ends the episode: its sample is the one before the reset."""
        for name, pieces in self.signals.items():
            pieces.append(stretch.final[name][at : at + 1, copy])
        self._did(stretch, copy, at, at + 1)

    def end_at_once(self, stretch: Stretch, copy: int, at: int) -> None:
        """The episode is sample 0 and no step, in the shapes that steps have."""
        self._did(stretch, copy, at, at)

    def _did(self, stretch: Stretch, copy: int, begin: int, end: int) -> None:
        self.actions.append(stretch.actions[begin:end, copy])
        self.rewards.append(stretch.rewards[begin:end, copy])
