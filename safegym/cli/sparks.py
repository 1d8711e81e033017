"""A series as one line of blocks, for the terminal."""

from collections.abc import Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"
FLAT = "▄"


def spark(
    values: Sequence[float], width: int, *, low: float | None = None, high: float | None = None
) -> str:
    """The values as at most `width` blocks, from the lowest (or `low`) to the highest (or `high`).

    A longer series is drawn whole, each block the mean of its share.
    """
    if not values or width < 1:
        return ""
    drawn = _means(values, width)
    least = min(drawn if low is None else (low, *drawn))
    most = max(drawn if high is None else (high, *drawn))
    if most <= least:
        return (FLAT if low is None else BLOCKS[0]) * len(drawn)
    step = (most - least) / (len(BLOCKS) - 1)
    return "".join(BLOCKS[round((value - least) / step)] for value in drawn)


def _means(values: Sequence[float], width: int) -> list[float]:
    number = len(values)
    if number <= width:
        return list(values)
    edges = [number * i // width for i in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
