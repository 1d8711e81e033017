"""The violation rate of training episodes, as far as it can be known while the policy changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class ViolationRate:
    """An exponentially weighted share of violating episodes.

    An episode that ended n episodes ago weighs (1 - 1/memory)^n; those of one rollout weigh alike,
    so that the order in which they ended does not matter. episodes, violations: weighted counts.
    """

    memory: int
    episodes: float = 0.0
    violations: float = 0.0

    @property
    def value(self) -> float | None:
        """The estimate, in [0, 1]; None before the first episode."""
        return self.violations / self.episodes if self.episodes > 0.0 else None

    def tell(self, episodes: int, violations: int) -> None:
        """Take in the episodes of a rollout, and how many of them violated the claim."""
        kept = (1.0 - 1.0 / self.memory) ** episodes
        self.episodes = self.episodes * kept + episodes
        self.violations = self.violations * kept + violations

    def state(self) -> dict[str, Any]:
        """The counts as JSON."""
        return {"episodes": self.episodes, "violations": self.violations}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put `state` back."""
        self.episodes = float(state["episodes"])
        self.violations = float(state["violations"])
