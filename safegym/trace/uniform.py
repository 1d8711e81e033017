"""Stamps that are said to be regular."""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from safegym.errors import TraceError
from safegym.trace.choices import moment
from safegym.trace.clock import Clock, Exact
from safegym.trace.grid import Grid
from safegym.trace.stamps import SECOND, read_stamps, resolution


def checked_start(times: ArrayLike, samples: int, dt: Exact, start: Exact | None) -> Fraction:
    """The start of the clock on which these stamps (seconds) lie, one each sample, in turn.

    A stamp may be dt/1000 off, or as much as it resolves. start: by default the first stamp.
    Raises TraceError naming the first stamp that lies elsewhere, and the line that would work.
    """
    stamps = read_stamps(times, "s")
    if len(stamps) != samples:
        raise TraceError(
            f"There are {len(stamps)} stamps for {samples} samples; one each is needed."
        )
    begin = Fraction(int(stamps[0]), SECOND) if start is None else moment(start, "start")
    clock = Clock.parse(dt, begin)
    slack = max(clock.dt / 1000, resolution(times))
    if 2 * slack >= clock.dt:
        raise TraceError(
            f"The stamps resolve {float(slack):.9g} s, which cannot tell instants of dt = "
            f"{float(clock.dt):.9g} s apart; give them as float64, or leave times= out."
        )
    grid = Grid.of(clock, len(stamps) - 1, slack)
    off = np.abs(grid.places(stamps) - grid.instants()) > grid.in_ticks(slack)
    if not off.any():
        return clock.start
    at = int(np.argmax(off))
    raise TraceError(
        f"Sample {at} is stamped {stamps[at] / SECOND:.15g} s, but a clock of dt = {clock.dt} s "
        f"from {float(clock.start):.9g} s has it at {clock.time(at):.9g} s. A log that is jittered "
        'or irregular is resampled: Trace.from_stamps(times, signals, dt=..., rule="hold", '
        'longest_gap="0.05"), or rule="linear".'
    )
