"""Scans and sliding windows over any associative combination, in O(n) combinations.

The combination is told how many samples each side covers. No window is covered twice, so it need
not be idempotent (a sum of exponentials is not). Sources: Brent and Kung 1982 (the scan's
recursion), van Herk 1992 and Gil and Werman 1993 (blocks).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from safegym.check.gradient.strip import Element, Values, fill, joined, length, part

Count = int | Tensor
"""How many samples a value covers: one number, or one for each sample, shape (n,)."""
Combine = Callable[[Values, Values, Count, Count], Values]
"""The value of two neighbouring runs, earlier first, and their counts."""


def scan(values: Values, combine: Combine, size: int = 1) -> Values:
    """Returns the value of everything up to and including each sample; each covers `size`."""
    n = length(values)
    if n == 1:
        return values
    pairs = combine(part(values, 0, n - n % 2, 2), part(values, 1, None, 2), size, size)
    odd = scan(pairs, combine, 2 * size)
    even = part(values, 0, 1)
    if n > 2:
        begun = part(odd, 0, (n - 1) // 2)
        covered = _counts(begun, 2 * size, 2 * size)
        even = joined([even, combine(begun, part(values, 2, None, 2), covered, size)])
    return tuple(_interleaved(one, two) for one, two in zip(even, odd, strict=True))


def _counts(like: Values, start: int, step: int) -> Tensor:
    steps = torch.arange(length(like), device=like[0].device, dtype=like[0].dtype)
    return steps * step + start


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    half = odd.shape[-1]
    both = torch.stack((even[..., :half], odd), -1).flatten(-2)
    return both if even.shape[-1] == half else torch.cat((both, even[..., half:]), -1)


def reversed_in_time(values: Values) -> Values:
    """Returns the values, last first."""
    return tuple(v.flip(-1) for v in values)


def suffixes(values: Values, combine: Combine) -> Values:
    """Returns the value of everything from each sample on."""

    def backward(later: Values, earlier: Values, m: Count, n: Count) -> Values:
        return combine(earlier, later, n, m)

    return reversed_in_time(scan(reversed_in_time(values), backward))


def total(values: Values, combine: Combine) -> Values:
    """Returns the value of everything, one sample long: a balanced tree."""
    size = 1
    rest: list[Values] = []
    sizes: list[int] = []
    while (n := length(values)) > 1:
        if n % 2:
            rest.append(part(values, n - 1, None))
            sizes.append(size)
        values = combine(part(values, 0, n - n % 2, 2), part(values, 1, None, 2), size, size)
        size *= 2
    covered = size
    for later, count in zip(reversed(rest), reversed(sizes), strict=True):
        values = combine(values, later, covered, count)
        covered += count
    return values


def windows(values: Values, width: int, combine: Combine, identity: Element) -> Values:
    """Returns the value of each run of `width` neighbours; length n - width + 1.

    Blocks have the largest power of two L <= width: a window is the suffix of a block, the whole
    next block where it reaches past that, and the start of another.
    """
    n = length(values)
    if width == 1:
        return values
    if n == width:
        return total(values, combine)
    block = 1 << (width.bit_length() - 1)
    count = n - width + 1
    blocks = n // block + 1
    padded = joined([values, fill(values, blocks * block - n, identity)])
    cut = tuple(v.reshape(*v.shape[:-1], blocks, block) for v in padded)
    ends = tuple(v.flatten(-2) for v in suffixes(cut, combine))
    inclusive = part(scan(cut, combine), None, block - 1)
    starts = tuple(v.flatten(-2) for v in joined([fill(cut, 1, identity), inclusive]))
    at = torch.arange(count, device=values[0].device)
    covered = (block - at % block).to(values[0].dtype)
    found = part(ends, 0, count)
    if width > block:
        two = (at + width) // block - at // block == 2
        middle = _middle(ends, block, blocks, at, two, identity)
        more = two.to(covered.dtype) * block
        found, covered = combine(found, middle, covered, more), covered + more
    return combine(found, part(starts, width, width + count), covered, width - covered)


def _middle(
    ends: Values, block: int, blocks: int, at: Tensor, two: Tensor, identity: Element
) -> Values:
    """The whole block after each sample's own where its window holds it, else the identity."""
    whole = part(ends, 0, None, block)
    table = joined([whole, fill(whole, 1, identity)])
    index = torch.where(two, at // block + 1, blocks)
    return tuple(v.index_select(-1, index) for v in table)
