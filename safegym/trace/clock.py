"""Exact time: rational numbers from text and floats, and the clock of a trace."""

import math
import numbers
import re
from dataclasses import dataclass
from fractions import Fraction

from safegym.errors import TraceError

Exact = str | int | float | Fraction
_TEXT = re.compile(
    r"[+-]?(\d{1,40}/\d{1,40}|(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?)"
)
_TOLERANCE = Fraction(1, 10**12)
_SHORTEST, _LONGEST, _LATEST = Fraction(1, 10**12), Fraction(10**9), Fraction(10**12)


def exact(value: Exact, *, what: str = "dt") -> Fraction:
    """The rational number, in the unit of `value`, that `value` stands for.

    Text is read as written ("0.1", "1/240"), `int` and `Fraction` are taken as they are, a float
    becomes the simplest rational within 1e-12 of it, relative: 0.1 is 1/10.
    Raises TraceError if it is not a finite number.
    """
    if isinstance(value, str):
        return _from_text(value, what)
    if isinstance(value, float):
        return _from_float(float(value), what)
    plain: object = value
    if isinstance(plain, bool):
        pass  # a Rational to Python, but not a duration
    elif isinstance(plain, numbers.Rational):
        return Fraction(int(plain.numerator), int(plain.denominator))
    raise TraceError(
        f'{what} is {value!r} ({type(value).__name__}); write text such as {what}="0.1" or '
        f'{what}="1/240", a Fraction, an int, or a float.'
    )


def _from_text(text: str, what: str) -> Fraction:
    stripped = text.strip()
    try:
        if _TEXT.fullmatch(stripped):
            return Fraction(stripped)
    except ZeroDivisionError:
        pass
    raise TraceError(
        f'{what} is {text[:60]!r}, which is not a number; write {what}="0.1" or {what}="1/240".'
    )


def _from_float(value: float, what: str) -> Fraction:
    if not math.isfinite(value):
        raise TraceError(f'{what} is {value!r}; write a finite number such as {what}="0.1".')
    if value == 0.0:
        return Fraction(0)
    size = Fraction(abs(value))
    found = simplest_between(size * (1 - _TOLERANCE), size * (1 + _TOLERANCE))
    return found if value > 0 else -found


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the smallest denominator in [low, high], 0 < low <= high.

    Found by descending the continued fraction that both ends share.
    """
    terms: list[int] = []
    while True:
        whole = math.ceil(low)
        if whole <= high:
            break
        terms.append(whole - 1)
        low, high = 1 / (high - (whole - 1)), 1 / (low - (whole - 1))
    result = Fraction(whole)
    for term in reversed(terms):
        result = term + 1 / result
    return result


@dataclass(frozen=True, slots=True)
class Clock:
    """Sample k stands at start + k * dt seconds. Both are exact; `Clock.parse("0.1")` reads text.

    Raises TraceError unless 1e-12 <= dt <= 1e9 and |start| <= 1e12.
    """

    dt: Fraction
    start: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", exact(self.dt))
        object.__setattr__(self, "start", exact(self.start, what="start"))
        if not _SHORTEST <= self.dt <= _LONGEST:
            raise TraceError(
                f'A clock needs 1e-12 <= dt <= 1e9 seconds, found dt = {self.dt}; write dt="0.1".'
            )
        if abs(self.start) > _LATEST:
            raise TraceError(f"A clock starts within 1e12 seconds of 0, found {self.start}.")

    @classmethod
    def parse(cls, dt: Exact, start: Exact = 0) -> "Clock":
        """A clock from text, numbers or floats, each read by `exact`."""
        return cls(exact(dt), exact(start, what="start"))

    def time(self, step: int) -> float:
        """Seconds of sample `step`."""
        return float(self.start + step * self.dt)
