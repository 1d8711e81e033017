"""Which input a box is split along: by the slope of its bound, or by looking one step ahead."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.search.rows import Array

Flags = NDArray[np.bool_]
Index = NDArray[np.intp]
Ahead = Callable[[Array, Array, Flags], Array]
"""Boxes low, high (B, n), clauses open on them (B, C) -> a cheap value (B,); more is better."""


def lookahead(ahead: Ahead, low: Array, high: Array, open: Flags, tried: Index) -> Array:
    """Scores (B, n): the sum of both halves' values for the inputs `tried` (B, k), else -inf."""
    batch, size = low.shape
    count = tried.shape[1]
    lows = np.repeat(low, 2 * count, axis=0).reshape(batch, count, 2, size)
    highs = np.repeat(high, 2 * count, axis=0).reshape(batch, count, 2, size)
    every, at = np.arange(batch)[:, None], np.arange(count)[None]
    middle = midpoint(low, high)[every, tried]
    highs[every, at, 0, tried] = middle
    lows[every, at, 1, tried] = middle
    flags = np.repeat(open, 2 * count, axis=0)
    values = ahead(lows.reshape(-1, size), highs.reshape(-1, size), flags)
    scores = np.full((batch, size), -np.inf)
    scores[every, tried] = np.maximum(values.reshape(batch, count, 2).sum(axis=2), -1e300)
    return scores


def choose(scores: Array, low: Array, high: Array) -> Index:
    """The input (B,) of the highest score among those that can be halved; -1 where none can."""
    middle = midpoint(low, high)
    able = (low < middle) & (middle < high)
    best = np.argmax(np.where(able, np.maximum(scores, -1e308), -np.inf), axis=1)
    return np.where(able.any(axis=1), best, -1)


def midpoint(low: Array, high: Array) -> Array:
    """The middle of each side: no overflow, and never outside it, though tiny halves round."""
    return np.clip(0.5 * low + 0.5 * high, low, high)
