"""Decimal arithmetic with directed rounding: certified lower and upper ends of real numbers."""

from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Directed:
    """Two contexts of the same precision, one rounding down and one up.

    All operands used with it are >= 0, so every product, sum and quotient of lower ends taken
    with `down` (upper ends with `up`) is again a lower (upper) end.
    """

    digits: int
    down: Context
    up: Context

    def lower(self, exact: Fraction) -> Decimal:
        """A decimal <= `exact`."""
        return self.down.divide(Decimal(exact.numerator), Decimal(exact.denominator))

    def upper(self, exact: Fraction) -> Decimal:
        """A decimal >= `exact`."""
        return self.up.divide(Decimal(exact.numerator), Decimal(exact.denominator))


@lru_cache(maxsize=8)
def directed(digits: int) -> Directed:
    """Directed arithmetic with that many significant digits and the widest exponent range."""

    def context(rounding: str) -> Context:
        return Context(
            prec=digits,
            rounding=rounding,
            Emin=MIN_EMIN,
            Emax=MAX_EMAX,
            traps=[InvalidOperation, DivisionByZero, Overflow],
        )

    return Directed(digits, context(ROUND_FLOOR), context(ROUND_CEILING))


def power(base: Decimal, exponent: int, context: Context) -> Decimal:
    """`base ** exponent` by squaring, every product rounded in the context's direction.

    base >= 0, exponent >= 0; 0 ** 0 = 1. (`Context.power` is only correct to within one unit in
    the last place, in either direction, so it certifies nothing.)
    """
    result = Decimal(1)
    square = base
    while exponent:
        if exponent & 1:
            result = context.multiply(result, square)
        exponent >>= 1
        if exponent:
            square = context.multiply(square, square)
    return result
