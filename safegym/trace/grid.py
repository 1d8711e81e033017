"""Stamps against the instants of a clock, in whole numbers.

Every time is a whole number of ticks from the clock's start; the tick is the largest one of which
a nanosecond, dt, start and the declared durations are whole multiples. So nothing is rounded.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.clock import Clock
from safegym.trace.stamps import SECOND, Stamps

Ticks = NDArray[np.int64]
_MOST = 2**61
MOST_NUMBERS = 100_000_000
"""Most numbers that one log is resampled to (800 MB)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Instants 0..steps of a clock. ticks: in a nanosecond. dt: in ticks."""

    clock: Clock
    steps: int
    ticks: int

    @classmethod
    def of(cls, clock: Clock, steps: int, *durations: Fraction) -> "Grid":
        """A grid whose tick measures the clock and these durations (seconds)."""
        exact = (clock.dt, clock.start, *durations)
        return cls(clock, steps, lcm(*((time * SECOND).denominator for time in exact)))

    @property
    def dt(self) -> int:
        """Ticks from one instant to the next."""
        return self.in_ticks(self.clock.dt)

    def in_ticks(self, seconds: Fraction) -> int:
        """A duration in ticks."""
        return int(seconds * SECOND * self.ticks)

    def seconds(self, ticks: int) -> Fraction:
        """A number of ticks as exact seconds."""
        return Fraction(int(ticks), SECOND * self.ticks)

    def instants(self) -> Ticks:
        """The instants, shape (steps + 1,), in ticks."""
        return np.arange(self.steps + 1, dtype=np.int64) * self.dt

    def places(self, stamps: Stamps) -> Ticks:
        """Stamps in ticks from the start. Raises TraceError where 64 bits cannot hold them."""
        start = self.clock.start * SECOND
        base = start.numerator // start.denominator
        rest = int((start - base) * self.ticks)
        reach = max(abs(int(stamps[0]) - base), abs(int(stamps[-1]) - base)) * self.ticks + rest
        if max(reach, (self.steps + 1) * self.dt) > _MOST:
            raise TraceError(
                f"A clock of dt = {self.clock.dt} s from {self.clock.start} s has instants "
                f"1/{self.ticks} ns apart from whole nanoseconds, too fine over this log; choose "
                "dt, start and the durations as whole nanoseconds."
            )
        return (stamps - base) * self.ticks - rest

    def snapped(self, places: Ticks, tolerance: int) -> tuple[Ticks, Ticks]:
        """(places, distances): a stamp within `tolerance` ticks of an instant is moved onto it.

        distances: from the nearest instant, in ticks, signed. Any instant counts, also before 0.
        """
        half = self.dt // 2
        off = places + half
        off %= self.dt
        off -= half
        return np.where(np.abs(off) <= tolerance, places - off, places), off


def check_size(steps: int, width: int, clock: Clock, what: str) -> None:
    """Raises TraceError where a grid has more numbers than are made at once."""
    if (steps + 1) * width > MOST_NUMBERS:
        raise TraceError(
            f"{what} at dt = {clock.dt} s has {steps + 1} samples of {width} numbers; at most "
            f"{MOST_NUMBERS} numbers are made of one log. Use a larger dt, or start= and stop=."
        )
