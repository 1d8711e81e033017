"""The regression suite: starts that training has learned to pass, and that must stay passed.

A start joins it when the replay bank retires it, and leaves it only where the suite is full: then
the one that joined first goes. So the suite and its order follow from the run alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.digest import digest_json
from safegym.gate.counterexample import Counterexample


@dataclass(frozen=True, slots=True)
class Begun:
    """What an episode of the suite is reset with, and the claims that it must satisfy."""

    seed: int
    options: Mapping[str, Any]
    starts: tuple[Counterexample, ...]


class RegressionSuite:
    """Retired starts of one scenario, in the order in which they joined.

    capacity: most starts held; 0 holds none. joined: how often a start joined so far; one that had
    to leave a full suite may join again.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._starts: dict[str, Counterexample] = {}
        self.joined = 0

    def __len__(self) -> int:
        return len(self._starts)

    def __contains__(self, start: object) -> bool:
        return isinstance(start, Counterexample) and start.key in self._starts

    @property
    def capacity(self) -> int:
        """Most starts held."""
        return self._capacity

    @property
    def starts(self) -> tuple[Counterexample, ...]:
        """The starts, the one that joined first at the head."""
        return tuple(self._starts.values())

    @property
    def digest(self) -> str:
        """Same for the same starts and claims in the same order."""
        return digest_json(list(self._starts))

    def add(self, start: Counterexample) -> bool:
        """Take in a start; True if it is new. One that is held keeps its place."""
        if self._capacity == 0 or start.key in self._starts:
            return False
        if len(self._starts) >= self._capacity:
            del self._starts[next(iter(self._starts))]
        self._starts[start.key] = start
        self.joined += 1
        return True

    def to_json(self) -> list[dict[str, Any]]:
        """The starts as JSON, in order."""
        return [start.to_json() for start in self._starts.values()]

    @classmethod
    def from_json(
        cls,
        data: Iterable[Mapping[str, Any]],
        capacity: int,
        scenario_digest: str,
        joined: int,
    ) -> "RegressionSuite":
        """The suite of `to_json`. Raises GateError when malformed or of another scenario."""
        suite = cls(capacity)
        for item in data:
            start = Counterexample.from_json(item)
            start.refuse_other(scenario_digest, "regression suite")
            suite.add(start)
        suite.joined = joined
        return suite


def episodes_of(starts: Sequence[Counterexample]) -> tuple[Begun, ...]:
    """The episodes that a list of starts takes, in order: one for each seed and options."""
    together: dict[str, list[Counterexample]] = {}
    for start in starts:
        together.setdefault(episode_key(start.seed, start.options), []).append(start)
    return tuple(Begun(same[0].seed, same[0].options, tuple(same)) for same in together.values())


def episode_key(seed: int, options: Mapping[str, Any]) -> str:
    """Same for episodes that begin the same."""
    return digest_json([str(seed), dict(options)])


def outgrown(before: Sequence[str], now: Sequence[str], capacity: int, joins: int) -> str:
    """Whether a suite can have become another: what is wrong, or "".

    before, now: keys of its starts in order, earlier and later in one run. joins: how often a start
    joined between. Starts join at the end, and the first ones leave only where the suite is full.
    """
    if len(now) > capacity:
        return f"the regression suite holds {len(now)} starts, more than its {capacity}"
    if joins < 0:
        return "fewer starts have joined the regression suite than before"
    left = max(0, len(before) + joins - capacity)
    missing = min(capacity, len(before) + joins) - len(now)
    if missing > 0:
        return f"{missing} starts left a regression suite that was not full"
    kept = list(before[left:])
    if missing < 0 or list(now[: len(kept)]) != kept:
        return "the regression suite lost starts that had not joined first, or their order"
    return ""
