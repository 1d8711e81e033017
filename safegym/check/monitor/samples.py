"""What a plan is evaluated on."""

from typing import NamedTuple

from safegym.check.monitor.ends import Ends
from safegym.check.monitor.readings import Readings, Unseen


class Samples(NamedTuple):
    """Terms' values over samples first..last, for `rows` episodes of one frame at once.

    gaps: closed intervals of sample indices at which no signal is known, or those of each signal
    by name. ends: where the rows end, if not all where the frame says; their arrays then repeat
    each row's last sample.
    """

    readings: Readings
    first: int
    last: int
    rows: tuple[int, ...] = ()
    gaps: Unseen = ()
    ends: Ends | None = None
