"""Terms that are affine in the states, with exact coefficients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.formula.interning import Interned, postorder
from safegym.formula.nodes import Atom
from safegym.formula.terms import Apply, Constant, Signal, Term

Vector = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """coefficients . x <= bound (or < bound), exactly."""

    coefficients: Vector
    bound: Fraction
    strict: bool = False

    def holds(self, point: Sequence[Fraction]) -> bool:
        """Whether it holds at a point."""
        left = sum((c * x for c, x in zip(self.coefficients, point, strict=True)), Fraction(0))
        return left < self.bound if self.strict else left <= self.bound

    def floats(self) -> tuple[NDArray[np.float64], float]:
        """Coefficients and bound to the nearest, scaled so that the largest coefficient is 1.

        Their relative error is 2**-53, of those below 2**-1000 too large to rely on; a bound past
        the binary64 numbers is infinite.
        """
        largest = max(map(abs, self.coefficients), default=Fraction(0)) or Fraction(1)
        weights = np.array([float(each / largest) for each in self.coefficients])
        try:
            return weights, float(self.bound / largest)
        except OverflowError:
            return weights, np.inf if self.bound > 0 else -np.inf


def row_of(atom: Atom, names: Sequence[str]) -> Row | None:
    """The atom as a row over the named signals; None where a side is not affine in them."""
    left, right = affine(atom.left, names), affine(atom.right, names)
    if left is None or right is None:
        return None
    less, more = (left, right) if atom.comparison in ("<", "<=") else (right, left)
    difference = tuple(a - b for a, b in zip(less, more, strict=True))
    return Row(difference[:-1], -difference[-1], atom.comparison in ("<", ">"))


def affine(root: Term, names: Sequence[str]) -> Vector | None:
    """One coefficient a name and then the constant, exactly; None where there is no such form."""
    size = len(names) + 1
    place = {name: at for at, name in enumerate(names)}
    found: dict[Interned, Vector | None] = {}
    for part in postorder(root):
        found[part] = _form(part, place, size, found)
    return found[root]


def _form(
    part: Interned,
    place: Mapping[str, int],
    size: int,
    found: Mapping[Interned, Vector | None],
) -> Vector | None:
    match part:
        case Constant():
            return _unit(size - 1, size, Fraction(part.value))
        case Signal() if part.name in place:
            return _unit(place[part.name], size, Fraction(1))
        case Apply():
            inner = [found[each] for each in part.arguments]
            known = [each for each in inner if each is not None]
            return _applied(part.operation, known) if len(known) == len(inner) else None
        case _:
            return None


def _applied(operation: str, inner: list[Vector]) -> Vector | None:
    first = inner[0]
    match operation:
        case "+" | "-":
            sign = 1 if operation == "+" else -1
            return tuple(a + sign * b for a, b in zip(first, inner[1], strict=True))
        case "neg":
            return tuple(-a for a in first)
        case "*" if _fixed(first):
            return tuple(first[-1] * b for b in inner[1])
        case "*" if _fixed(inner[1]):
            return tuple(a * inner[1][-1] for a in first)
        case "/" if _fixed(inner[1]) and inner[1][-1]:
            return tuple(a / inner[1][-1] for a in first)
        case _:
            return None


def _fixed(form: Vector) -> bool:
    return not any(form[:-1])


def _unit(at: int, size: int, value: Fraction) -> Vector:
    return tuple(value if each == at else Fraction(0) for each in range(size))
