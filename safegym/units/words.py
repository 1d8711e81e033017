"""Dimensions in words, for messages: what a unit measures."""

from safegym.units.algebra import Dimension, Unit, in_bases
from safegym.units.reading import unit

_NAMES: dict[str, str] = {
    "1": "a plain number",
    "m": "length",
    "m^2": "area",
    "m^3": "volume",
    "1/m": "curvature",
    "s": "time",
    "m/s": "speed",
    "m/s^2": "acceleration",
    "m/s^3": "jerk",
    "m^3/s": "flow rate",
    "kg": "mass",
    "kg/m^3": "density",
    "kg/s": "mass flow",
    "kg*m/s": "momentum",
    "kg*m^2": "moment of inertia",
    "kg*m^2/s": "angular momentum",
    "N": "force",
    "N/s": "force rate",
    "N*m": "energy or torque",
    "N*m/s": "power",
    "N/m": "stiffness",
    "N*s/m": "damping",
    "N*m/rad": "torsional stiffness",
    "N*m*s/rad": "torsional damping",
    "Pa": "pressure",
    "Pa*s": "viscosity",
    "rad": "angle",
    "rad/s": "angular speed",
    "rad/s^2": "angular acceleration",
    "rad/s^3": "angular jerk",
    "rad/m": "angle per length",
    "m*rad": "arc",
    "sr": "solid angle or squared angle",
    "Hz": "frequency",
    "1/s^2": "squared frequency",
    "A": "electric current",
    "C": "electric charge",
    "V": "voltage",
    "V/m": "electric field",
    "ohm": "resistance",
    "S": "conductance",
    "F": "capacitance",
    "H": "inductance",
    "Wb": "magnetic flux",
    "T": "magnetic flux density",
    "N*m/A": "torque per current",
    "K": "temperature",
    "degC": "Celsius temperature",
    "mol": "amount of substance",
    "mol/m^3": "concentration",
    "kat": "catalytic activity",
    "cd": "luminous intensity",
    "lm": "luminous flux",
    "lx": "illuminance",
    "J/kg": "specific energy",
    "J/K": "heat capacity",
    "J/(kg*K)": "specific heat",
    "W/m^2": "heat flux",
    "W/(m*K)": "thermal conductivity",
}


def _by_dimension() -> dict[Dimension, str]:
    """First come, first named."""
    found: dict[Dimension, str] = {}
    for text, name in _NAMES.items():
        found.setdefault(unit(text).dimension, name)
    return found


_BY_DIMENSION = _by_dimension()


def measured(found: Unit) -> str:
    """Returns what a unit measures: "speed"; base units where the quantity has no common name."""
    return _BY_DIMENSION.get(found.dimension) or in_bases(found.dimension)


def told(found: Unit) -> str:
    """Returns the unit and what it measures: "km/h (speed)"."""
    return f"{found} ({measured(found)})"
