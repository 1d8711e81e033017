"""Exact margins: every operation selects among atoms' margins, so a value is one of them.

The forward pass carries, without recording, each margin with its source, the place of the
deciding atom and sample in the bank of all atoms' margins; one gather from the bank gives the
result its gradient. Of tied samples or operands, one takes all of it. Memory is O(n) for any
window and depth.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from safegym.check.gradient.algebra import Algebra
from safegym.check.gradient.scan import Count, reversed_in_time, suffixes, total
from safegym.check.gradient.strip import Element, Values, fill, joined, length, part


class Exact(Algebra):
    """Values are (margin, source).

    sign: 1 where joins are maxima. size: how many margins the bank holds; its last two places
    hold minus and plus infinity.
    """

    def __init__(self, size: int, sign: int = 1) -> None:
        self.size = size
        self.sign = sign

    def element(self, number: float) -> Element:
        """The two constants of the bank."""
        return (number, self.size if number < 0 else self.size + 1)

    @property
    def dual(self) -> "Exact":
        """Joins are minima."""
        return Exact(self.size, -self.sign)

    def maximum(self, parts: Sequence[Values]) -> Values:
        """The largest, the first of tied ones."""
        return _folded(parts, 1)

    def minimum(self, parts: Sequence[Values]) -> Values:
        """The smallest, the first of tied ones."""
        return _folded(parts, -1)

    def slide(self, values: Values, width: int, before: int, after: int) -> Values:
        """By the running extremes of blocks (van Herk)."""
        n = length(values)
        if width == 1:
            return values
        if n == width:
            return part(self.running(values), n - 1, None)
        count = n - width + 1
        if width <= SHORT:
            return _doubled(values, width, self.sign)
        blocks = -(-n // width)
        whole = joined([values, fill(values, blocks * width - n, self.bottom)])
        cut = tuple(v.reshape(*v.shape[:-1], blocks, width) for v in whole)
        starts = tuple(v.flatten(-2) for v in self.running(cut))
        ends = tuple(v.flatten(-2) for v in self.remaining(cut))
        return pick(part(ends, 0, count), part(starts, width - 1, width - 1 + count), self.sign)

    def running(self, values: Values) -> Values:
        """By torch's running extremes, which tell where they are."""
        margins, sources = values
        extreme = torch.cummax if self.sign > 0 else torch.cummin
        found, at = extreme(margins, -1)
        return found, sources.gather(-1, at)

    def remaining(self, values: Values) -> Values:
        """The same, backward."""
        return reversed_in_time(self.running(reversed_in_time(values)))

    def until(self, left: Values, right: Values, width: int | None) -> tuple[Values, Count]:
        """By doubling the pairs (reach, path) of runs, which may overlap; long ones by a scan."""
        pairs = (*right, *left)
        if width is None:
            few = length(right) <= FEW
            return (self._ends(pairs) if few else suffixes(pairs, self._step))[:2], 1
        if width == length(right):
            return total(pairs, self._step)[:2], width
        return self._runs(pairs, width)[:2], width

    def _step(self, first: Values, second: Values, m: Count, n: Count) -> Values:
        reach, path = first[:2], first[2:]
        onward = pick(path, second[:2], -self.sign)
        return (*pick(reach, onward, self.sign), *pick(path, second[2:], -self.sign))

    def _runs(self, pairs: Values, width: int) -> Values:
        run = 1
        while 2 * run <= width:
            pairs = self._step(part(pairs, 0, -run), part(pairs, run, None), run, run)
            run *= 2
        rest = width - run
        if not rest:
            return pairs
        return self._step(part(pairs, 0, -rest), part(pairs, rest, None), run, run)

    def _ends(self, pairs: Values) -> Values:
        n, run = length(pairs), 1
        while run < n:
            begun = self._step(part(pairs, 0, -run), part(pairs, run, None), run, run)
            pairs = joined([begun, part(pairs, n - run, None)])
            run *= 2
        return pairs

    def along(self, path: Values, steps: int, values: Values, covered: Count) -> Values:
        """The smaller of the value and the path's least."""
        return pick(self.dual.slide(path, steps, 0, 0), values, -self.sign)


SHORT = 16
"""Windows up to this length are joined by doubling."""
FEW = 16384
"""Samples up to which doubling, with fewer calls, beats a scan, with fewer comparisons."""


def pick(first: Values, second: Values, sign: int) -> Values:
    """Returns the larger (sign 1) or smaller margin and its source; the first of tied ones."""
    (a, from_a), (b, from_b) = first, second
    extreme, wins = (torch.maximum, a >= b) if sign > 0 else (torch.minimum, a <= b)
    mask = wins.long().neg_()  # all bits where the first wins: faster than a selection
    return extreme(a, b), ((from_a ^ from_b) & mask) ^ from_b


def _folded(parts: Sequence[Values], sign: int) -> Values:
    found = parts[0]
    for other in parts[1:]:
        found = pick(found, other, sign)
    return found


def _doubled(values: Values, width: int, sign: int) -> Values:
    run = 1
    while 2 * run <= width:
        values = pick(part(values, 0, -run), part(values, run, None), sign)
        run *= 2
    rest = width - run
    return pick(part(values, 0, -rest), part(values, rest, None), sign) if rest else values


def bank_of(margins: Sequence[Tensor], like: Tensor) -> Tensor:
    """Returns all atoms' margins one after the other, then minus and plus infinity.

    like: a tensor of the shape (..., 1) that the result takes its rows, type and device from.
    """
    ends = [torch.full_like(like, -math.inf), torch.full_like(like, math.inf)]
    return torch.cat([*margins, *ends], -1)


def leaf(margin: Tensor, offset: int) -> Values:
    """Returns an atom's margins with their places in the bank."""
    n = margin.shape[-1]
    places = torch.arange(offset, offset + n, device=margin.device)
    return margin.detach(), places.expand(margin.shape)
