"""Units of measurement, checked when formulas are built; no unit library at run time.

A unit is a vector of base dimensions and an exact factor to the base units. Grammar: symbols with
an SI prefix, integer powers `^n`, products `*`, quotients `/` (from left to right), parentheses,
and `1`: "m/s^2", "N*m", "W/(m^2*K)", "km/h", "%".

Two choices that the code rests on:
- Plane angle is a dimension of its own: `rad` is not "1", so that rad/s, Hz and rpm never meet by
  accident. An arc `radius * angle` is in m*rad; divide by `quantity(1, "rad")` to get metres.
- Inside a formula nothing is converted: two units may meet only if dimension and factor agree ("Pa"
  and "N/m^2" do; "m" and "mm" do not). A signal is converted in one place, where a trace meets the
  formula that reads it, by the exact factor between the two units.
"""

from safegym.units.algebra import BASES, ONE, Dimension, Unit
from safegym.units.factor import Factor, clash, factor_between
from safegym.units.reading import same_unit, unit
from safegym.units.symbols import SYMBOLS
from safegym.units.words import measured, told

__all__ = [
    "BASES",
    "ONE",
    "SYMBOLS",
    "Dimension",
    "Factor",
    "Unit",
    "clash",
    "factor_between",
    "measured",
    "same_unit",
    "told",
    "unit",
]
