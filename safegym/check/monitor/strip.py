"""A run of values with the sample it starts at."""

from typing import NamedTuple

import numpy as np

from safegym.check.monitor.lattice import Values


class Strip(NamedTuple):
    """Values (..., n) at samples first..first + n - 1; later samples repeat the last value."""

    values: Values
    first: int

    @property
    def last(self) -> int:
        """The last sample covered."""
        return self.first + int(self.values.shape[-1]) - 1


GONE = Strip(np.empty(0), 0)
"""In the place of a strip that nothing reads any more."""


def take(
    strip: Strip,
    first: int,
    last: int,
    *,
    before: bool | float | None = None,
    after: bool | float | None = None,
) -> Values:
    """Returns the values at samples first..last.

    before: value at samples < 0, which no strip covers. after: value past the strip's end, None
    to repeat the last one. A view where nothing must be added.
    """
    if first >= strip.first and last <= strip.last:
        return strip.values[..., first - strip.first : last - strip.first + 1]
    pieces: list[Values] = []
    shape = strip.values.shape[:-1]
    if first < 0:
        count = min(0, last + 1) - first
        pieces.append(np.full((*shape, count), before, strip.values.dtype))
        first += count
    if first <= last:
        stop = min(last, strip.last)
        if first <= stop:
            pieces.append(strip.values[..., first - strip.first : stop - strip.first + 1])
        count = last - max(stop, first - 1)
        if count > 0 and after is None:
            edge = strip.values[..., -1:]
            pieces.append(np.broadcast_to(edge, (*shape, count)))
        elif count > 0:
            pieces.append(np.full((*shape, count), after, strip.values.dtype))
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)


def constant(like: tuple[int, ...], count: int, value: bool | float, dtype: type) -> Values:
    """Returns `count` equal values for each row."""
    return np.full((*like, count), value, dtype)
