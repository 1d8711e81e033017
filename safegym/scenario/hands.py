"""Stepping many recorded environments in turn, with what a step costs paid once for all.

A recorder that stands alone copies each action and each observation, counts, and looks for the end.
Here the actions of a round are kept as one array, the observations of a round are checked at once,
and the step at which the next episode is due is known beforehand. The traces are the same, bit for
bit, as those of `Recorder.step`.
"""

import math
from collections.abc import Container, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safegym.trace.arrays import first_non_finite
from safegym.trace.reading import Grip, check_shape
from safegym.trace.record import FAILURES, Recorder

_PACK_EVERY = 64
"""Rounds after which samples are packed: while they are in the processor's cache."""
Ended = tuple[int, BaseException | None]
"""A slot whose episode is over, and what ended it if something was raised."""


class _Slots(Container[int], Sized, Protocol):
    """The slots in which an episode runs."""


@dataclass(slots=True)
class _Held:
    """An episode in hand: born at `born`, due to be cut at round `due`. fault: see `catch_up`."""

    recorder: Recorder
    grip: Grip
    born: int
    due: float
    fault: int | None = None


class Hands:
    """Episodes that are stepped here; `observations` (B, ...) are the policy's next ones."""

    def __init__(self, observations: NDArray[Any]) -> None:
        self._observations = observations
        self._held: dict[int, _Held] = {}
        self._turns: list[tuple[int, Any, Any, Any, Any, Any]] = []
        self._last: list[Any] = [None] * len(observations)
        self._round = self._oldest = 0
        self._due = math.inf
        self._sees = self._planned = False
        self._log = ActionLog()

    def hold(self, running: _Slots) -> bool:
        """Whether every running episode is in hand."""
        return len(self._held) == len(running) > 0

    def take(self, slot: int, recorder: Recorder) -> None:
        """Take over the episode that `recorder` has just opened, if it can be."""
        grip = recorder.grip()
        if grip is None:
            return
        self._held[slot] = _Held(recorder, grip, self._round, self._round + grip.limit)
        self._sees = grip.sees
        self._planned = False

    def let_go(self, slot: int) -> None:
        """Give an episode back to its recorder, caught up."""
        held = self._held.pop(slot, None)
        if held is not None:
            self._catch_up(slot, held, self._round - held.born)
            self._planned = False

    def step_all(self, actions: NDArray[Any], whole: bool) -> list[Ended]:
        """One step of every episode in hand; actions (B, ...) by slot. Returns those that ended.

        whole: hand actions over as Python integers.
        """
        if not self._planned:
            self._plan()
        self._log.add(self._round, actions, whole, self._oldest)
        self._round += 1
        rows: Any = actions.tolist() if whole else actions
        late, ended = self._round >= self._due, list[Ended]()
        observations, last = self._observations, self._last
        shape, ndarray = observations.shape[1:], np.ndarray
        for slot, step, read, base, add_row, add_reward in self._turns:
            try:
                observation, reward, terminated, truncated, info = step(rows[slot])
                add_row(read(base))
                if type(observation) is not ndarray or observation.shape != shape:
                    check_shape(observation, shape)
                add_reward(reward if type(reward) is float else float(reward))
                ends = (info or terminated or truncated or late) and self._conclude(
                    slot, terminated, truncated, observation, info
                )
                if ends:
                    ended.append((slot, None))
                    continue
            except BaseException as error:
                ended.append((slot, self._cut(slot, error)))
                continue
            observations[slot] = last[slot] = observation
        for slot, _ in ended:
            del self._held[slot]
            self._planned = False
        if self._round % _PACK_EVERY == 0:
            for held in self._held.values():
                held.recorder.pack_rows()
        if self._sees and first_non_finite(observations) is not None:
            self._find_faults()
        return ended

    def _conclude(
        self, slot: int, terminated: bool, truncated: bool, observation: Any, info: Any
    ) -> bool:
        """Keeps events; ends the episode if this was its last step, and says so."""
        held = self._held[slot]
        count = self._round - held.born
        try:
            held.recorder.add_events(count, info)
        except Exception:
            held.recorder.look(count, observation)  # the sample is whole: only its events are not
            raise
        if not (terminated or truncated or self._round >= held.due):
            return False
        self._catch_up(slot, held, count)
        held.recorder.conclude(bool(terminated), bool(truncated), observation, info)
        return True

    def _cut(self, slot: int, error: BaseException) -> BaseException:
        """Closes an episode in whose step something was raised; Ctrl-C goes on its way."""
        held = self._held[slot]
        try:
            self._catch_up(slot, held, self._round - held.born - 1)
            held.recorder.cut(error)
        except Exception as second:  # no trace can be made of it
            return second
        if not isinstance(error, FAILURES):
            raise error
        return error

    def _catch_up(self, slot: int, held: _Held, count: int) -> None:
        if held.recorder.is_open:
            actions = self._log.of(slot, held.born, self._round)
            held.recorder.catch_up(count, actions, held.fault)

    def _find_faults(self) -> None:
        """Marks the episodes whose newest observation is not finite, as the environment gave it."""
        for slot, held in self._held.items():
            if held.fault is None and self._is_faulty(slot):
                held.fault = self._round - held.born

    def _is_faulty(self, slot: int) -> bool:
        """Whether a slot's newest observation, and not only its narrower copy, is not finite.

        The copy decides wherever it can: copies of an environment may share one buffer, and then
        `_last` already holds what a neighbour saw.
        """
        row, seen = self._observations[slot].reshape(1, -1), np.asarray(self._last[slot])
        if first_non_finite(row) is None:
            return False
        if seen.dtype == row.dtype or bool(np.isnan(row).any()):
            return True
        with np.errstate(over="ignore"):
            unchanged = np.array_equal(seen.astype(row.dtype).reshape(1, -1), row)
        return not unchanged or first_non_finite(seen.reshape(1, -1)) is not None

    def _plan(self) -> None:
        self._planned = True
        self._oldest = min((held.born for held in self._held.values()), default=self._round)
        self._due = min((held.due for held in self._held.values()), default=math.inf)
        self._turns = [
            (slot, grip.step, grip.read, grip.base, grip.add_row, grip.add_reward)
            for slot, grip in ((slot, held.grip) for slot, held in self._held.items())
        ]


