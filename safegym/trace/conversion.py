"""A signal's numbers in another unit: each the binary64 nearest to value * factor, ties to even.

The factor is exact (a rational, times a power of pi), so a converted number is within half a unit
in the last place of the true one, and every reader of a trace gets the same bits. Arrays go through
error-free products (products.py); what those leave in doubt, exact integers decide.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from safegym.trace.products import lost
from safegym.units import Factor, factor_between

Floats = NDArray[np.float64]
FEW = 12
"""Numbers up to which exact integers are quicker than arrays."""
CHUNK = 8192
"""Numbers converted at once, so that the intermediate arrays stay in the cache."""
SAFE = 2.0**900
"""Beyond this, or below its inverse, a product's error may not be a binary64 number."""
LARGEST_TERM = 2**45
"""Numerator or denominator up to which one correction of a quotient is exact."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One signal from the unit it was recorded in to the unit it is read in."""

    signal: str
    recorded: str
    read: str
    factor: Factor

    def __str__(self) -> str:
        return f"{self.signal}: recorded in {self.recorded}, read in {self.read} (x {self.factor})"

    def __call__(self, values: Floats) -> Floats:
        """Returns the numbers in the unit read, any shape; infinite where too large."""
        return nearest_products(values, self.factor)


@lru_cache(maxsize=1024)
def conversion(signal: str, recorded: str, read: str) -> Conversion | None:
    """Returns how a signal is converted, None if it stays as it is.

    Raises UnitError if no factor leads from one unit to the other.
    """
    factor = factor_between(recorded, read)
    return None if factor.is_one else Conversion(signal, recorded, read, factor)


def nearest_products(values: Floats, factor: Factor) -> Floats:
    """Returns for each value the binary64 nearest to value * factor; overflow is infinite."""
    if factor.is_one:
        return values
    flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    result = np.empty_like(flat)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, CHUNK):
            part = slice(start, start + CHUNK)
            result[part] = _chunk(flat[part], factor)
    return result.reshape(np.shape(values))


def _chunk(values: Floats, factor: Factor) -> Floats:
    above, below = factor.ratio.numerator, factor.ratio.denominator
    if not factor.pi_power and below == 1 and _is_binary64(above):
        return values * float(above)
    if not factor.pi_power and above == 1 and _is_binary64(below):
        return values / float(below)
    if values.size <= FEW:
        return np.array([_exact(float(value), factor) for value in values], dtype=np.float64)
    if not factor.pi_power and max(above, below) <= LARGEST_TERM:
        result, sure = _by_ratio(values, float(above), float(below))
    else:
        result, sure = _by_pair(values, *_pair(factor))
    for at in np.flatnonzero(~sure):
        result[at] = _exact(float(values[at]), factor)
    return result


def _is_binary64(number: int) -> bool:
    return number < 2**1000 and int(float(number)) == number


def _by_ratio(values: Floats, above: float, below: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Quotients corrected once by their exact remainder; sure where nothing left the range.

    The remainder is a whole multiple of the smaller last place of the two operands, of at most
    about 2^47 of them, so it is exact; and divided by `below` it cannot round onto or across the
    middle between two binary64 numbers, so the last addition rounds as the exact value would.
    """
    product = values * above
    quotient = product / below
    back = quotient * below
    rest = (product - back) + (lost(values, above, product) - lost(quotient, below, back))
    return quotient + rest / below, _in_range(values, product, quotient)


def _by_pair(values: Floats, high: float, low: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Products with a factor high + low of 106 bits; sure where its error cannot matter."""
    product = values * high
    small = lost(values, high, product) + values * low
    error = np.abs(product) * 2.0**-102
    result = product + (small - error)
    sure = (result == product + (small + error)) & _in_range(values, product)
    return result, sure


def _in_range(*arrays: Floats) -> NDArray[np.bool_]:
    """Where all are zero, or none is near overflow or underflow."""
    sizes = [np.abs(array) for array in arrays]
    least, most = sizes[0], sizes[0]
    for size in sizes[1:]:
        least, most = np.minimum(least, size), np.maximum(most, size)
    return np.asarray(((least >= 1 / SAFE) & (most <= SAFE)) | (arrays[0] == 0.0))


@lru_cache(maxsize=256)
def _pair(factor: Factor) -> tuple[float, float]:
    """The factor as a sum of two binary64 numbers; NaN, never sure, where it is out of range."""
    low, high = _enclosed(factor, 256)
    if not Fraction(1, 2**900) < low <= high < 2**900:
        return float("nan"), 0.0
    first = low.numerator / low.denominator
    rest = low - Fraction(first)
    return first, rest.numerator / rest.denominator


def _exact(value: float, factor: Factor) -> float:
    """The binary64 nearest to value * factor, in integers; infinite beyond the largest."""
    if value == 0.0 or not isfinite(value):
        return value
    if not factor.pi_power:
        return _nearest(value, factor.ratio)
    bits = 256
    while True:
        low, high = (_nearest(value, bound) for bound in _enclosed(factor, bits))
        if low == high:
            return low
        bits *= 2


def _nearest(value: float, factor: Fraction) -> float:
    above, below = value.as_integer_ratio()
    try:
        return (above * factor.numerator) / (below * factor.denominator)  # rounds to nearest, even
    except OverflowError:
        return float("inf") if above > 0 else float("-inf")


def rational_factor(factor: Factor) -> Fraction:
    """Returns the factor where it is rational, else a rational within 2^-250 of it, relatively."""
    return _enclosed(factor, 256)[0]


@lru_cache(maxsize=256)
def _enclosed(factor: Factor, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above the factor, equal where it is rational."""
    if not factor.pi_power:
        return factor.ratio, factor.ratio
    low, high = (bound**factor.pi_power for bound in _pi(bits))
    return factor.ratio * min(low, high), factor.ratio * max(low, high)


@lru_cache(maxsize=16)
def _pi(bits: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above pi, within 2^-bits of it. Source: Machin's formula."""
    guard = 32
    one = 1 << (bits + guard)
    near = 4 * (4 * _arc_cotangent(5, one) - _arc_cotangent(239, one))
    error = 1 << (guard - 2)
    return Fraction(near - error, one), Fraction(near + error, one)


def _arc_cotangent(of: int, one: int) -> int:
    """The arc cotangent of `of`, times one; each term of the series is less than two off."""
    total, power, number, sign = 0, one // of, 1, 1
    while power:
        total += sign * (power // number)
        power //= of * of
        number, sign = number + 2, -sign
    return total
