"""Functions on terms: extremes, norm, roots, quantities with a unit, explicit conversion."""

from collections.abc import Iterable

from safegym.errors import UnitError
from safegym.formula.checks import signal_unit
from safegym.formula.expression import short
from safegym.formula.operations import Apply, Constant, Operation, Term, applied, term
from safegym.formula.vectors import components_of
from safegym.units import clash


def minimum(*terms: Term | float) -> Term:
    """Returns the least of the terms (or of a vector signal's components); written `min(...)`."""
    return _extreme("min", terms)


def maximum(*terms: Term | float) -> Term:
    """Returns the greatest of the terms (or a vector signal's components); written `max(...)`."""
    return _extreme("max", terms)


def norm(*terms: Term | float) -> Term:
    """Returns the Euclidean length of the terms, or of a vector signal."""
    return _extreme("norm", terms)


def sqrt(value: Term | float) -> Term:
    """Returns the square root; the unit must be a square."""
    return applied("sqrt", value)


def exp(value: Term | float) -> Term:
    """Returns e to the power of a pure number."""
    return applied("exp", value)


def sin(value: Term | float) -> Term:
    """Returns the sine of an angle in rad (or of a pure number)."""
    return applied("sin", value)


def cos(value: Term | float) -> Term:
    """Returns the cosine of an angle in rad (or of a pure number)."""
    return applied("cos", value)


def quantity(value: float, unit: str) -> Term:
    """Returns a constant with a unit of its own, written `0.5{m/s}` in text."""
    return Constant(value, unit)


def convert(value: Term, to: str) -> Term:
    """Returns `value` in the unit `to`, as an explicit multiplication and division by integers.

    From km/h to m/s that is `v * 5{m/s} / 18{km/h}`: exact but for the two roundings of binary64.
    A signal that a trace recorded in another unit needs none of this: declare it in the unit that
    the formula speaks, and it is converted where the trace meets the formula, rounded once.
    Raises UnitError if the dimensions differ, or the factor is irrational (deg to rad) or needs
    integers beyond 2^53.
    """
    source, (target, written) = value.unit_or_none, signal_unit(to, "convert:")
    if source is None:
        raise UnitError(f"`{short(value)}` is a plain number; write quantity(value, {to!r}).")
    problem = clash(source, target)
    if problem:
        raise UnitError(f"`{short(value)}` cannot be read in {to}: {problem}.")
    if source.pi_power != target.pi_power:
        raise UnitError(
            f"The factor from {source} to {to} is irrational; declare the signal itself in {to} "
            f'(unit="{to}"), which converts what a trace recorded, or choose the binary64 value of '
            f'the factor: `x * quantity(math.pi / 180, "rad/deg")` from deg to rad.'
        )
    factor = source.factor / target.factor
    if max(factor.numerator, factor.denominator) > 2**53:
        raise UnitError(f"The factor from {source} to {to} needs integers beyond 2^53.")
    if factor == 1:
        return value
    if source.text == "" and (source.factor != 1 or source.pi_power):
        raise UnitError(
            f"`{short(value)}` is in {source}, a unit without a symbol; convert the terms that it "
            "is made of instead."
        )
    above = Constant(factor.numerator, written)
    below = Constant(factor.denominator, str(source))
    return Apply("/", (Apply("*", (value, above)), below))


def _extreme(operation: Operation, terms: Iterable[Term | float]) -> Term:
    found: list[Term] = []
    for value in terms:
        found.extend(components_of(term(value), operation))
    return Apply(operation, tuple(found))


__all__ = ["convert", "cos", "exp", "maximum", "minimum", "norm", "quantity", "sin", "sqrt"]
