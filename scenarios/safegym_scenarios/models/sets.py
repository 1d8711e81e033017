"""Sets of states as formulas: boxes and polygons."""

import math
from collections.abc import Mapping

from safegym.formula.functions import quantity
from safegym.formula.nodes import Formula, all_of
from safegym.formula.terms import Signal, Term


def box(limits: Mapping[Signal, tuple[float, float]]) -> Formula:
    """Each signal within its limits, both ends included."""
    parts: list[Formula] = []
    for signal, (low, high) in limits.items():
        parts += [signal >= low, signal <= high]
    return all_of(parts)


def named(limits: Mapping[Signal, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The same limits by the signals' names."""
    return {signal.name: limit for signal, limit in limits.items()}


def polygon(
    facets: int, root: tuple[tuple[float, float], tuple[float, float]], terms: tuple[Term, Term]
) -> Formula:
    """A regular polygon about the unit circle, of the two numbers root @ terms.

    Each term is divided by its own unit. Coefficients are rounded to 4 digits.
    """
    first, second = (_plain(term) for term in terms)
    sides: list[Formula] = []
    for at in range(facets):
        turn = 2.0 * math.pi * (at + 0.5) / facets
        row = [
            round(math.cos(turn) * root[0][entry] + math.sin(turn) * root[1][entry], 4)
            for entry in range(2)
        ]
        sides.append(row[0] * first + row[1] * second <= 1.0)
    return all_of(sides)


def _plain(term: Term) -> Term:
    unit = term.unit_or_none
    return term if unit is None or str(unit) == "1" else term / quantity(1.0, str(unit))
