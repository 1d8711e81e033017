"""Exact rational numbers: from what people write, and back to text."""

import re
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from numbers import Real
from typing import SupportsFloat

from safegym.errors import FormulaError

RELATIVE_TOLERANCE = Fraction(1, 10**12)
LARGEST = 10**30
LONGEST_TEXT = 80
LONGEST_DECIMAL = 15

Exact = int | float | str | Fraction | Decimal

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\Z", re.ASCII)
_QUOTIENT = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)


def exact(value: Exact, *, what: str = "A time") -> Fraction:
    """Returns the exact rational that `value` stands for.

    Text is read as written: "0.1", "1e-3", "1/240". Integers, Fraction and Decimal are exact. A
    float becomes the simplest rational within 1e-12 relative of it (an integral float stays what
    it is), so that 0.1 means 1/10. Raises FormulaError, naming `what`, for anything else.
    """
    number = _from_text(value, what) if isinstance(value, str) else _from_number(value, what)
    if abs(number.numerator) > LARGEST or number.denominator > LARGEST:
        raise FormulaError(
            f"{what} must be a rational with at most 30 digits above and below the line; "
            f"this one is about {float(number) if abs(number) < LARGEST else 'out of range'}."
        )
    return number


def _from_text(text: str, what: str) -> Fraction:
    body = text.strip()
    if len(body) <= LONGEST_TEXT and (_DECIMAL.match(body) or _is_quotient(body)):
        return Fraction(body)
    raise FormulaError(
        f'{what} must be a number such as "0.1" or "1/240", found {text[:LONGEST_TEXT]!r}.'
    )


def _is_quotient(body: str) -> bool:
    return _QUOTIENT.match(body) is not None and int(body.partition("/")[2]) != 0


def _from_number(value: object, what: str) -> Fraction:
    if isinstance(value, bool):
        raise FormulaError(f"{what} must be a number, found the truth value {value}.")
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 100:
        return Fraction(value)
    if isinstance(value, Real) and isfinite(value):
        return simplest_near(float(value))
    found = f"{value!r:.60} ({type(value).__name__})"
    raise FormulaError(f'{what} must be a finite number such as 0.1 or "1/240", found {found}.')


def simplest_near(value: SupportsFloat) -> Fraction:
    """Returns the rational of least denominator within 1e-12 relative of a finite float."""
    number = float(value)
    if number.is_integer():
        return Fraction(number)
    size = abs(Fraction(number))
    slack = size * RELATIVE_TOLERANCE
    found = simplest_between(size - slack, size + slack)
    return found if number > 0 else -found


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Returns the rational of least denominator in [low, high], for 0 < low <= high.

    Walks the common start of the two continued fractions (the Stern-Brocot path).
    """
    whole_parts: list[int] = []
    while ceil(low) > high:
        whole = floor(low)
        whole_parts.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    found = Fraction(ceil(low))
    for whole in reversed(whole_parts):
        found = whole + 1 / found
    return found


def rational_text(value: Fraction) -> str:
    """Returns canonical text: a plain decimal of at most 15 places if exact, else "p/q"."""
    places = _decimal_places(value.denominator)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * (10**places // value.denominator)).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    if places == 0:
        return sign + digits
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _decimal_places(denominator: int) -> int | None:
    """Places after the point that write 1/denominator exactly, None if more than 15."""
    for places in range(LONGEST_DECIMAL + 1):
        if 10**places % denominator == 0:
            return places
    return None
