"""Conditions on inputs alone as a region: a box cut by half spaces."""

from collections.abc import Sequence
from fractions import Fraction

from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.vnnlib.unsafe import Condition
from safegym.errors import UnsupportedError


def region_of(conditions: Sequence[Condition], inputs: int) -> Region | None:
    """The points at which all conditions hold, each taken with its limit; None where none does.

    conditions: on inputs alone. Raises UnsupportedError where an input has no lower or no upper
    limit, for a proof needs a box.
    """
    low: dict[int, Fraction] = {}
    high: dict[int, Fraction] = {}
    cuts: dict[HalfSpace, None] = {}
    for condition in conditions:
        terms = condition.sum.terms
        if not terms:
            if condition.sum.constant > 0:
                return None
        elif len(terms) == 1:
            ((_, entry), factor) = next(iter(terms.items()))
            limit = -condition.sum.constant / factor
            if factor > 0:
                high[entry] = min(high.get(entry, limit), limit)
            else:
                low[entry] = max(low.get(entry, limit), limit)
        else:
            row = [Fraction(0)] * inputs
            for (_, entry), factor in terms.items():
                row[entry] = factor
            cuts[HalfSpace(tuple(row), -condition.sum.constant)] = None
    for entry in range(inputs):
        for what, limits in (("lower", low), ("upper", high)):
            if entry not in limits:
                raise UnsupportedError(
                    f"Input {entry} has no {what} limit of its own in the property; a proof by "
                    "bounds needs a box: assert one."
                )
    if any(low[entry] > high[entry] for entry in range(inputs)):
        return None
    order = range(inputs)
    return Region(tuple(low[at] for at in order), tuple(high[at] for at in order), tuple(cuts))
