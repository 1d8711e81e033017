"""Observations that exist: binary32 numbers inside an exact region, near a given point."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.problem import Region

TRIES = 64
NEIGHBOURS = 256
"""Points drawn around one, at most."""


def rounded(
    point: NDArray[np.float64], region: Region, *, tries: int = TRIES
) -> Iterator[NDArray[np.float64]]:
    """Points of the region with binary32 entries near `point`, nearest first; maybe none.

    Only points for which the region holds exactly are given.
    """
    ends = [
        _ends(x, low, high) for x, low, high in zip(point, region.low, region.high, strict=True)
    ]
    if any(not each for each in ends):
        return
    seen: set[tuple[float, ...]] = set()
    for choice in _choices(ends, tries):
        if choice not in seen and region.contains(choice):
            seen.add(choice)
            yield np.array(choice)


def nearest(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each entry rounded to binary32, whatever the region."""
    return np.asarray(np.asarray(point, dtype=np.float32), dtype=np.float64)


def sampled(region: Region, count: int, *, seed: int = 0) -> list[NDArray[np.float64]]:
    """At most `count` points of the region with binary32 entries, drawn at random from its box."""
    least = np.array([_single(value, np.inf) for value in region.low])
    most = np.array([_single(value, -np.inf) for value in region.high])
    if (least > most).any():
        return []
    low, high = region.outward()
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(low)))
    points = np.clip(drawn.astype(np.float32).astype(np.float64), least, most)
    return [point for point in points if not region.cuts or region.contains(list(point))]


def _single(value: Fraction, end: float) -> float:
    """The binary32 number nearest to a limit on the side of `end`."""
    near = np.float32(float(value))
    short = Fraction(float(near)) < value if end > 0 else Fraction(float(near)) > value
    return float(np.nextafter(near, np.float32(end)) if short else near)


def without_number(region: Region) -> list[int]:
    """Entries of the region's box in which no binary32 number lies."""
    return [
        at
        for at, (low, high) in enumerate(zip(region.low, region.high, strict=True))
        if not _ends(float(low), low, high)
    ]


def neighbours(
    point: NDArray[np.float64], region: Region, *, seed: int = 0
) -> Iterator[NDArray[np.float64]]:
    """Points of the region around `point`, from a relative 1e-7 of its sides to a hundredth."""
    random = np.random.default_rng(seed)
    low, high = region.outward()
    for number in range(NEIGHBOURS):
        reach = (high - low) * 10.0 ** -(2 + 5 * number / NEIGHBOURS)
        moved = np.clip(point + random.uniform(-1.0, 1.0, len(point)) * reach, low, high)
        yield from rounded(moved, region, tries=1)


def _ends(x: float, low: Fraction, high: Fraction) -> list[float]:
    """The binary32 numbers next to x that lie within [low, high], the nearest first."""
    near = np.float32(min(max(x, float(low)), float(high)))
    with np.errstate(over="ignore"):
        around = [near, *(np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))]
    finite = [float(each) for each in around if np.isfinite(each)]
    inside = [each for each in finite if low <= Fraction(each) <= high]
    return sorted(inside, key=lambda each: abs(each - x))


def _choices(ends: list[list[float]], tries: int) -> Iterator[tuple[float, ...]]:
    yield tuple(each[0] for each in ends)
    random = np.random.default_rng(0)
    for _ in range(tries - 1):
        yield tuple(each[random.integers(len(each))] for each in ends)
