"""Sound smooth margins: log-sum-exp in place of minima and maxima, always on the same side.

In units of the temperature, for n operands x_i with largest value m,

    m <= log(sum exp x_i) <= m + log n,

so the sum is never below the maximum, and the sum less log n never above it. A lower pass takes
the second form for maxima and -log(sum exp(-x_i)) for minima, an upper pass the reverse: each step
errs to its own side by at most log n, minima and maxima are monotone and do not stretch
distances, so the errors of nested operators add up to the bound of `bounds`. Sums are taken over
disjoint parts, for a sum counts twice what it is given twice.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from safegym.check.gradient.algebra import Algebra
from safegym.check.gradient.logsum import cumulated, sliding, soft
from safegym.check.gradient.scan import Count, suffixes, windows
from safegym.check.gradient.strip import Element, Values, length


class Smooth(Algebra):
    """Values are margins over the temperature. under: whether this is the lower pass."""

    def __init__(self, under: bool, sign: int = 1) -> None:
        self.under = under
        self.sign = sign

    def element(self, number: float) -> Element:
        """The number itself."""
        return (number,)

    @property
    def dual(self) -> "Smooth":
        """Joins are minima."""
        return Smooth(self.under, -self.sign)

    def averages(self, sign: int) -> bool:
        """Whether this pass takes log n off: of maxima when under, of minima when over."""
        return (sign > 0) == self.under

    def _settled(self, found: Tensor, covered: Count, sign: int) -> Values:
        """The value on this pass's side, from the sum's logarithm over `covered` operands."""
        return (found - sign * _log(covered) if self.averages(sign) else found,)

    def maximum(self, parts: Sequence[Values]) -> Values:
        """Of m parts, within log m."""
        return self._folded(parts, 1)

    def minimum(self, parts: Sequence[Values]) -> Values:
        """Of m parts, within log m."""
        return self._folded(parts, -1)

    def _folded(self, parts: Sequence[Values], sign: int) -> Values:
        found = parts[0][0]
        for other in parts[1:]:
            found = soft(found, other[0], sign)
        return self._settled(found, len(parts), sign)

    def slide(self, values: Values, width: int, before: int, after: int) -> Values:
        """Within log of the samples that exist in the window."""
        n = length(values)
        found = sliding(values[0], width, self.sign)
        if not self.averages(self.sign) or width == 1:
            return (found,)
        covered: Count = width
        if before or after:
            first = torch.arange(n - width + 1, device=found.device)
            kept = (first + width).clamp(max=n - after) - first.clamp(min=before)
            covered = kept.to(found.dtype)
        return self._settled(found, covered, self.sign)

    def running(self, values: Values) -> Values:
        """Within log(k + 1) at sample k."""
        return self._settled(cumulated(values[0], self.sign), _up_to(values), self.sign)

    def remaining(self, values: Values) -> Values:
        """Within log(n - k) at sample k."""
        found = cumulated(values[0].flip(-1), self.sign).flip(-1)
        return self._settled(found, _up_to(values).flip(-1), self.sign)

    def until(self, left: Values, right: Values, width: int | None) -> tuple[Values, Count]:
        """Within 2 log n of n covered samples: log n for the join, log n for the meets."""
        pairs = (*right, *left)
        covered: Count
        if width is not None:
            identity = (*self.bottom, *self.top)
            found, covered = windows(pairs, width, self._step, identity), width
        else:
            covered = _up_to(pairs).flip(-1)
            found = suffixes(pairs, self._step)
        if self.averages(self.sign):
            return (found[0] - self.sign * _log(covered),), covered
        return (found[0] + self.sign * _log(covered),), covered

    def _step(self, first: Values, second: Values, m: Count, n: Count) -> Values:
        """Pairs (reach, path) of two runs of m and n samples.

        path: the sum's logarithm of the left side, never averaged. reach: where this pass averages
        joins, the sum over the right side's samples, to be divided by their number at the end; else
        the meets are averaged, each side weighted by its samples, and reach holds its value
        less log n, so that both need one addition a step.
        """
        sign = self.sign
        (reach, path), (later, onward) = first, second
        both = soft(path, onward, -sign)
        if self.averages(sign):
            held = path + sign * _log(n)
            return soft(reach, soft(held, later, -sign), sign), both
        before = reach + sign * (_log(m) - _log(m + n))
        return soft(before, soft(path, later, -sign), sign), both

    def along(self, path: Values, steps: int, values: Values, covered: Count) -> Values:
        """The meet of `steps` samples of the path with a value of `covered` samples."""
        sign = -self.sign
        held = sliding(path[0], steps, sign)
        if not self.averages(sign):
            return (soft(held, values[0], sign),)
        raw = values[0] + sign * _log(covered)
        return self._settled(soft(held, raw, sign), covered + steps, sign)


def _up_to(values: Values) -> Tensor:
    """1, 2, ..., n."""
    like = values[0]
    return torch.arange(1, length(values) + 1, device=like.device, dtype=like.dtype)


def _log(covered: Count) -> float | Tensor:
    """Of nothing: 0, for nothing comes of it."""
    if isinstance(covered, int):
        return math.log(max(covered, 1))
    return covered.clamp(min=1).log()
