"""Exact readings of probabilities, levels and counts, with the refusals that belong to them."""

import math
import operator
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex

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
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise EvidenceError(f"{name} must be a number, got {value!r}; write for example 0.05.")
    try:
        number = float(value)
    except (TypeError, OverflowError) as error:
        raise EvidenceError(f"{name} = {value!r} is not a binary64 number: {error}.") from error
    if not math.isfinite(number):
        raise EvidenceError(f"{name} must be finite, got {value!r}.")
    return number


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
