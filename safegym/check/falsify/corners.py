"""Corners first: every coordinate at one of its limits (bang-bang)."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.episodes import BATCH
from safegym.check.falsify.space import Point, SearchSpace

Bits = NDArray[np.bool_]
_LARGEST = 20
"""Coordinates of which all corners are ever listed."""


def corners(arena: Arena) -> None:
    """Try corners: all of them where the allowance covers them, else a low-discrepancy part."""
    generator = arena.generator("corners")
    ordered = corner_points(arena.space, arena.left, generator)
    while batch := list(islice(ordered, BATCH)):
        try:
            arena.try_points(batch)
        except Over:
            return


def corner_points(
    space: SearchSpace, limit: int, generator: np.random.Generator
) -> Iterator[Point]:
    """At most `limit` different corners: all low, all high, then the others.

    Where 2^d exceeds the limit, half of them hold every disturbance at one limit throughout, and
    the others are a scrambled Sobol sequence cut at one half.
    """
    dimension = space.dimension
    ends = (np.zeros(dimension, np.bool_), np.ones(dimension, np.bool_))
    if dimension <= _LARGEST and 2**dimension <= limit:
        rest: Iterable[Bits] = _all(dimension, generator)
    else:
        channels = [each.channel for each in space.free]
        names = list(dict.fromkeys(channels))
        spread = np.array([names.index(channel) for channel in channels])
        held = (bits[spread] for bits in _some(len(names), generator))
        whole = len(names) < dimension
        rest = chain(islice(held, limit // 2 if whole else 0), _some(dimension, generator))
    return islice(_different(chain(ends, rest)), limit)


def _different(found: Iterable[Bits]) -> Iterator[Point]:
    seen: set[bytes] = set()
    for bits in found:
        key = bits.tobytes()
        if key not in seen:
            seen.add(key)
            yield bits.astype(np.float64)


def _all(dimension: int, generator: np.random.Generator) -> Iterator[Bits]:
    """Every corner, in an order without system."""
    for number in generator.permutation(2**dimension):
        yield (int(number) >> np.arange(dimension)) % 2 == 1


def _some(dimension: int, generator: np.random.Generator) -> Iterator[Bits]:
    """A spread of corners: all of them where they are few, else a Sobol sequence cut at 1/2.

    Source: scipy.stats.qmc.Sobol (scrambled). Past its dimensions, coin flips.
    """
    if dimension <= 6:
        yield from _all(dimension, generator)
        return
    if dimension > qmc.Sobol.MAXDIM:
        for _ in range(2**12):
            yield generator.random(dimension) >= 0.5
        return
    sobol = qmc.Sobol(dimension, scramble=True, seed=generator)
    for _ in range(8):
        yield from (sobol.random(512) >= 0.5)
