"""Exact affine forms, give or take a radius, on variables with bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.object_]
Matrix = NDArray[np.float64]
INFINITY = float("inf")
End = Fraction | float
"""An exact number, or an infinity."""
Interval = tuple[End, End]
FINE = 2**80
"""Bounds and radii are widened to multiples of 1/FINE, to keep their digits few."""


@dataclass(slots=True)
class Variables:
    """The variables of a query in order: inputs, then one for each thing that is not affine."""

    bounds: list[Interval] = field(default_factory=list[Interval])

    def __len__(self) -> int:
        return len(self.bounds)

    def add(self, low: End, high: End) -> int:
        """A variable in [low, high], at most widened a little; returns its number."""
        self.bounds.append((widened_down(low), -widened_down(-high)))
        return len(self.bounds) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """entries = (rows @ variables + offset) / below, give or take radius / FINE.

    rows: (m, variables so far); a form of fewer columns does not read the later variables.
    """

    rows: Integers
    offset: Integers
    below: int
    radius: Integers

    @property
    def size(self) -> int:
        """How many entries."""
        return len(self.offset)

    def entry(self, at: int) -> "Line":
        """One entry on its own."""
        found = {k: Fraction(c, self.below) for k, c in enumerate(self.rows[at].tolist()) if c}
        return Line(found, Fraction(self.offset[at], self.below), Fraction(self.radius[at], FINE))


@dataclass(frozen=True, slots=True)
class Line:
    """sum of coefficient * variable + constant, give or take radius."""

    coefficients: Mapping[int, Fraction]
    constant: Fraction
    radius: Fraction = Fraction(0)

    def bounds(self, variables: Variables) -> Interval:
        """What this can be while every variable lies in its bounds; the radius included."""
        low: End = self.constant - self.radius
        high: End = self.constant + self.radius
        for variable, c in self.coefficients.items():
            ends = variables.bounds[variable]
            low = plus(low, times(c, ends[c < 0]))
            high = plus(high, times(c, ends[c > 0]))
        return low, high

    def scaled(self, factor: Fraction, shift: Fraction = Fraction(0)) -> "Line":
        """Factor times this, plus shift."""
        by = {variable: factor * c for variable, c in self.coefficients.items() if factor}
        return Line(by, factor * self.constant + shift, abs(factor) * self.radius)

    def minus(self, other: "Line") -> "Line":
        """The difference; radii add up."""
        by = dict(self.coefficients)
        for variable, c in other.coefficients.items():
            by[variable] = by.get(variable, Fraction(0)) - c
        return Line(by, self.constant - other.constant, self.radius + other.radius)

    def wider(self, error: Fraction) -> "Line":
        """The same, off by up to `error` more."""
        return Line(self.coefficients, self.constant, self.radius + error)


def times(a: End, b: End) -> End:
    """The product; 0 times infinity is 0, since no number of an interval is infinite.

    Not by way of floats: an exact number may be too large or too small for one.
    """
    if a == 0 or b == 0:
        return Fraction(0)
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    return INFINITY if (a > 0) == (b > 0) else -INFINITY


def plus(a: End, b: End) -> End:
    """The sum of two ends of one side, of which no two are opposite infinities."""
    if isinstance(a, float):
        return a
    return b if isinstance(b, float) else a + b


def widened_down(value: End) -> End:
    """The greatest multiple of 1/FINE that is no greater."""
    if isinstance(value, float):
        return value
    return Fraction(value.numerator * FINE // value.denominator, FINE)


def ceiling(value: Fraction) -> int:
    """The least whole number of 1/FINE that is no less."""
    return -(-value.numerator * FINE // value.denominator)


def integers(values: Matrix) -> tuple[Integers, int]:
    """A float array as exact integers over a common power of two."""
    pairs = [value.as_integer_ratio() for value in values.ravel().tolist()]
    below = max((d for _, d in pairs), default=1)
    whole = np.empty(len(pairs), dtype=object)
    whole[:] = [n * (below // d) for n, d in pairs]
    return whole.reshape(values.shape), below


def affine_of(lines: Sequence[Line], width: int) -> Affine:
    """Lines over the first `width` variables as one form."""
    numbers = [c for line in lines for c in (*line.coefficients.values(), line.constant)]
    below = lcm(*(c.denominator for c in numbers)) if numbers else 1
    rows, offset, radius = zeros((len(lines), width)), zeros((len(lines),)), zeros((len(lines),))
    for at, line in enumerate(lines):
        for variable, c in line.coefficients.items():
            rows[at, variable] = c.numerator * (below // c.denominator)
        offset[at] = line.constant.numerator * (below // line.constant.denominator)
        radius[at] = ceiling(line.radius)
    return Affine(rows, offset, below, radius)


def mapped(parts: Sequence[tuple[Matrix, Affine]], bias: Matrix, width: int) -> Affine:
    """The sum of matrix @ form over parts, plus bias; radii grow with the absolute values."""
    whole = [(*integers(matrix), form) for matrix, form in parts]
    shift, fraction = integers(bias)
    below = lcm(fraction, *(d * form.below for _, d, form in whole))
    rows, offset = zeros((len(bias), width)), shift * (below // fraction)
    radius = zeros((len(bias),))
    for matrix, d, form in whole:
        factor = below // (d * form.below)
        rows[:, : form.rows.shape[1]] += product(matrix, form.rows) * factor
        offset = offset + product(matrix, form.offset[:, None])[:, 0] * factor
        if form.radius.any():
            radius = radius - (-product(abs(matrix), form.radius[:, None])[:, 0] // d)
    return Affine(rows, offset, below, radius)


def product(left: Integers, right: Integers) -> Integers:
    """Matrix product of integers of any size; columns of zeros cost nothing."""
    found = zeros((left.shape[0], right.shape[1]))
    for column in range(right.shape[1]):
        used = np.flatnonzero(right[:, column])
        if used.size:
            found[:, column] = cast("Any", left[:, used]).dot(right[used, column])
    return found


def zeros(shape: tuple[int, ...]) -> Integers:
    """Integer zeros of any size."""
    found = np.empty(shape, dtype=object)
    found.fill(0)
    return found
