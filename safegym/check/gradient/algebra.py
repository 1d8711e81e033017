"""What the temporal rules need of a way to compute margins: the interface of exact and smooth.

Each is written for the existential operators (eventually, until, once, since); the universal ones
are the same in the `dual`, where joins are minima.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from safegym.check.gradient.scan import Count
from safegym.check.gradient.strip import Element, Values


class Algebra(ABC):
    """sign: 1 where a join is a maximum, -1 in the dual."""

    sign: int

    @abstractmethod
    def element(self, number: float) -> Element:
        """Returns the value of a constant: minus or plus infinity."""

    @property
    def bottom(self) -> Element:
        """Identity of the join."""
        return self.element(-math.inf * self.sign)

    @property
    def top(self) -> Element:
        """Identity of the meet."""
        return self.element(math.inf * self.sign)

    @property
    @abstractmethod
    def dual(self) -> Self:
        """The same values upside down."""

    @abstractmethod
    def maximum(self, parts: Sequence[Values]) -> Values:
        """Returns the largest of the parts at each sample, whatever the orientation."""

    @abstractmethod
    def minimum(self, parts: Sequence[Values]) -> Values:
        """Returns the smallest of the parts at each sample, whatever the orientation."""

    @abstractmethod
    def slide(self, values: Values, width: int, before: int, after: int) -> Values:
        """Returns the join over each run of `width` neighbours; length n - width + 1.

        before, after: how many values at either end stand for samples that do not exist.
        """

    @abstractmethod
    def running(self, values: Values) -> Values:
        """Returns the join of everything up to each sample."""

    @abstractmethod
    def remaining(self, values: Values) -> Values:
        """Returns the join of everything from each sample on."""

    @abstractmethod
    def until(self, left: Values, right: Values, width: int | None) -> tuple[Values, Count]:
        """Returns until over each run of `width` neighbours, or from each sample on, and how many
        samples each value covers.
        """

    @abstractmethod
    def along(self, path: Values, steps: int, values: Values, covered: Count) -> Values:
        """Returns the meet of each value with the `steps` samples of the path before it."""
