"""The exact factor from one unit to another."""

from dataclasses import dataclass
from fractions import Fraction

from safegym.errors import UnitError
from safegym.units.algebra import BASES, Dimension, Unit
from safegym.units.reading import unit
from safegym.units.words import told

_TEMPERATURES = (unit("K").dimension, unit("degC").dimension)


@dataclass(frozen=True, slots=True)
class Factor:
    """ratio * pi^pi_power, exact: what a number is multiplied by to be read in another unit."""

    ratio: Fraction = Fraction(1)
    pi_power: int = 0

    @property
    def is_one(self) -> bool:
        """Whether the numbers stay as they are."""
        return self.ratio == 1 and not self.pi_power

    def __str__(self) -> str:
        above, below = [str(self.ratio.numerator)], [str(self.ratio.denominator)]
        if self.pi_power:
            (above if self.pi_power > 0 else below).append(_pi(abs(self.pi_power)))
        top, bottom = ("*".join(p for p in side if p != "1") for side in (above, below))
        if not bottom:
            return top or "1"
        return f"{top or 1}/{f'({bottom})' if '*' in bottom else bottom}"


def _pi(power: int) -> str:
    return "pi" if power == 1 else f"pi^{power}"


def factor_between(recorded: str, asked: str) -> Factor:
    """Returns the factor from numbers in the unit `recorded` to numbers in the unit `asked`.

    Raises UnitError, naming what both measure, where no factor leads from one to the other.
    """
    if recorded == asked:
        return Factor()
    source, target = unit(recorded), unit(asked)
    problem = clash(source, target)
    if problem:
        raise UnitError(problem)
    return Factor(source.factor / target.factor, source.pi_power - target.pi_power)


def clash(one: Unit, other: Unit) -> str:
    """Returns why no factor leads from one unit to the other; "" where one does."""
    if one.dimension == other.dimension:
        return ""
    if {one.dimension, other.dimension} == set(_TEMPERATURES):
        return (
            f"{told(one)} and {told(other)} have different zeros, 273.15 K apart, so no factor "
            "leads from one to the other"
        )
    if _as_kelvin(one.dimension) == _as_kelvin(other.dimension):
        return (
            f"{told(one)} and {told(other)} differ in degC for K, whose zeros differ, so nothing "
            "is converted from one to the other"
        )
    return f"{told(one)} and {told(other)} measure different things"


def _as_kelvin(dimension: Dimension) -> Dimension:
    """The dimension with Celsius degrees counted as kelvins."""
    kelvin, celsius = BASES.index("K"), BASES.index("degC")
    found = list(dimension)
    found[kelvin] += found[celsius]
    found[celsius] = 0
    return tuple(found)
