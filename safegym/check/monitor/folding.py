"""Conjunctions and disjunctions, taken together operand by operand."""

from dataclasses import dataclass

import numpy as np

from safegym.check.monitor.lattice import Values


@dataclass(slots=True)
class Folded:
    """What the operands so far give; low is high where nothing is unknown.

    own: whether the arrays are nobody else's, so that they may be written over.
    """

    low: Values
    high: Values
    own: bool

    def take(self, fold: np.ufunc, low: Values, high: Values, *, own: bool) -> None:
        """One operand more. own: whether its arrays are nobody else's."""
        same = self.high is self.low and high is low
        if not same:
            apart = high is not low  # a shared operand is still read for `low`
            mine = self.own and self.high is not self.low
            self.high = fold(self.high, high, out=_into(self.high, high, mine, own and apart))
        self.low = fold(self.low, low, out=_into(self.low, low, self.own, own))
        if same:
            self.high = self.low
        self.own = True


def _into(first: Values, second: Values, first_own: bool, second_own: bool) -> Values | None:
    """An array for the result that nobody else reads."""
    if first_own:
        return first
    return second if second_own else None
