"""Whether a bet on a mean can still be won: the futility stop of claims about means.

A factor of the bet is a straight line in the episode's share, greatest where the share is best,
and there at least 1. So the most that `left` further episodes can give is each product times that
greatest factor to the power `left`; where even this sum stays below the goal, no continuation
decides. Floats answer the many clear cases; the stop itself is decided by decimals rounded up.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from safegym.check.statistics.directed import directed, power
from safegym.check.statistics.grid import below_mixture

DIGITS: Final = 50
_MARGIN: Final = 1e-6


class Reach:
    """Follows one bet in floats. edge: its boundary as a share; level: at which it is won."""

    def __init__(self, edge: Fraction, level: Fraction) -> None:
        mixture = below_mixture(edge)
        self._level = level
        self._safe = mixture.on_safe
        self._bad = np.array([float(factor) for factor in mixture.on_violation])
        self._good = np.array([float(factor) for factor in mixture.on_safe])
        self._logs = np.log([float(weight) for weight in mixture.weights])
        self._goal = math.log(level.denominator) - math.log(level.numerator)
        self._steps = 0

    def add(self, share: float) -> None:
        """Take in one episode; share: its worst end, 0 the best there is."""
        with np.errstate(divide="ignore"):
            self._logs = self._logs + np.log(share * self._bad + (1.0 - share) * self._good)
        self._steps += 1

    def lost(self, products: Callable[[], Sequence[Decimal]], left: int) -> bool:
        """Whether `left` more episodes cannot win the bet, however good they are.

        products: gives the bet's certified products, asked for only in unclear cases.
        """
        most = self._logs + left * np.log(self._good)
        top = float(most.max())
        if math.isfinite(top):
            best = top + math.log(float(np.exp(most - top).sum()))
            if best > self._goal + _MARGIN * (1.0 + self._steps):
                return False
        return _out_of_reach(products(), self._safe, self._level, left)


def _out_of_reach(
    products: Sequence[Decimal], safe: Sequence[Fraction], level: Fraction, left: int
) -> bool:
    arithmetic = directed(DIGITS)
    total = Decimal(0)
    for product, factor in zip(products, safe, strict=True):
        grown = power(arithmetic.upper(factor), left, arithmetic.up)
        total = arithmetic.up.add(total, arithmetic.up.multiply(product, grown))
    return total < arithmetic.lower(1 / level)
