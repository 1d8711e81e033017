"""Units of measurement, checked when formulas are built; no unit library at run time.

A unit is a vector of base dimensions and an exact factor to the base units. Grammar: symbols with
an SI prefix, integer powers `^n`, products `*`, quotients `/` (from left to right), parentheses,
and `1`: "m/s^2", "N*m", "W/(m^2*K)", "km/h", "%".

Two choices that the code rests on:
- Plane angle is a dimension of its own: `rad` is not "1", so that rad/s, Hz and rpm never meet by
  accident. An arc `radius * angle` is in m*rad; divide by `quantity(1, "rad")` to get metres.
- Nothing is converted silently. Two units may meet only if dimension and factor agree ("Pa" and
  "N/m^2" do; "m" and "mm" do not).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from safegym.errors import UnitError

BASES = ("m", "kg", "s", "A", "K", "mol", "cd", "rad", "degC")
LONGEST_TEXT = 64
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

    @property
    def is_number(self) -> bool:
        """Whether this is the plain number 1."""
        return self == ONE


ONE = Unit((0,) * len(BASES), text="1")


def _bounded(dimension: Dimension, factor: Fraction, pi_power: int) -> Unit:
    if max(max(dimension), -min(dimension), abs(pi_power)) > LARGEST_POWER:
        raise UnitError(f"A unit with a power beyond {LARGEST_POWER} is out of range.")
    if max(factor.numerator, factor.denominator) > LARGEST_FACTOR:
        raise UnitError("A unit whose size needs more than 1000 digits is out of range.")
    return Unit(dimension, factor, pi_power)


def _base(symbol: str) -> Unit:
    return Unit(tuple(int(symbol == base) for base in BASES), text=symbol)


_m, _kg, _s, _A, _K, _mol, _cd, _rad, _degC = (_base(symbol) for symbol in BASES)


def _scaled(unit: Unit, factor: Fraction | int, pi_power: int = 0) -> Unit:
    return Unit(unit.dimension, unit.factor * factor, unit.pi_power + pi_power)


_N = _kg * _m / _s.power(2)
_J = _N * _m
_W = _J / _s
_C = _A * _s
_V = _W / _A

# Symbols that take SI prefixes.
_PREFIXED: dict[str, Unit] = {
    "m": _m,
    "g": _scaled(_kg, Fraction(1, 1000)),
    "s": _s,
    "A": _A,
    "K": _K,
    "mol": _mol,
    "cd": _cd,
    "rad": _rad,
    "Hz": ONE / _s,
    "N": _N,
    "J": _J,
    "W": _W,
    "Pa": _N / _m.power(2),
    "C": _C,
    "V": _V,
    "F": _C / _V,
    "ohm": _V / _A,
    "S": _A / _V,
    "Wb": _V * _s,
    "T": _V * _s / _m.power(2),
    "H": _V * _s / _A,
    "bar": _scaled(_N / _m.power(2), 10**5),
}
# Symbols that stand alone.
_PLAIN: dict[str, Unit] = {
    "1": ONE,
    "%": _scaled(ONE, Fraction(1, 100)),
    "min": _scaled(_s, 60),
    "h": _scaled(_s, 3600),
    "deg": _scaled(_rad, Fraction(1, 180), 1),
    "rev": _scaled(_rad, 2, 1),
    "rpm": _scaled(_rad / _s, Fraction(2, 60), 1),
    "degC": _degC,
}
_PREFIXES: dict[str, Fraction] = {
    "T": Fraction(10**12),
    "G": Fraction(10**9),
    "M": Fraction(10**6),
    "k": Fraction(10**3),
    "h": Fraction(100),
    "d": Fraction(1, 10),
    "c": Fraction(1, 100),
    "m": Fraction(1, 10**3),
    "u": Fraction(1, 10**6),
    "n": Fraction(1, 10**9),
    "p": Fraction(1, 10**12),
}


def _symbols() -> dict[str, Unit]:
    """All symbols. An unprefixed or plain symbol wins over a prefixed one (min, cd, Pa, T)."""
    table: dict[str, Unit] = {}
    for prefix, size in _PREFIXES.items():
        for symbol, unit in _PREFIXED.items():
            table[prefix + symbol] = _scaled(unit, size)
    return table | _PREFIXED | _PLAIN


SYMBOLS = _symbols()
_TOKEN = re.compile(r"\s*([A-Za-z]+|%|1(?![0-9])|[*/()]|\^\s*[+-]?[0-9]{1,2}(?![0-9]))", re.ASCII)


@lru_cache(maxsize=1024)
def unit(text: str) -> Unit:
    """Returns the unit that `text` names. Raises UnitError with near symbols if there is none."""
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise UnitError(f'A unit must be text such as "m/s" or "1", found {text[:LONGEST_TEXT]!r}.')
    tokens = _Tokens(text)
    found = _product(tokens)
    if tokens.ahead:
        tokens.fail("the end")
    return Unit(found.dimension, found.factor, found.pi_power, text.strip())


def same_unit(one: str, other: str) -> bool:
    """Whether two unit texts name the same quantity in the same size (Pa and N/m^2 do)."""
    return one == other or unit(one) == unit(other)


class _Tokens:
    """The tokens of a unit text, one ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._rest = self._scan(text)
        self.ahead = next(self._rest, "")

    def _scan(self, text: str) -> Iterator[str]:
        body, start = text.rstrip(), 0
        while start < len(body):
            match = _TOKEN.match(body, start)
            if match is None:
                raise UnitError(
                    f"Unit {text!r} cannot be read at {body[start:]!r}; write it like "
                    '"m/s^2", "N*m" or "1".'
                )
            yield match[1]
            start = match.end()

    def take(self) -> str:
        taken, self.ahead = self.ahead, next(self._rest, "")
        return taken

    def fail(self, expected: str) -> None:
        found = repr(self.ahead) if self.ahead else "the end"
        raise UnitError(f"Unit {self.text!r}: expected {expected}, found {found}.")


