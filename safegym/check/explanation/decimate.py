"""Fewer points with the same outline: the least and the greatest value of each bucket stay."""

import numpy as np
from numpy.typing import NDArray


def outline(values: NDArray[np.float64], most: int, keep: tuple[int, ...] = ()) -> NDArray[np.intp]:
    """Returns the indices to draw, ascending: all of them up to `most`, else about `most`.

    Of each bucket of neighbours the first of its least and of its greatest values; both ends and
    `keep` are always there, so that no extreme is hidden. O(n).
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    width = -(-n // max(most // 2, 1))
    whole = n // width * width
    cut = values[:whole].reshape(-1, width)
    starts = np.arange(0, whole, width)
    found = [starts + cut.argmin(axis=1), starts + cut.argmax(axis=1), np.array([0, n - 1])]
    if whole < n:
        rest = values[whole:]
        found.append(whole + np.array([rest.argmin(), rest.argmax()]))
    inside = [index for index in keep if 0 <= index < n]
    return np.unique(np.concatenate([*found, np.array(inside, dtype=np.intp)]))


def joined(intervals: tuple[tuple[int, int], ...], gap: int) -> list[tuple[int, int]]:
    """Returns ascending intervals with those joined that lie at most `gap` samples apart."""
    found: list[tuple[int, int]] = []
    for first, last in intervals:
        if found and first - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
