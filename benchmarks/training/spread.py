"""Interquartile means with intervals over runs.

Source: Agarwal, Schwarzer, Castro, Courville and Bellemare, Deep Reinforcement Learning at the Edge
of the Statistical Precipice (2021): the interquartile mean over runs, and intervals from a
bootstrap that draws runs again within each task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class Spread:
    """An interquartile mean with its 95 % bootstrap interval, over `runs` runs."""

    middle: float
    low: float
    high: float
    runs: int

    def below(self, other: "Spread") -> bool:
        """Whether the whole interval lies below another's."""
        return self.high < other.low

    def to_json(self) -> dict[str, float]:
        """As JSON."""
        return {"iqm": self.middle, "low": self.low, "high": self.high, "runs": self.runs}


def spread(tasks: Mapping[str, Sequence[float]], *, seed: int = 0) -> Spread:
    """Of all runs of all tasks together; task -> one number a run."""
    groups = [np.asarray(values, np.float64) for values in tasks.values() if len(values)]
    if not groups:
        return Spread(float("nan"), float("nan"), float("nan"), 0)
    generator = np.random.default_rng(seed)
    drawn = [_drawn(group, generator) for group in groups]
    means = trim_mean(np.concatenate(drawn, axis=1), 0.25, axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    every = np.concatenate(groups)
    return Spread(float(trim_mean(every, 0.25)), float(low), float(high), len(every))


def _drawn(group: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Runs of one task drawn again, shape (DRAWS, runs)."""
    indices = generator.integers(0, len(group), size=(DRAWS, len(group)))
    result: NDArray[np.float64] = group[indices]
    return result
