"""Numbers with units and moments in time, as a reader is told them."""

import math
from fractions import Fraction

from safegym.formula.checks import number_text
from safegym.rational import rational_text
from safegym.trace.clock import Clock

DIGITS = 4
"""Digits of a measured value, more where fewer would put it on the other side of its limit."""
LARGEST_PLAIN = 1e9
"""Values below are written with all their whole digits."""
LONGEST_MOMENT = 14
"""Characters up to which a time is written exactly."""


def amount(value: float, unit: str, limit: float | None = None) -> str:
    """Returns the value to `DIGITS` digits with its unit, never rounded across `limit`."""
    return with_unit(measured(value, limit), unit)


def exact_amount(value: float, unit: str) -> str:
    """Returns a number as it is written in a formula, with its unit."""
    return with_unit(number_text(value), unit)


def measured(value: float, limit: float | None = None) -> str:
    """Returns the value to `DIGITS` digits, or to as many as tell it from `limit`."""
    if math.isinf(value):
        return "infinity" if value > 0 else "minus infinity"
    least = DIGITS
    if 1.0 <= abs(value) < LARGEST_PLAIN:
        least = max(DIGITS, len(f"{abs(value):.0f}"))
    for digits in range(least, 17):
        text = f"{value + 0.0:.{digits}g}"
        if limit is None or _side(float(text), limit) == _side(value, limit):
            return text
    return repr(value)


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def with_unit(number: str, unit: str) -> str:
    """Returns the number and its unit, which is left out where it is "1"."""
    return number if unit in ("", "1") else f"{number} {unit}"


def moment(clock: Clock, step: int) -> str:
    """Returns the time of a sample, such as "3.2 s": exact, or to a hundredth of a sample."""
    return f"{seconds_text(clock.start + step * clock.dt, clock)} s"


def duration(samples: int, clock: Clock) -> str:
    """Returns the length of `samples` sampling steps, such as "0.3 s"."""
    return f"{seconds_text(samples * clock.dt, clock)} s"


def seconds_text(seconds: Fraction, clock: Clock) -> str:
    """Returns seconds without a unit."""
    text = rational_text(seconds)
    if "/" not in text and len(text) <= LONGEST_MOMENT:
        return text
    places = max(0, 2 - math.floor(math.log10(clock.dt)))
    rounded = f"{float(seconds):.{min(places, 15)}f}"
    return (rounded.rstrip("0").rstrip(".") if "." in rounded else rounded) or "0"


def counted(number: int, noun: str) -> str:
    """Returns the number with its noun, which takes an s unless there is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
