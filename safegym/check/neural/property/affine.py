"""Terms that are affine in what they read, with exact coefficients."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from safegym.check.neural.property.layout import Layout, Place
from safegym.formula.interning import Interned, postorder
from safegym.formula.terms import Apply, Component, Constant, Signal, Term

Known = Mapping[Place, Fraction]


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + the sum of coefficient * entry, exactly."""

    coefficients: Mapping[Place, Fraction]
    constant: Fraction

    def plus(self, other: "Affine", factor: Fraction = Fraction(1)) -> "Affine":
        """The sum of this one and factor times the other."""
        found = dict(self.coefficients)
        for place, value in other.coefficients.items():
            found[place] = found.get(place, Fraction(0)) + factor * value
        kept = {place: value for place, value in found.items() if value}
        return Affine(kept, self.constant + factor * other.constant)

    def times(self, factor: Fraction) -> "Affine":
        """Each coefficient times the factor."""
        return Affine({}, Fraction(0)).plus(self, factor)

    @property
    def fixed(self) -> bool:
        """Whether it reads nothing."""
        return not self.coefficients


def affine(term: Term, layout: Layout, known: Known | None = None) -> Affine | None:
    """The affine form of a term in real arithmetic, or None where it has none.

    known: values of places, read as numbers. Constants mean their binary64 value.
    """
    found: dict[Interned, Affine | None] = {}
    for part in postorder(term):
        match part:
            case Constant():
                found[part] = Affine({}, Fraction(part.value))
            case Signal() if part.length is None:
                found[part] = _read(layout.place(part, None), known or {})
            case Component():
                found[part] = _read(layout.place(part.signal, part.index), known or {})
            case Apply():
                found[part] = _applied(part, [found[each] for each in part.arguments])
            case _:
                found[part] = None
    return found[term]


def _read(place: Place, known: Known) -> Affine:
    if place in known:
        return Affine({}, known[place])
    return Affine({place: Fraction(1)}, Fraction(0))


def _applied(part: Apply, given: list[Affine | None]) -> Affine | None:
    values = [each for each in given if each is not None]
    if len(values) < len(given):
        return None
    first = values[0]
    match part.operation:
        case "+":
            return first.plus(values[1])
        case "-":
            return first.plus(values[1], Fraction(-1))
        case "neg":
            return first.times(Fraction(-1))
        case "*" if first.fixed:
            return values[1].times(first.constant)
        case "*" if values[1].fixed:
            return first.times(values[1].constant)
        case "/" if values[1].fixed and values[1].constant:
            return first.times(1 / values[1].constant)
        case "abs" | "min" | "max" if all(each.fixed for each in values):
            numbers = [each.constant for each in values]
            picked = {"min": min(numbers), "max": max(numbers), "abs": abs(numbers[0])}
            return Affine({}, picked[part.operation])
        case _:
            return None
