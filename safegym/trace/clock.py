"""The clock of a trace, in exact time."""

import numbers
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import cast

from safegym.errors import FormulaError, TraceError
from safegym.rational import Exact
from safegym.rational import exact as read_exact

__all__ = ["Clock", "Exact", "exact"]

_SHORTEST, _LONGEST, _LATEST = Fraction(1, 10**12), Fraction(10**9), Fraction(10**12)


def exact(value: Exact, *, what: str = "dt") -> Fraction:
    """The rational number of seconds that `value` stands for, read as the language reads times.

    Text is read as written ("0.1", "1/240"), a float becomes the simplest rational within 1e-12 of
    it, relative: 0.1 is 1/10. Raises TraceError if it is not a finite number.
    """
    given = cast(object, value)
    plain = int(given) if isinstance(given, numbers.Integral) else given
    if isinstance(given, bool) or not isinstance(plain, str | int | float | Fraction | Decimal):
        raise TraceError(
            f'{what} is {value!r:.60} ({type(value).__name__}); write text such as {what}="0.1" '
            f'or {what}="1/240", a Fraction, an int, or a float.'
        )
    try:
        return read_exact(plain, what=what)
    except FormulaError as error:
        raise TraceError(str(error)) from error


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
        """Seconds of sample `step`, rounded once."""
        dt, start = self.dt, self.start
        whole = start.numerator * dt.denominator + step * dt.numerator * start.denominator
        return whole / (start.denominator * dt.denominator)
