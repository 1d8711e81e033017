"""Exact readings of probabilities, levels and counts, with the refusals that belong to them."""

import math
import operator
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex

from safegym.errors import EvidenceError

Probability = float | Fraction


def exact_probability(value: Probability, name: str) -> Fraction:
    """The exact rational in (0, 1) that `value` denotes; a float means its binary64 value.

    Raises EvidenceError if it is not a number strictly between 0 and 1.
    """
    exact = value if isinstance(value, Fraction) else Fraction(finite_float(value, name))
    if not 0 < exact < 1:
        raise EvidenceError(
            f"{name} = {value} is not strictly between 0 and 1; write for example {name}=0.05."
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


def float_at_most(exact: Fraction) -> float:
    """The largest binary64 number that is <= `exact` (>= 0)."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def float_at_least(exact: Fraction) -> float:
    """The smallest binary64 number that is >= `exact` (>= 0)."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def written(exact: Fraction) -> str:
    """`numerator/denominator`, which `read_fraction` reads back exactly."""
    return f"{exact.numerator}/{exact.denominator}"


def read_fraction(text: object, name: str) -> Fraction:
    """Inverse of `written`. Raises EvidenceError if the text is not of that form."""
    try:
        if not isinstance(text, str) or len(text) > 5000:
            raise ValueError("not a short text")
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise EvidenceError(f"{name} must be text such as '1/100', got {text!r}.") from None
