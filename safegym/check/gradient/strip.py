"""A run of values with the sample it starts at, over tensors.

A value has one or two components, each a tensor with time last: a smooth margin, or an exact
margin and where it comes from (`exact`).
"""

from typing import NamedTuple

import torch
from torch import Tensor

Values = tuple[Tensor, ...]
Element = tuple[float, ...]
"""One value: a number for each component."""


class Strip(NamedTuple):
    """Values at samples first..last; later samples repeat the last value."""

    values: Values
    first: int

    @property
    def last(self) -> int:
        """The last sample covered."""
        return self.first + length(self.values) - 1


def length(values: Values) -> int:
    """Returns the number of samples."""
    return int(values[0].shape[-1])


def part(values: Values, start: int | None, stop: int | None, step: int = 1) -> Values:
    """Returns a slice in time of each component: views."""
    return tuple(v[..., start:stop:step] for v in values)


def fill(like: Values, count: int, element: Element) -> Values:
    """Returns `count` equal values for each row of `like`."""
    pairs = zip(like, element, strict=True)
    return tuple(v.new_full((*v.shape[:-1], count), number) for v, number in pairs)


def joined(pieces: list[Values]) -> Values:
    """Returns runs one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return tuple(torch.cat(parts, -1) for parts in zip(*pieces, strict=True))


def take(
    strip: Strip, first: int, last: int, before: Element | None = None, after: Element | None = None
) -> Values:
    """Returns the values at samples first..last.

    before: value at samples < 0, which no strip covers. after: value past the strip's end, None
    to repeat the last one.
    """
    if first >= strip.first and last <= strip.last:
        return part(strip.values, first - strip.first, last - strip.first + 1)
    pieces: list[Values] = []
    if first < 0 and before is not None:
        count = min(0, last + 1) - first
        pieces.append(fill(strip.values, count, before))
        first += count
    if first <= last:
        stop = min(last, strip.last)
        if first <= stop:
            pieces.append(part(strip.values, first - strip.first, stop - strip.first + 1))
        count = last - max(stop, first - 1)
        if count > 0:
            pieces.append(_tail(strip.values, count, after))
    return joined(pieces)


def _tail(values: Values, count: int, after: Element | None) -> Values:
    if after is not None:
        return fill(values, count, after)
    return tuple(v[..., -1:].expand(*v.shape[:-1], count) for v in values)
