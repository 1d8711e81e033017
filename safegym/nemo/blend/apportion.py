"""Whole rows from ratios: the largest-remainder method, and exact random deals.

Source: Hamilton's method (largest remainders) for shares; selection sampling for deals, Knuth, The
Art of Computer Programming, volume 2, section 3.4.2, algorithm S.
"""

import hashlib
import random
from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np


def largest_remainder(total: int, shares: Sequence[Fraction]) -> list[int]:
    """Whole counts that sum to `total`, each within 1 of its share of it.

    shares: >= 0, not all 0; they need not sum to 1. Equal remainders go to the earlier share.
    """
    whole = sum(shares)
    quotas = [total * share / whole for share in shares]
    counts = [floor(quota) for quota in quotas]
    order = sorted(range(len(quotas)), key=lambda i: (counts[i] - quotas[i], i))
    for i in order[: total - sum(counts)]:
        counts[i] += 1
    return counts


def largest_total(available: Sequence[int], shares: Sequence[Fraction]) -> int:
    """The most rows that can be apportioned without asking a part for more than it has."""
    whole = sum(shares)
    limits = [
        (have + 1) * whole / share for have, share in zip(available, shares, strict=True) if share
    ]
    total = min(floor(min(limits)), sum(available))
    while total and not _fits(total, available, shares):
        total -= 1
    return total


def _fits(total: int, available: Sequence[int], shares: Sequence[Fraction]) -> bool:
    asked = largest_remainder(total, shares)
    return all(want <= have for want, have in zip(asked, available, strict=True))


def seeded(*words: object) -> random.Random:
    """Random numbers that follow from the words, the same on every machine and Python."""
    text = "\x1f".join(str(word) for word in words)
    return random.Random(int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()))


class Deal:
    """Deals rows to hands one by one, each hand getting exactly its count, all deals as likely.

    counts: rows for each hand; together they are the rows that will come.
    """

    def __init__(self, counts: Sequence[int], chance: random.Random) -> None:
        self._left = np.array(counts, np.int64)
        self._rows = int(self._left.sum())
        self._chance = chance

    def next(self) -> int:
        """The hand that the next row goes to."""
        drawn = min(int(self._chance.random() * self._rows), self._rows - 1)
        hand = int(np.searchsorted(np.cumsum(self._left), drawn, side="right"))
        self._left[hand] -= 1
        self._rows -= 1
        return hand