def _product(tokens: _Tokens) -> Unit:
    found = _powered(tokens)
    while tokens.ahead in ("*", "/"):
        operator, factor = tokens.take(), _powered(tokens)
        found = found * factor if operator == "*" else found / factor
    return found


def _powered(tokens: _Tokens) -> Unit:
    found = _symbol(tokens)
    if tokens.ahead.startswith("^"):
        found = found.power(int(tokens.take()[1:]))
    return found


def _symbol(tokens: _Tokens) -> Unit:
    if tokens.ahead == "(":
        tokens.take()
        found = _product(tokens)
        if tokens.take() != ")":
            raise UnitError(f"Unit {tokens.text!r}: a parenthesis is not closed.")
        return found
    if not (tokens.ahead.isalpha() or tokens.ahead in ("%", "1")) or not tokens.ahead:
        tokens.fail("a unit symbol")
    symbol = tokens.take()
    if symbol not in SYMBOLS:
        near = (
            ", ".join(get_close_matches(symbol, SYMBOLS, n=3, cutoff=0.5)) or "1, m, s, kg, N, rad"
        )
        raise UnitError(f"Unit symbol {symbol!r} in {tokens.text!r} is not known; near it: {near}.")
    return SYMBOLS[symbol]


def _describe(unit: Unit) -> str:
    """Returns a text in base units for a unit that was computed."""
    above = [_power_text(b, p) for b, p in zip(BASES, unit.dimension, strict=True) if p > 0]
    below = [_power_text(b, -p) for b, p in zip(BASES, unit.dimension, strict=True) if p < 0]
    body = "*".join(above) or "1"
    if below:
        body += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    size = "" if unit.factor == 1 else f"{unit.factor} "
    return size + (_power_text("pi", unit.pi_power) + " " if unit.pi_power else "") + body


def _power_text(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}^{power}"
