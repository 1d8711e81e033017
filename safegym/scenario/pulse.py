"""What a worker process is doing, readable from outside even when it hangs or is dead."""

import time
from typing import Any

IDLE, POLICY, STARTING, BUILDING = -1, -2, -3, -4
"""What stands in the place of an episode's index: nothing runs, the policy acts, the worker is set
up, an environment is closed and built afresh."""


class Pulse:
    """Two shared numbers: the index of the episode in a call, and when its time began.

    cells: a shared array of two doubles. limit: seconds that an episode's calls (reset and steps)
    may take in all, None for no limit. The time of its neighbours in a batch does not count, so
    that the limit means the same whatever runs beside it.
    """

    def __init__(self, cells: Any, limit: float | None) -> None:
        self._cells, self._limit = cells, limit
        self._used: dict[int, float] = {}
        self._begun = 0.0

    @property
    def reason(self) -> str:
        """Why an episode that took too long was ended."""
        return over(self._limit or 0.0)

    def begin(self, index: int) -> None:
        """The episode enters a call."""
        self._begun = now = time.monotonic()
        self._cells[1] = now - self._used.get(index, 0.0)
        self._cells[0] = index

    def end(self, index: int) -> bool:
        """It has come back; True if it took more than the limit in all."""
        self._cells[0] = IDLE
        used = self._used.get(index, 0.0) + time.monotonic() - self._begun
        self._used[index] = used
        return self._limit is not None and used > self._limit

    def begin_policy(self) -> None:
        """The policy acts, for all episodes at once."""
        self._cells[1] = time.monotonic()
        self._cells[0] = POLICY

    def begin_building(self) -> None:
        """An environment is built, which counts for no episode."""
        self._cells[1] = time.monotonic()
        self._cells[0] = BUILDING

    def end_policy(self) -> None:
        """It has acted, or the environment is there."""
        self._cells[0] = IDLE

    def forget(self, index: int) -> None:
        """The episode is over; another run of it begins at zero."""
        self._used.pop(index, None)


def over(limit: float) -> str:
    """Why an episode that took longer than `limit` seconds was ended."""
    return f"took more than {limit:g} s of its environment (episode_seconds); it was ended"


def read(cells: Any) -> tuple[int, float]:
    """(index or one of the names above; seconds it has been at it). IDLE while it changes.

    The clock is read first: a reader that is put to sleep in between must not make a call longer.
    """
    now = time.monotonic()
    before, begun, after = cells[0], cells[1], cells[0]
    if before != after:
        return IDLE, 0.0
    return int(before), now - begun
