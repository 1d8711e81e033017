"""What the instants of a clock get from one signal's log."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from safegym.trace.grid import Grid, Ticks
from safegym.trace.lines import on_line
from safegym.trace.resampling import Between, Rule

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
_TOGETHER = 16384
"""Instants whose points on a line are worked out at once, so that what lies between stays small."""


@dataclass(frozen=True, slots=True)
class Log:
    """One signal's samples. places: of the stamps, in ticks, not decreasing. values: (n, d)."""

    places: Ticks
    values: Floats


@dataclass(frozen=True, slots=True)
class Filled:
    """values: (T+1, d), the last known one where not `known` (the first one before any is).

    skipped: samples of the log, inside the clock, that no instant took. first_skipped: the first
    of them, -1 if none. hidden: samples that lie beyond the values of the instants around them.
    Both are 0 where the worst value since the instant before counts.
    """

    values: Floats
    known: Flags
    skipped: int
    first_skipped: int
    hidden: int


def filled(log: Log, grid: Grid, rule: Rule, longest: int, between: Between | None) -> Filled:
    """The values at all instants, and where they are known.

    longest: ticks between neighbouring samples above which nothing is known between them.
    """
    look = _Look(log, grid, longest)
    values = look.linear() if rule == "linear" else look.held()
    known = look.exact if rule == "jitter" else look.known
    if between in ("max", "min"):
        known = known & look.seen_since_the_instant_before()
        values = look.worst(values, largest=between == "max")
        return Filled(_placeholders(values, known), known, 0, -1, 0)
    values = _placeholders(values, known)
    skipped = look.skipped(known, both_neighbours=rule == "linear")
    hidden = look.hidden(values, known)
    first = int(np.argmax(skipped)) if skipped.any() else -1
    return Filled(values, known, int(np.count_nonzero(skipped)), first, hidden)


class _Look:
    """Where the samples of a log lie among the instants."""

    def __init__(self, log: Log, grid: Grid, longest: int) -> None:
        self.log = log
        self.instants = instants = grid.instants()
        self.dt = grid.dt
        places, count = log.places, len(log.places)
        self.last: Indices = np.searchsorted(places, instants, side="right") - 1
        """The last sample at or before each instant, -1 if there is none."""
        self.before: Indices = np.maximum(self.last, 0)
        self.after: Indices = np.minimum(self.last + 1, count - 1)
        self.exact: Flags = places[self.before] == instants
        near = np.diff(places) <= longest
        self.near: Flags = np.concatenate(([False], near, [False]))
        """near[i + 1]: whether samples i and i + 1 are no further apart than `longest`."""
        self.known: Flags = self.exact | self.near[self.last + 1]

    def held(self) -> Floats:
        return self.log.values[self.before]

    def linear(self) -> Floats:
        """Held values where an instant has its own sample, or is not known."""
        found = self.held()
        between = np.flatnonzero(self.known & ~self.exact)
        places, values = self.log.places, self.log.values
        for start in range(0, len(between), _TOGETHER):
            at = between[start : start + _TOGETHER]
            before, after = self.before[at], self.after[at]
            ahead, width = self.instants[at] - places[before], places[after] - places[before]
            for column in range(values.shape[1]):
                left, right = values[before, column], values[after, column]
                found[at, column] = on_line(left, right, ahead, width)
        return found

    def seen_since_the_instant_before(self) -> Flags:
        """Whether no hole of the log lies between the instant before and an instant's last sample.

        True at instant 0. Whether one begins at the last sample is what `known` tells.
        """
        holes = np.concatenate(([0], np.cumsum(~self.near)))
        counted = holes[self.last + 1]
        return np.concatenate(([True], counted[1:] == counted[:-1]))

    def worst(self, values: Floats, *, largest: bool) -> Floats:
        """The worst of each instant's value and the samples since the instant before.

        Instant 0 has none before: those that count as on it, of which there may be several.
        """
        if self.last[-1] < 0:
            return values
        fold = np.maximum if largest else np.minimum
        begin = np.searchsorted(self.log.places, self.instants[:1], side="left")
        first, stop = np.concatenate((begin, self.last[:-1] + 1)), self.last + 1
        some = np.flatnonzero(stop > first)
        if some.size:
            log = self.log.values[: self.last[-1] + 1]
            folded = fold.reduceat(log, first[some], axis=0)
            values[some] = fold(values[some], folded)
        return values

    def _instant_after(self) -> Indices:
        """The first instant at or after each sample; those outside of the clock get 0."""
        after = -(-self.log.places // self.dt)
        return cast(Indices, np.where(self._inside(), after, 0))

    def _inside(self) -> Flags:
        places = self.log.places
        return cast(Flags, (places >= 0) & (places <= self.instants[-1]))

    def skipped(self, known: Flags, *, both_neighbours: bool) -> Flags:
        """Samples inside, whose next instant is known, that no instant took its value from."""
        taken = np.zeros(len(self.log.places), dtype=np.bool_)
        taken[self.before[known]] = True
        if both_neighbours:
            taken[self.after[known & ~self.exact]] = True
        return self._inside() & known[self._instant_after()] & ~taken

    def hidden(self, values: Floats, known: Flags) -> int:
        """Samples beyond the values of the instants on both sides; unknown instants hide none."""
        at = np.flatnonzero(self._inside())
        after = self._instant_after()[at]
        kept = known[after]
        at, after = at[kept], after[kept]
        before = np.maximum(after - 1, 0)
        before = np.where(known[before], before, after)
        low = np.minimum(values[before], values[after])
        high = np.maximum(values[before], values[after])
        sample = self.log.values[at]
        return int(np.count_nonzero(((sample < low) | (sample > high)).any(axis=1)))


def _placeholders(values: Floats, known: Flags) -> Floats:
    """Values that are not known replaced by the last known one; no verdict depends on them."""
    if known.all():
        return values
    if not known.any():
        return np.zeros_like(values)
    index = np.where(known, np.arange(len(known)), -1)
    index = np.maximum.accumulate(index)
    index[index < 0] = int(np.argmax(known))
    return values[index]
