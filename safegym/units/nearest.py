"""What somebody may have meant by a unit symbol that there is not."""

from collections.abc import Iterator
from difflib import get_close_matches

from safegym.units.symbols import PLAIN, PREFIXED, SYMBOLS

_NAMES: dict[str, str] = {
    **{"meter": "m", "metre": "m", "meters": "m", "metres": "m", "micron": "um", "l": "L"},
    **{"gram": "g", "grams": "g", "kilogram": "kg", "kilograms": "kg", "kilo": "kg", "kgs": "kg"},
    **{"tonne": "t", "ton": "t", "liter": "L", "litre": "L", "liters": "L", "litres": "L"},
    **{"second": "s", "seconds": "s", "sec": "s", "secs": "s", "millisecond": "ms"},
    **{"milliseconds": "ms", "msec": "ms", "usec": "us", "minute": "min", "minutes": "min"},
    **{"hour": "h", "hours": "h", "hr": "h", "hrs": "h", "day": "d", "days": "d"},
    **{"ampere": "A", "amperes": "A", "amp": "A", "amps": "A", "kelvin": "K", "mole": "mol"},
    **{"candela": "cd", "radian": "rad", "radians": "rad", "rads": "rad", "steradian": "sr"},
    **{"degree": "deg", "degrees": "deg", "degs": "deg", "hertz": "Hz", "newton": "N"},
    **{"newtons": "N", "joule": "J", "joules": "J", "watt": "W", "watts": "W", "pascal": "Pa"},
    **{"pascals": "Pa", "coulomb": "C", "volt": "V", "volts": "V", "farad": "F", "ohms": "ohm"},
    **{"siemens": "S", "weber": "Wb", "tesla": "T", "henry": "H", "lumen": "lm", "lux": "lx"},
    **{"revolution": "rev", "revolutions": "rev", "turn": "rev", "turns": "rev", "rps": "rev/s"},
    **{"kph": "km/h", "kmh": "km/h", "kmph": "km/h", "mps": "m/s", "knot": "kn", "knots": "kn"},
    **{"kt": "kn", "kts": "kn", "foot": "ft", "feet": "ft", "mile": "mi", "miles": "mi"},
    **{"percent": "%", "pct": "%", "celsius": "degC", "centigrade": "degC", "oC": "degC"},
    **{"dps": "deg/s", "Nm": "N*m", "Nms": "N*m*s", "gee": "g0", "gees": "g0"},
    **{"cc": "cm^3", "ratio": "1", "unitless": "1", "dimensionless": "1", "none": "1"},
    **{"\N{DEGREE SIGN}": "deg", "\N{DEGREE SIGN}C": "degC", "\N{DEGREE CELSIUS}": "degC"},
    **{"\N{GREEK CAPITAL LETTER OMEGA}": "ohm", "\N{OHM SIGN}": "ohm"},
    **{"\N{ANGSTROM SIGN}": "pm", "\N{PRIME}": "arcmin", "\N{DOUBLE PRIME}": "arcsec"},
}
_MICRO = ("\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}")
_REFUSED: dict[str, str] = {
    "degF": "its zero is not that of K or degC, so no factor leads to them; record in degC or K",
    "dB": "it is a logarithm; record the ratio itself, in 1",
    "dBm": "it is a logarithm; record the power itself, in W",
}


def hint(symbol: str) -> str:
    """Returns what to write instead of an unknown symbol, nearest first."""
    refused = _REFUSED.get(symbol)
    if refused is not None:
        return refused
    return f"near it: {', '.join(nearest(symbol)) or '1, m, s, kg, N, rad'}"


def nearest(symbol: str) -> tuple[str, ...]:
    """Returns at most three unit texts that are near a symbol: by name, by case, by spelling."""
    return tuple(dict.fromkeys(_candidates(symbol)))[:3]


def _candidates(symbol: str) -> Iterator[str]:
    for mark in _MICRO:
        if symbol.startswith(mark) and "u" + symbol[1:] in SYMBOLS:
            yield "u" + symbol[1:]
    for text in (symbol, symbol.lower()):
        if text in _NAMES:
            yield _NAMES[text]
    folded = symbol.lower()
    yield from sorted(
        (known for known in SYMBOLS if known.lower() == folded and _everyday(known)),
        key=lambda known: (known not in PREFIXED and known not in PLAIN, known),
    )
    yield from get_close_matches(symbol, tuple(filter(_everyday, SYMBOLS)), n=3, cutoff=0.6)


def _everyday(symbol: str) -> bool:
    """Whether a symbol has no prefix, or one that is common."""
    return symbol in PREFIXED or symbol in PLAIN or symbol[0] in "GMkcmun"
