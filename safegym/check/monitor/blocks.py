"""Which episodes of a batch are evaluated together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.ends import Ends
from safegym.check.monitor.frame import Frame, beyond_of
from safegym.check.monitor.readings import Gaps
from safegym.trace.batch import TraceBatch
from safegym.trace.episode import EndKind

Alike = tuple[EndKind, bool, tuple[tuple[str, Gaps], ...]]
"""What the episodes of a block have in common: the kind of end, whether unbounded operators may
still go on, and the gaps."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Episodes evaluated together.

    rows: which. places: the same, as a slice where they are neighbours, so that arrays need not be
    copied. last, end: each one's T and E, int64 (rows,). frame: the outline that covers them all.
    ends: where each row ends, None where all do alike. gaps: of each signal that has some.
    """

    rows: NDArray[np.int64]
    places: slice | NDArray[np.int64]
    last: NDArray[np.int64]
    end: NDArray[np.int64]
    frame: Frame
    ends: Ends | None
    gaps: dict[str, Gaps]


def blocks_of(batch: TraceBatch, size: int) -> Iterator[Block]:
    """Returns the episodes in blocks of at most `size` values, at least one episode each.

    Sorted by length, so that those of a block are of nearly the same.
    """
    last = batch.lengths - 1
    never = np.iinfo(np.int64).max
    horizons = np.array([never if each is None else each for each in batch.horizons])
    end = np.minimum(last, horizons)
    order = np.lexsort((end, last))
    groups = _groups(batch, last < horizons)
    for alike, members in groups.items():
        chosen = order if len(groups) == 1 else order[np.isin(order, members)]
        longest = last[chosen] + 1
        start = 0
        while start < len(chosen):
            sizes = np.arange(1, len(chosen) - start + 1) * longest[start:]
            stop = start + max(int(np.searchsorted(sizes, size, side="right")), 1)
            rows = chosen[start:stop]
            yield _block(rows, last[rows], end[rows], alike)
            start = stop


def _block(
    rows: NDArray[np.int64], last: NDArray[np.int64], end: NDArray[np.int64], alike: Alike
) -> Block:
    kind, unfinished, gaps = alike
    same = bool((last == last[0]).all() and (end == end[0]).all())
    frame = Frame(int(last.max()), int(end.max()), None, beyond_of(kind), unfinished)
    first, count = int(rows[0]), len(rows)
    together = bool((rows == np.arange(first, first + count)).all())
    places = slice(first, first + count) if together else rows
    return Block(rows, places, last, end, frame, None if same else Ends(last, end), dict(gaps))


def _groups(batch: TraceBatch, early: NDArray[np.bool_]) -> dict[Alike, list[int]]:
    kinds = set(batch.ends)
    if not batch.unseen and len(kinds) == 1 and (kinds != {"interrupted"} or early.all()):
        (kind,) = kinds
        return {(kind, kind == "interrupted", ()): list(range(len(batch)))}
    found: dict[Alike, list[int]] = {}
    for row, (kind, before) in enumerate(zip(batch.ends, early.tolist(), strict=True)):
        gaps = tuple(batch.unseen[row].items()) if batch.unseen else ()
        found.setdefault((kind, kind == "interrupted" and before, gaps), []).append(row)
    return found
