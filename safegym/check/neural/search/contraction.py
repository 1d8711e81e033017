"""Contraction: slices of a box that rows close are cut off before the box is split.

Cutting a domain by the linear bounds that were computed on it saves most of the boxes of an input
split. Here a cut is a plane x_d = p, so that boxes stay boxes and the tree stays a tree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.search.rows import Array, Rows, least

SMALLEST = 0.02  # share of a side below which a slice is not worth a cut
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Cut(NamedTuple):
    """A slice cut off each box where `made`: dimension, which end, the plane p (B,).

    rows (B, C): the row that closes the slice for each clause; meaningless where it is closed.
    """

    dimension: int
    top: bool
    made: Flags
    point: Array
    rows: Index


class Contracted(NamedTuple):
    """The boxes that are left, the share of each that is left, and the cuts in their order."""

    low: Array
    high: Array
    left: Array
    cuts: tuple[Cut, ...]


def contract(
    rows: Rows,
    groups: Sequence[Index],
    open: Flags,
    low: Array,
    high: Array,
    dimensions: Sequence[int],
) -> Contracted:
    """Boxes without the slices on which every clause that is open has a positive row.

    groups: for each clause, the rows that close it. open (B, C). A slice is the part of a box on
    one side of a plane; it is cut off only if the minima of its rows, rounded outward, are above
    0. Where all of a box would go, a sliver stays.
    """
    low, high = low.copy(), high.copy()
    left, cuts = np.ones(len(low)), list[Cut]()
    for dimension in dimensions:
        for top in (True, False):
            cut = _slice(rows, groups, open, low, high, dimension, top)
            if cut is None:
                continue
            side = high[:, dimension] - low[:, dimension]
            (high if top else low)[cut.made, dimension] = cut.point[cut.made]
            kept = high[:, dimension] - low[:, dimension]
            left *= np.where(cut.made, kept / np.where(side > 0.0, side, 1.0), 1.0)
            cuts.append(cut)
    return Contracted(low, high, left, tuple(cuts))


def _slice(
    rows: Rows,
    groups: Sequence[Index],
    open: Flags,
    low: Array,
    high: Array,
    d: int,
    top: bool,
) -> Cut | None:
    """The largest slice at one end of dimension d that can go, if any box has one."""
    share, chosen = _shares(rows, groups, open, low, high, d, top)
    side = high[:, d] - low[:, d]
    wanted = share > SMALLEST
    if not wanted.any():
        return None
    depth = np.minimum(share, 0.999) * side
    point = high[:, d] - depth if top else low[:, d] + depth
    wanted &= (low[:, d] < point) & (point < high[:, d])
    bottom, ceiling = low.copy(), high.copy()
    (bottom if top else ceiling)[:, d] = np.where(wanted, point, (low if top else high)[:, d])
    every = np.arange(len(low))[:, None]
    worth = least(
        Rows(rows.coefficients[every, chosen], rows.constants[every, chosen]), bottom, ceiling
    )
    made = wanted & ((worth > 0.0) | ~open).all(axis=1)
    return Cut(d, top, made, point, chosen) if made.any() else None


def _shares(
    rows: Rows,
    groups: Sequence[Index],
    open: Flags,
    low: Array,
    high: Array,
    d: int,
    top: bool,
) -> tuple[Array, Index]:
    """The share (B,) of the side that can go, a guess, and the row (B, C) that does it."""
    a, c = rows
    slope, side = a[:, :, d], (high[:, d] - low[:, d])[:, None]
    near = slope * (low if top else high)[:, d, None]  # at the end that stays
    ends = c + np.minimum(a * low[:, None], a * high[:, None]).sum(axis=2)
    far = ends - np.minimum(slope * low[:, d, None], slope * high[:, d, None])
    usable = (slope > 0.0 if top else slope < 0.0) & (side > 0.0)
    rise = np.where(usable, np.abs(slope) * side, 1.0)
    reached = np.where(usable, -(far + near) / rise, np.inf)  # share of the side that stays
    gone = np.where(usable, 1.0 - np.maximum(reached, 0.0) - 1e-6, 0.0)
    every = np.arange(len(low))
    picked = np.stack([group[np.argmax(gone[:, group], axis=1)] for group in groups], axis=1)
    each = np.where(open, gone[every[:, None], picked], np.inf)
    return np.where(open.any(axis=1), each.min(axis=1), 0.0), picked
