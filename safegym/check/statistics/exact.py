"""Exact readings of probabilities, levels and counts, with the refusals that belong to them."""

import math
import operator
import re
from collections.abc import Collection
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from safegym.errors import EvidenceError

Probability = float | Fraction
_QUOTIENT = re.compile(r"-?[0-9]{1,2500}/[0-9]{1,2500}")


def exact_probability(value: Probability, name: str) -> Fraction:
    """The exact rational in (0, 1) that `value` denotes; a float means its binary64 value.

    Raises EvidenceError if it is not a number strictly between 0 and 1.
    """
    exact = value if isinstance(value, Fraction) else Fraction(finite_float(value, name))
    if not 0 < exact < 1:
        raise EvidenceError(
            f"{name} = {value} is not strictly between 0 and 1; write for example "
            f"{name}={0.95 if name == 'confidence' else 0.05}."
        )
    return exact


def finite_float(value: object, name: str) -> float:
    """`value` as a finite float. Raises EvidenceError for booleans, text, NaN and infinities."""
    number = real_float(value, name)
    if not math.isfinite(number):
        raise EvidenceError(f"{name} must be finite, got {value!r}.")
    return number


def real_float(value: object, name: str) -> float:
    """As `finite_float`, but NaN and infinities are for the caller to judge."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsFloat):
        raise EvidenceError(f"{name} must be a number, got {value!r}; write for example 0.05.")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise EvidenceError(f"{name} = {value!r} is not a binary64 number: {error}.") from error


def one_of(value: object, names: Collection[str]) -> bool:
    """Whether `value` is one of these names, whatever it is."""
    return isinstance(value, str) and value in names


def real_array(values: object, name: str) -> NDArray[np.float64]:
    """`values` as an array of numbers. Raises EvidenceError for text and what is no number."""
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "biufO":
            raise TypeError(f"not {found.dtype}")
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise EvidenceError(f"{name} must be numbers, got {values!r}: {error}.") from error


def count(value: SupportsIndex, name: str) -> int:
    """`value` as a whole number >= 0. Raises EvidenceError otherwise."""
    if isinstance(value, bool):
        raise EvidenceError(f"{name} must be a whole number, got {value!r}; write {int(value)}.")
    try:
        number = operator.index(value)
    except TypeError:
        raise EvidenceError(f"{name} must be a whole number, got {value!r}.") from None
    if number < 0:
        raise EvidenceError(f"{name} must be >= 0, got {number}.")
    return number


MOST_EPISODES = 10**15
"""Beyond this a number of episodes is a mistake, and no longer exact in binary64."""


def episode_count(value: SupportsIndex, name: str) -> int:
    """`value` as a number of episodes. Raises EvidenceError for none that could be run."""
    number = count(value, name)
    if number > MOST_EPISODES:
        raise EvidenceError(f"{name} must be at most 10^15: no more episodes can be run.")
    return number


def float_at_most(exact: Fraction) -> float:
    """The largest binary64 number that is <= `exact` (>= 0)."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def float_at_least(exact: Fraction) -> float:
    """The smallest binary64 number that is >= `exact` (>= 0)."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def shown(number: float, digits: int, *, up: bool) -> str:
    """The shortest decimal of `number`, rounded up or down to that many digits: never flattering.

    Levels are shown rounded up and confidences rounded down.
    """
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(repr(float(number))).normalize():g}"


def confidence_shown(level: Fraction) -> str:
    """1 - level, rounded down to six digits: never 1. A level is read as the decimal it prints."""
    printed = Fraction(repr(float(level)))
    kept = 1 - (printed if Fraction(float(level)) == level else level)
    context = Context(prec=6, rounding=ROUND_FLOOR)
    return f"{context.divide(Decimal(kept.numerator), Decimal(kept.denominator)).normalize():g}"


def outward(limit: float, *, up: bool) -> str:
    """Four significant digits, rounded up for an upper and down for a lower limit."""
    if limit in (0.0, 1.0) or not math.isfinite(limit):
        return f"{limit:g}"
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(Decimal(limit)).normalize():g}"


def written(exact: Fraction) -> str:
    """`numerator/denominator`, which `read_fraction` reads back exactly."""
    return f"{exact.numerator}/{exact.denominator}"


def read_fraction(text: object, name: str) -> Fraction:
    """Inverse of `written`. Raises EvidenceError if the text is not of that form."""
    try:
        if not isinstance(text, str) or not _QUOTIENT.fullmatch(text):
            raise ValueError("not a quotient")
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise EvidenceError(f"{name} must be text such as '1/100', got {text!r}.") from None
