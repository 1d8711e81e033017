"""Gaps: closed intervals of samples at which a signal is not known."""

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.names import unknown_name

Gaps = tuple[tuple[int, int], ...]
"""Closed intervals (first, last) of sample indices: sorted, disjoint, none next to another."""
GapsBySignal = Mapping[str, Gaps]


def gaps_by_signal(given: Any, signals: Iterable[str], steps: int) -> dict[str, Gaps]:
    """Gaps of each signal that has some, in normal form.

    given: intervals that all signals share, such as [(3, 5)], or a mapping from signal to
    intervals. Raises TraceError for an unknown signal, or an interval outside of 0..steps.
    """
    names = list(signals)
    if not isinstance(given, Mapping):
        given = dict.fromkeys(names, given)
    found: dict[str, Gaps] = {}
    for name, intervals in given.items():
        if name not in names:
            raise TraceError(f"gaps name {unknown_name(str(name), names)}")
        gaps = _normal(_pairs(intervals, name, steps))
        if gaps:
            found[str(name)] = gaps
    return dict(sorted(found.items()))


def _pairs(intervals: Any, name: str, steps: int) -> list[tuple[int, int]]:
    try:
        pairs = [(operator.index(first), operator.index(last)) for first, last in intervals]
    except (TypeError, ValueError):
        raise TraceError(
            f"The gaps of {name} are {intervals!r:.80}; write pairs of sample indices, both "
            "included, such as gaps=[(3, 5)]."
        ) from None
    for first, last in pairs:
        if not 0 <= first <= last <= steps:
            raise TraceError(
                f"Signal {name} has a gap from sample {first} to sample {last}; a gap lies within "
                f"the samples 0..{steps}, its first sample first."
            )
    return pairs


def _normal(intervals: Iterable[tuple[int, int]]) -> Gaps:
    """Sorted, overlapping and neighbouring intervals joined."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def union(many: Iterable[Gaps]) -> Gaps:
    """The samples that lie in any of several gaps."""
    return _normal(interval for gaps in many for interval in gaps)


def gaps_where(hidden: NDArray[np.bool_]) -> Gaps:
    """The runs of True in an array over samples."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], hidden, [False]))))
    return tuple(
        (int(first), int(stop) - 1) for first, stop in zip(edges[::2], edges[1::2], strict=True)
    )


def hidden_at(gaps: Gaps, samples: int) -> NDArray[np.bool_]:
    """The gaps as an array, shape (samples,): True where nothing is known."""
    hidden = np.zeros(samples, dtype=np.bool_)
    for first, last in gaps:
        hidden[first : last + 1] = True
    return hidden
