"""Limits of a region: numbers read exactly as they are written."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral
from typing import Any, cast

import numpy as np

from safegym.errors import FormulaError, UnsupportedError
from safegym.rational import exact

LARGEST = Fraction(float(np.finfo(np.float32).max))
MOST_DIGITS = 400
"""Before or behind the point, in decimal notation."""
_LINE = 'write (-0.1, 0.1), "-0.1..0.1", or one number'


def interval(value: Any, what: str) -> tuple[Fraction, Fraction]:
    """(low, high) of a pair, of text "low..high", or of one number, which is both.

    Raises UnsupportedError for anything else; low may be above high.
    """
    if isinstance(value, str) and ".." in value:
        low, _, high = value.partition("..")
        return number(low, what), number(high, what)
    if isinstance(value, np.ndarray):
        value = cast("list[Any]", value.tolist()) if value.ndim else value.item()
    if isinstance(value, Sequence) and not isinstance(value, str):
        ends: list[Any] = list(value)
        if len(ends) != 2:
            raise UnsupportedError(f"{what} has {len(ends)} limits, {value!r:.60}; {_LINE}.")
        return number(ends[0], what), number(ends[1], what)
    only = number(value, what)
    return only, only


def number(value: Any, what: str) -> Fraction:
    """Text, Fraction, Decimal and int exactly; a float as the binary64 number that it is.

    Raises UnsupportedError for NaN, an infinity, what is no number, or one that no observation in
    binary32 comes near.
    """
    found = _read(value, what)
    if abs(found) > LARGEST:
        raise UnsupportedError(
            f"{what} is limited by a number beyond {float(LARGEST):.9g}, the greatest of binary32, "
            f"in which observations are given; {_LINE}."
        )
    return found


def _read(value: Any, what: str) -> Fraction:
    if isinstance(value, str):
        try:
            return exact(value, what=what)
        except FormulaError as error:
            raise UnsupportedError(f"{error} For a region, {_LINE}.") from None
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < MOST_DIGITS:
        return Fraction(value)
    if isinstance(value, (bool, np.bool_)):
        raise UnsupportedError(f"{what} is limited by {value!r}, a truth value; {_LINE}.")
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, (float, np.floating)) and isfinite(value):
        return Fraction(float(cast("float", value)))
    raise UnsupportedError(
        f"{what} is limited by {value!r:.40}, which is no finite number; {_LINE}."
    )
