"""How failing starts are trained on again, and kept as a regression suite."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.errors import GateError

MOST_IN_SUITE = 1000


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How failing starts are trained on again.

    share: largest share of the episodes started in an epoch that are replays, in [0, 1).
    capacity: most starts held. retire_after: passes in a row after which a start is dropped.
    staleness: share of the drawing probability given to starts not drawn for long, in [0, 1].
    temperature: > 0; small draws the deepest violation almost always, large draws evenly.
    suite: most retired starts kept as the regression suite, which a policy must pass before an
    attempt to certify it; 0 keeps none. The default is one batch of evidence inference.
    """

    share: float = 0.25
    capacity: int = 1000
    retire_after: int = 3
    staleness: float = 0.3
    temperature: float = 1.0
    suite: int = 64

    def __post_init__(self) -> None:
        if not 0.0 <= self.share < 1.0:
            raise GateError(f"The replay share is {self.share}; give a number in [0, 1).")
        if self.capacity < 1 or self.retire_after < 1:
            raise GateError("The replay capacity and retire_after must be at least 1.")
        size: Any = self.suite
        if type(size) is not int or not 0 <= size <= MOST_IN_SUITE:
            raise GateError(
                f"The regression suite holds suite={size!r} starts; give a whole number from 0 "
                f"(none) to {MOST_IN_SUITE}."
            )
        if not 0.0 <= self.staleness <= 1.0:
            raise GateError(f"The replay staleness is {self.staleness}; give a number in [0, 1].")
        if not (self.temperature > 0.0 and math.isfinite(self.temperature)):
            raise GateError(f"The replay temperature is {self.temperature}; give a number > 0.")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "share": self.share,
            "capacity": self.capacity,
            "retire_after": self.retire_after,
            "staleness": self.staleness,
            "temperature": self.temperature,
            "suite": self.suite,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ReplaySettings":
        """The settings of `to_json`. Raises GateError when a field is missing or unknown."""
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"Stored replay settings are malformed: {error}.") from error
