"""What is to be proved of a graph: over a region, some output of each clause is positive."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph

Semantics = Literal["real", "deployed float32"]
"""Real: the function in exact arithmetic. Deployed float32: any result that the deployed program
can give in IEEE binary64 and binary32, round to nearest, sums in any order, no flush to zero."""


@dataclass(frozen=True, slots=True)
class Positive:
    """Output `output` of the graph is > 0 (strict), or >= 0."""

    output: int
    strict: bool = True


Clause = tuple[Positive, ...]
"""At least one of its literals holds."""


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """coefficients . x <= bound, exactly."""

    coefficients: tuple[Fraction, ...]
    bound: Fraction


@dataclass(frozen=True, slots=True)
class Region:
    """A box of exact rational limits, both ends included, cut by half spaces."""

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    cuts: tuple[HalfSpace, ...] = ()

    def outward(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest binary64 box that holds the box."""
        return (
            np.array([_toward(value, -np.inf) for value in self.low]),
            np.array([_toward(value, np.inf) for value in self.high]),
        )

    def contains(self, point: Sequence[Fraction | float]) -> bool:
        """Whether a point lies in the region, decided exactly."""
        exact = [Fraction(value) for value in point]
        inside = all(
            low <= value <= high
            for low, value, high in zip(self.low, exact, self.high, strict=True)
        )
        return inside and all(
            sum(
                (c * value for c, value in zip(cut.coefficients, exact, strict=True)),
                Fraction(0),
            )
            <= cut.bound
            for cut in self.cuts
        )

    def spans(self, low: Sequence[float], high: Sequence[float]) -> bool:
        """Whether no cut takes a point from a box with these ends (n,), decided exactly."""
        return all(
            sum(
                (
                    c * Fraction(float(b if c > 0 else a))
                    for c, a, b in zip(cut.coefficients, low, high, strict=True)
                ),
                Fraction(0),
            )
            <= cut.bound
            for cut in self.cuts
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """For every x in the region, each clause holds of graph(x)."""

    graph: Graph
    region: Region
    clauses: tuple[Clause, ...]
    semantics: Semantics = "deployed float32"


def _toward(value: Fraction, end: float) -> float:
    near = float(value)
    if (near > value and end < 0) or (near < value and end > 0):
        return float(np.nextafter(near, end))
    return near
