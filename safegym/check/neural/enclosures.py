"""Rational enclosures of tanh, sigmoid, exp, sqrt, sin and cos at rational points.

exp is the standard library's decimal exponential, which is correctly rounded; sqrt is the integer
square root; sin and cos are Taylor series whose remainder is bounded by the first term left out
(the series alternates and its terms fall).
"""

import decimal
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isqrt

from safegym.errors import UnsupportedError

Enclosure = tuple[Fraction, Fraction]
"""(lower, upper): the value lies between them, ends included."""

GREATEST = 20_000
"""exp is refused above this, where its value has thousands of digits."""


def exp(x: Fraction, digits: int) -> Enclosure:
    """The exponential, to `digits` significant digits. Raises UnsupportedError above 20000."""
    if x == 0:
        return Fraction(1), Fraction(1)
    if x > GREATEST:
        raise UnsupportedError(f"exp({float(x):g}) is too great to be written down exactly.")
    if x < -GREATEST:
        return Fraction(0), exp(Fraction(-GREATEST), digits)[1]
    lower, upper = _context(digits, decimal.ROUND_FLOOR), _context(digits, decimal.ROUND_CEILING)
    top, bottom = Decimal(x.numerator), Decimal(x.denominator)
    below = lower.next_minus(lower.exp(lower.divide(top, bottom)))
    above = upper.next_plus(upper.exp(upper.divide(top, bottom)))
    return Fraction(below), Fraction(above)


def tanh(x: Fraction, digits: int) -> Enclosure:
    """The hyperbolic tangent, 1 - 2 / (exp(2 x) + 1), to about `digits` digits."""
    if x == 0:
        return x, x
    if x < 0:
        low, high = tanh(-x, digits)
        return -high, -low
    low, high = exp(2 * _capped(x, digits), digits + _smallness(x))
    greatest = Fraction(1) if 2 * x > 3 * digits else 1 - 2 / (high + 1)
    return _rounded((max(Fraction(0), 1 - 2 / (low + 1)), greatest), digits + _smallness(x))


def sigmoid(x: Fraction, digits: int) -> Enclosure:
    """1 / (1 + exp(-x)), to about `digits` digits."""
    if x == 0:
        return Fraction(1, 2), Fraction(1, 2)
    if x > 0:
        low, high = sigmoid(-x, digits)
        return 1 - high, 1 - low
    low, high = exp(x, digits)
    return _rounded((low / (1 + low), high / (1 + high)), digits)


def sqrt(x: Fraction, digits: int) -> Enclosure:
    """The square root; exact for the square of a rational. Raises UnsupportedError below 0."""
    if x < 0:
        raise UnsupportedError(f"sqrt of {float(x):g} is not a real number.")
    top, bottom = isqrt(x.numerator), isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom), Fraction(top, bottom)
    scale = 10 ** (digits + _smallness(x))
    root = isqrt(x.numerator * x.denominator * scale * scale)
    return Fraction(root, x.denominator * scale), Fraction(root + 1, x.denominator * scale)


def sin(x: Fraction, digits: int) -> Enclosure:
    """The sine of an angle in radians, to `digits` digits after the point."""
    return (x, x) if x == 0 else _turned(x, digits, 1)


def cos(x: Fraction, digits: int) -> Enclosure:
    """The cosine of an angle in radians, to `digits` digits after the point."""
    return (Fraction(1), Fraction(1)) if x == 0 else _turned(x, digits, 0)


@cache
def _context(digits: int, rounding: str) -> decimal.Context:
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    return decimal.Context(digits + 8, rounding, -(10**6), 10**6, 1, 0, [], traps)


def _capped(x: Fraction, digits: int) -> Fraction:
    return min(x, Fraction(2 * digits))


def _smallness(x: Fraction) -> int:
    """Leading zeros of |x| < 1 after the point, about."""
    return max(0, len(str(x.denominator)) - len(str(abs(x.numerator))))


def _rounded(values: Enclosure, digits: int) -> Enclosure:
    scale = 10 ** (digits + 4)
    low, high = values
    return Fraction(low * scale // 1, scale), Fraction(-(-high * scale // 1), scale)


def _turned(x: Fraction, digits: int, first: int) -> Enclosure:
    """The sine (first = 1) or cosine (0): both change by at most as much as their argument does."""
    scale = 10 ** (digits + 6)
    more = max(0, len(str(abs(x.numerator) // x.denominator)))
    low, high = _pi(digits + 6 + more)
    turns = round(x / (low + high))  # whole turns: low + high is about 2 pi
    middle = x - turns * (low + high)
    slack = abs(turns) * (high - low)
    argument = round(middle * scale)
    total, wrong = _series(argument, scale, first)
    error = slack + Fraction(wrong + 1, scale)
    value = Fraction(total, scale)
    return max(Fraction(-1), value - error), min(Fraction(1), value + error)


def _series(argument: int, scale: int, first: int) -> tuple[int, int]:
    """(sum, bound on its error), both in units of 1 / scale; |argument| < 3.2 scale."""
    square = argument * argument
    term = argument if first else scale
    total, order, wrong = term, first, 6  # 6: the terms left out, which alternate and fall
    while term:
        term = -(term * square // (scale * scale * (order + 1) * (order + 2)))
        order += 2
        total += term
        wrong += 2  # this floor's error, below 1, and what is left of the floors before
    return total, wrong


@cache
def _pi(digits: int) -> Enclosure:
    """Machin's formula, 16 arctan(1/5) - 4 arctan(1/239), in units of 10 ** -digits."""
    scale = 10 ** (digits + 4)
    (a, b), (c, d) = _arctan(5, scale), _arctan(239, scale)
    return Fraction(16 * a - 4 * d, scale), Fraction(16 * b - 4 * c, scale)


def _arctan(inverse: int, scale: int) -> tuple[int, int]:
    total, power, order, sign = 0, scale // inverse, 1, 1
    while power:
        total += sign * (power // order)
        power //= inverse * inverse
        order, sign = order + 2, -sign
    return total - order, total + order
