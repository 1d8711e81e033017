"""The symbols of units: SI base and derived units with all prefixes, and others beside them.

Sizes are exact: the SI's own definitions, and for others the definitions they are legal by (foot
0.3048 m, nautical mile 1852 m, standard gravity 9.80665 m/s^2, atmosphere 101325 Pa).
"""

from fractions import Fraction

from safegym.units.algebra import ONE, Unit, base

_m, _kg, _s, _A, _K, _mol, _cd, _rad, _degC = (
    base(symbol) for symbol in ("m", "kg", "s", "A", "K", "mol", "cd", "rad", "degC")
)
_N = _kg * _m / _s.power(2)
_J = _N * _m
_W = _J / _s
_Pa = _N / _m.power(2)
_C = _A * _s
_V = _W / _A
_ohm = _V / _A
_Wb = _V * _s
_sr = _rad.power(2)

PREFIXED: dict[str, Unit] = {
    "m": _m,
    "g": _kg.sized(Fraction(1, 1000)),
    "s": _s,
    "A": _A,
    "K": _K,
    "mol": _mol,
    "cd": _cd,
    "rad": _rad,
    "sr": _sr,
    "Hz": ONE / _s,
    "N": _N,
    "J": _J,
    "W": _W,
    "Pa": _Pa,
    "C": _C,
    "V": _V,
    "F": _C / _V,
    "ohm": _ohm,
    "Ohm": _ohm,
    "S": _A / _V,
    "Wb": _Wb,
    "T": _Wb / _m.power(2),
    "H": _Wb / _A,
    "lm": _cd * _sr,
    "lx": _cd * _sr / _m.power(2),
    "Bq": ONE / _s,
    "Gy": _J / _kg,
    "Sv": _J / _kg,
    "kat": _mol / _s,
    "L": _m.power(3).sized(Fraction(1, 1000)),
    "bar": _Pa.sized(10**5),
    "eV": _J.sized(Fraction(1602176634, 10**28)),
    "Wh": _J.sized(3600),
    "Ah": _C.sized(3600),
    "g0": (_m / _s.power(2)).sized(Fraction(980665, 10**5)),
}
"""Symbols that take SI prefixes."""

PLAIN: dict[str, Unit] = {
    "1": ONE,
    "%": ONE.sized(Fraction(1, 100)),
    "ppm": ONE.sized(Fraction(1, 10**6)),
    "min": _s.sized(60),
    "h": _s.sized(3600),
    "d": _s.sized(86400),
    "t": _kg.sized(1000),
    "deg": _rad.sized(Fraction(1, 180), 1),
    "arcmin": _rad.sized(Fraction(1, 180 * 60), 1),
    "arcsec": _rad.sized(Fraction(1, 180 * 3600), 1),
    "rev": _rad.sized(2, 1),
    "rpm": (_rad / _s).sized(Fraction(2, 60), 1),
    "degC": _degC,
    "atm": _Pa.sized(101325),
    "ft": _m.sized(Fraction(3048, 10**4)),
    "mi": _m.sized(Fraction(1609344, 10**3)),
    "nmi": _m.sized(1852),
    "kn": (_m / _s).sized(Fraction(1852, 3600)),
    "mph": (_m / _s).sized(Fraction(1609344, 3600 * 10**3)),
}
"""Symbols that stand alone."""

PREFIXES: dict[str, Fraction] = {
    prefix: Fraction(10) ** power
    for prefix, power in {
        **{"Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6},
        **{"k": 3, "h": 2, "da": 1, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12},
        **{"f": -15, "a": -18, "z": -21, "y": -24, "r": -27, "q": -30},
    }.items()
}
"""The SI's prefixes, micro written u."""


def _table() -> dict[str, Unit]:
    """All symbols. An unprefixed or plain symbol wins over a prefixed one (min, cd, Pa, ft)."""
    table: dict[str, Unit] = {}
    for prefix, size in PREFIXES.items():
        for symbol, unit in PREFIXED.items():
            table[prefix + symbol] = unit.sized(size)
    return table | PREFIXED | PLAIN


SYMBOLS = _table()
