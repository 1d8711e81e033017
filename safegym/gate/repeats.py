"""Running a sample of an attempt's episodes again before anything is certified.

Evidence names a policy, a scenario and seeds, so that anybody can have the same episodes. Where a
seed does not decide the episode, that is not so, and nothing is certified.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from safegym.gate.reading import number
from safegym.gate.setting import Setting
from safegym.policy.base import Policy
from safegym.scenario.determinism import Difference, Sampled, recheck
from safegym.trace.model import Trace

DRAWS = 0x52455045
"""Spawn key of what decides, from an episode's seed, whether it is run again."""
FEWEST = 3
ONE_IN = 100


def chosen(seed_of: Callable[[int], int], episodes: int, most: int) -> tuple[int, ...]:
    """Which of `episodes` episodes are run again: the first, the last, and some by their seeds.

    One in a hundred, at least 3 (all, of fewer) and at most `most`. The seeds follow from the
    frozen policy, so nobody can know before the freeze which episodes will be looked at.
    """
    number = min(episodes, max(FEWEST, min(most, -(-episodes // ONE_IN))))
    if most == 0 or number <= 0:
        return ()
    ends = {0, episodes - 1}
    between = sorted(range(1, episodes - 1), key=lambda index: (rank(seed_of(index)), index))
    return tuple(sorted(ends | set(between[: number - len(ends)])))


def rank(seed: int) -> int:
    """Where an episode stands in the order of being looked at again: smaller is sooner."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(DRAWS,))
    return int(sequence.generate_state(1, np.uint64)[0])


@dataclass(slots=True)
class Sample:
    """Keeps the traces that may be run again, at most `most` + 2 of them, as episodes arrive."""

    most: int
    episodes: int = 0
    _first: Trace | None = None
    _last: Trace | None = None
    _held: dict[int, tuple[int, Trace]] = field(default_factory=dict[int, tuple[int, Trace]])

    def add(self, trace: Trace) -> None:
        """Take in the next episode in index order."""
        if self.most == 0:
            return
        index = self.episodes
        self.episodes += 1
        if self._last is not None and index > 1:
            self._hold(index - 1, self._last)
        self._first = self._first or trace
        self._last = trace

    def _hold(self, index: int, trace: Trace) -> None:
        self._held[index] = (rank(trace.seed), trace)
        if len(self._held) > self.most:
            del self._held[max(self._held, key=lambda i: (self._held[i][0], i))]

    def trace(self, index: int) -> Trace:
        """The trace of a chosen episode."""
        first, last = self._first, self._last
        if index == self.episodes - 1 and last is not None:
            return last
        return first if index == 0 and first is not None else self._held[index][1]


def repeat(
    setting: Setting, policy: Policy, sample: Sample, seed_of: Callable[[int], int]
) -> tuple[tuple[int, ...], tuple[Difference, ...]]:
    """Runs the chosen episodes again in fresh environments: their indices, and what differs."""
    indices = chosen(seed_of, sample.episodes, sample.most)
    again: list[Sampled] = []
    for index in indices:
        seed = seed_of(index)
        again.append((index, seed, setting.options(index, seed), sample.trace(index)))
    return indices, recheck(setting.spec, policy, again, tail=setting.tail)


def reason(difference: Difference) -> str:
    """What differs, in words."""
    return (
        f"episode {difference.index} (seed {difference.seed}) came out otherwise when run again: "
        f"from step {difference.step} on, {difference.what}: {difference.first:.17g} and "
        f"{difference.second:.17g}; its seed does not decide it, so nothing is certified"
    )


def repeats_json(indices: Sequence[int], differences: Sequence[Difference]) -> dict[str, Any]:
    """What the record of the attempt's end says of it."""
    found = {difference.index: difference for difference in differences}
    return {
        "indices": list(indices),
        "differences": [_difference_json(found[index]) for index in sorted(map(_whole, found))],
    }


def _whole(index: int | None) -> int:
    return -1 if index is None else index


def _difference_json(difference: Difference) -> Mapping[str, Any]:
    return {
        "index": difference.index,
        "seed": str(difference.seed),
        "step": difference.step,
        "what": difference.what,
        "first": number(difference.first),
        "second": number(difference.second),
    }
