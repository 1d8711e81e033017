"""One number that a search may choose, between two limits, with the value that does nothing."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["fault", "disturbance", "initial", "parameter"]
KINDS: tuple[Kind, ...] = ("fault", "disturbance", "initial", "parameter")
"""In the order in which a find is made smaller: faults are given up first."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A parameter, a coordinate of the initial state, a fault, or one piece of a disturbance.

    name: as a user writes it, `gust[3]` for a piece. channel: the declared name, `gust`.
    low, high: limits, in `unit`, as narrowed by the user. neutral: the value that does nothing, or
    the limit next to it. piece: which of the `pieces`, 0 for anything that is no disturbance.
    """

    name: str
    channel: str
    kind: Kind
    unit: str
    low: float
    high: float
    neutral: float
    piece: int = 0
    pieces: int = 1

    @property
    def free(self) -> bool:
        """Whether there is more than one value to choose from."""
        return self.low < self.high

    @property
    def span(self) -> float:
        """Distance between the limits, in `unit`."""
        return self.high - self.low

    def value(self, position: float) -> float:
        """The value at a position in [0, 1]; the limits are reached exactly."""
        if position <= 0.0:
            return self.low
        if position >= 1.0:
            return self.high
        return min(self.high, max(self.low, self.low + position * self.span))

    def position(self, value: float) -> float:
        """Where in [0, 1] a value lies; 0 where there is nothing to choose."""
        return min(1.0, max(0.0, (value - self.low) / self.span)) if self.free else 0.0
