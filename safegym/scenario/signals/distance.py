"""Clearance: the smallest distance between two groups of geoms."""

from dataclasses import dataclass
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase, Reading
from safegym.scenario.signals.select import geom_ids


@dataclass(frozen=True, slots=True)
class Clearance:
    """Smallest signed distance in m between a geom of `first` and one of `second`.

    Negative when they overlap. Never above `farthest` (m): beyond it the value is `farthest`,
    so declare the signal with `bounds=(-..., farthest)`. Needs no collision flags.
    """

    first: str | tuple[str, ...]
    second: str | tuple[str, ...]
    farthest: float

    @property
    def phase(self) -> Phase:
        """Distance follows from positions."""
        return "state"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        if not 0.0 < self.farthest < float("inf"):
            raise ScenarioError(
                f"Clearance needs a finite farthest > 0 m, found {self.farthest}; "
                "e.g. farthest=5.0."
            )
        one, two = geom_ids(model, self.first), geom_ids(model, self.second)
        pairs = tuple((a, b) for a in one for b in two if a != b)
        if not pairs:
            raise ScenarioError(
                f"Clearance between {self.first!r} and {self.second!r} has no pair of geoms."
            )
        farthest, distance = float(self.farthest), mj.mj_geomDistance

        def read() -> float:
            nearest = farthest
            for a, b in pairs:
                found = distance(model, data, a, b, farthest, None)
                if not found >= nearest:
                    nearest = found
                    if found != found:
                        break
            return nearest

        return read
