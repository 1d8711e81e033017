"""Dyadic numbers of at most 24 bits, as a certificate holds them."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, frexp

BITS = 24
Table = list[object]
"""[shift, entries, column, ...]: whole numbers in units of 2**-shift."""


def shift_of(values: Sequence[float], most: int) -> int:
    """The shift that keeps 24 bits of the greatest of some numbers and 10 more of small ones."""
    greatest = max((abs(x) for x in values), default=1.0) or 1.0
    return max(0, min(most, BITS + 10 - frexp(greatest)[1]))


def below(value: float, shift: int) -> int:
    """The greatest number of at most 24 bits in units of 2**-shift that is not above a value."""
    whole = floor(Fraction(value) * (1 << shift))
    spare = max(0, whole.bit_length() - BITS)
    return whole >> spare << spare


def above(value: float, shift: int) -> int:
    """The least such number that is not below a value."""
    return -below(-value, shift)


def near(value: float, shift: int) -> int:
    """Such a number near a value."""
    whole = round(Fraction(value) * (1 << shift))
    spare = max(0, whole.bit_length() - BITS)
    return whole >> spare << spare