class ActionLog:
    """The actions of the last rounds, as long as an open episode needs them: a ring of rounds."""

    def __init__(self) -> None:
        self._ring: NDArray[Any] | None = None

    def add(self, at: int, actions: NDArray[Any], whole: bool, oldest: int) -> None:
        """Keeps the actions (B, ...) of round `at`. oldest: first round still needed."""
        dtype = np.dtype(np.int64) if whole else actions.dtype
        ring = self._ring
        if ring is None:
            ring = self._ring = np.zeros((256, *actions.shape), dtype)
        elif at - oldest >= len(ring):
            ring = self._ring = self._grown(ring, at, oldest)
        ring[at % len(ring)] = actions

    def of(self, slot: int, first: int, end: int) -> NDArray[Any]:
        """A copy of a slot's actions in rounds first..end-1, shape (end - first, ...)."""
        ring = self._ring
        if ring is None or first == end:
            return np.zeros((0, 0))
        start, stop = first % len(ring), end % len(ring)
        if start < stop:
            return ring[start:stop, slot].copy()
        return np.concatenate((ring[start:, slot], ring[:stop, slot]))

    @staticmethod
    def _grown(ring: NDArray[Any], at: int, oldest: int) -> NDArray[Any]:
        more = np.zeros((2 * len(ring), *ring.shape[1:]), ring.dtype)
        for round_ in range(oldest, at):
            more[round_ % len(more)] = ring[round_ % len(ring)]
        return more
