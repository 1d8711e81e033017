"""Boxes of initial states cut into cells."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from safegym.check.loop.polytope import Polytope
from safegym.check.loop.reach.rounding import TINY, Array
from safegym.check.neural.problem import Region
from safegym.errors import UnsupportedError


def outward(low: Sequence[Fraction], high: Sequence[Fraction]) -> tuple[Array, Array]:
    """The smallest binary64 box that holds an exact one, each (n,)."""
    return Region(tuple(low), tuple(high)).outward()


def grid(low: Array, high: Array, cells: int) -> tuple[Array, Array]:
    """At most `cells` boxes that tile one box (n,); (B, n) each.

    Every dimension of some width is cut into the same number of parts, as far as that goes.
    """
    wide = np.flatnonzero(high > low)
    counts = np.ones(low.size, dtype=np.int64)
    while wide.size:
        for at in wide:
            if np.prod(counts) // counts[at] * (counts[at] + 1) > cells:
                break
            counts[at] += 1
        else:
            continue
        break
    edges = [_edges(low[at], high[at], int(counts[at])) for at in range(low.size)]
    places = np.stack(np.meshgrid(*(np.arange(c) for c in counts), indexing="ij"), axis=-1)
    places = places.reshape(-1, low.size)
    below = np.stack([edges[at][places[:, at]] for at in range(low.size)], axis=1)
    above = np.stack([edges[at][places[:, at] + 1] for at in range(low.size)], axis=1)
    return below, above


def halved(low: Array, high: Array, scale: Array) -> tuple[Array, Array]:
    """Each box (B, n) cut in two across its side that is widest in multiples of scale (n,)."""
    width = (high - low) / scale
    at = np.argmax(width, axis=1)
    rows = np.arange(len(low))
    cut = 0.5 * low[rows, at] + 0.5 * high[rows, at]
    below, above = high.copy(), low.copy()
    below[rows, at], above[rows, at] = cut, cut
    return np.concatenate([low, above]), np.concatenate([below, high])


def touching(
    piece: Polytope, low: Array, high: Array
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which cells may hold a point of the piece, by each row alone."""
    kept = np.ones(len(low), dtype=np.bool_)
    for row in piece.rows:
        weights, bound = row.floats()
        least = np.minimum(weights * low, weights * high).sum(axis=1)
        size = (np.abs(weights) * np.maximum(np.abs(low), np.abs(high))).sum(axis=1)
        if np.isfinite(bound):
            kept &= ~(least - 1e-12 * (size + abs(bound)) - TINY > bound)
    return kept


def _edges(low: float, high: float, count: int) -> Array:
    edges = np.linspace(low, high, count + 1)
    edges[0], edges[-1] = low, high
    if not (np.diff(edges) >= 0).all():
        raise UnsupportedError(f"[{low}, {high}] cannot be cut into {count} parts in binary64.")
    return edges
