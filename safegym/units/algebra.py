"""Units as values: exponents over base dimensions, and an exact size in base units."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt

from safegym.errors import UnitError

BASES = ("m", "kg", "s", "A", "K", "mol", "cd", "rad", "degC")
LARGEST_POWER = 60
LARGEST_FACTOR = 10**1000

Dimension = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: exponents over `BASES`, and its size factor * pi^pi_power in base units.

    text: how it was written; takes no part in equality. Equal units may meet without conversion.
    """

    dimension: Dimension
    factor: Fraction = Fraction(1)
    pi_power: int = 0
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text or _describe(self)

    def __mul__(self, other: "Unit") -> "Unit":
        """Returns the product."""
        dimension = tuple(a + b for a, b in zip(self.dimension, other.dimension, strict=True))
        return _bounded(dimension, self.factor * other.factor, self.pi_power + other.pi_power)

    def __truediv__(self, other: "Unit") -> "Unit":
        """Returns the quotient."""
        dimension = tuple(a - b for a, b in zip(self.dimension, other.dimension, strict=True))
        return _bounded(dimension, self.factor / other.factor, self.pi_power - other.pi_power)

    def power(self, exponent: int) -> "Unit":
        """Returns the unit to an integer power. Raises UnitError beyond |exponent| 60."""
        if abs(exponent) > LARGEST_POWER:
            raise UnitError(f"The power {exponent} of unit {self} is out of range.")
        dimension = tuple(a * exponent for a in self.dimension)
        return _bounded(dimension, self.factor**exponent, self.pi_power * exponent)

    def root(self) -> "Unit":
        """Returns the square root. Raises UnitError if it is not a unit (m^3, km/m)."""
        above, below = isqrt(self.factor.numerator), isqrt(self.factor.denominator)
        odd = any(a % 2 for a in self.dimension) or self.pi_power % 2
        if odd or Fraction(above * above, below * below) != self.factor:
            raise UnitError(f"sqrt of a quantity in {self} has no unit; take it of a square.")
        return Unit(
            tuple(a // 2 for a in self.dimension), Fraction(above, below), self.pi_power // 2
        )

    def sized(self, factor: Fraction | int, pi_power: int = 0) -> "Unit":
        """Returns the unit that is factor * pi^pi_power times this one."""
        return _bounded(self.dimension, self.factor * factor, self.pi_power + pi_power)


ONE = Unit((0,) * len(BASES), text="1")


def base(symbol: str) -> Unit:
    """Returns the base unit of that symbol, one of `BASES`."""
    return Unit(tuple(int(symbol == each) for each in BASES), text=symbol)


def in_bases(dimension: Dimension) -> str:
    """Returns a product of base units with these exponents, as text that reads back as it."""
    above = [_power_text(b, p) for b, p in zip(BASES, dimension, strict=True) if p > 0]
    below = [_power_text(b, -p) for b, p in zip(BASES, dimension, strict=True) if p < 0]
    body = "*".join(above) or "1"
    if below:
        body += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    return body


def _bounded(dimension: Dimension, factor: Fraction, pi_power: int) -> Unit:
    if max(max(dimension), -min(dimension), abs(pi_power)) > LARGEST_POWER:
        raise UnitError(f"A unit with a power beyond {LARGEST_POWER} is out of range.")
    if max(factor.numerator, factor.denominator) > LARGEST_FACTOR:
        raise UnitError("A unit whose size needs more than 1000 digits is out of range.")
    return Unit(dimension, factor, pi_power)


def _describe(unit: Unit) -> str:
    """Returns a text in base units for a unit that was computed."""
    size = "" if unit.factor == 1 else f"{unit.factor} "
    size += _power_text("pi", unit.pi_power) + " " if unit.pi_power else ""
    return size + in_bases(unit.dimension)


def _power_text(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}^{power}"
