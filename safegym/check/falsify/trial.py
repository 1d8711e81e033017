"""One episode of a search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.check.falsify.objective import Score
from safegym.check.falsify.space import Values
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class Trial:
    """An episode that was run: its number in the search (from 1), who asked for it, what came out.

    values: of the free coordinates. trace: kept of counterexamples only.
    """

    number: int
    method: str
    seed: int
    values: Values
    options: Mapping[str, Any]
    score: Score
    trace: Trace | None = None

    @property
    def guide(self) -> float:
        """The score's guide; worse than any where nothing is known."""
        return 4.0 if self.score.guide is None else self.score.guide

    @property
    def depth(self) -> tuple[float, int]:
        """Sorts counterexamples, the deepest first, then the earliest."""
        return self.guide, self.number
