"""Cross-entropy importance sampling over a scenario's declared inputs.

The cross-entropy method: Rubinstein and Kroese 2004.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.rare.episodes import Seen
from safegym.check.rare.proposal import Proposal, fitted, nominal

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, Sequence[int]], Sequence[Seen]]
"""Points of the cube, shape (n, d), and a seed for each: what became of the episodes."""

ALPHA = 0.2
ELITE = 0.1
FEWEST = 5
ROUNDS = 5
SMOOTHING = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRun:
    """One replicate. lower, upper: weight where an episode fails for sure, or may, else 0, (n,).

    proposal: what the last episodes were drawn from, fixed before the first of them. failing,
    undecided: among these. rounds: pilot rounds that moved the proposal. reached: whether the
    pilot came to the failures.
    """

    proposal: Proposal
    lower: Floats
    upper: Floats
    failing: int
    undecided: int
    rounds: int
    reached: bool

    @property
    def estimate(self) -> float:
        """The mean weight of failing episodes: unbiased under the declared law."""
        return float(self.upper.mean())

    @property
    def effective(self) -> float:
        """Kish's effective number of failing episodes: (sum w)^2 / sum w^2, 0 without one."""
        total = float(self.upper.sum())
        return total * total / float(self.upper @ self.upper) if total else 0.0

    @property
    def largest_share(self) -> float:
        """The share of the estimate that its heaviest episode alone makes up; 1 without a hit."""
        total = float(self.upper.sum())
        return float(self.upper.max()) / total if total else 1.0


def importance(
    evaluate: Evaluate,
    dimension: int,
    generator: np.random.Generator,
    *,
    episodes: int,
    alpha: float = ALPHA,
) -> WeightedRun:
    """Lean the inputs towards failures in a pilot, then weight fresh episodes.

    episodes: in all; a tenth of them a pilot round, at most five rounds. A round keeps the tenth
    of its episodes that came nearest (all that fail, once these are more), weighted back to the
    declared law, and fits the betas to them, 0.9 new and 0.1 old. It ends when a tenth fail. The
    episodes of the pilot are not in the estimate, so the proposal does not depend on those that
    are.
    """
    proposal, left, rounds, reached = nominal(dimension, alpha), episodes, 0, False
    size = max(20, episodes // 10)
    while rounds < ROUNDS and not reached and left - size >= episodes // 2:
        points = proposal.draw(size, generator)
        seen = evaluate(points, _seeds(size, generator))
        left, rounds = left - size, rounds + 1
        levels = np.array([one.level for one in seen])
        failing = np.array([one.violated for one in seen])
        reached = bool(failing.mean() >= ELITE)
        proposal = _moved(proposal, points, levels, failing)
    points = proposal.draw(left, generator)
    seen = evaluate(points, _seeds(left, generator))
    weights = proposal.weights(points)
    may = np.array([one.violated for one in seen])
    sure = may & ~np.array([one.undecided for one in seen])
    return WeightedRun(
        proposal=proposal,
        lower=np.where(sure, weights, 0.0),
        upper=np.where(may, weights, 0.0),
        failing=int(may.sum()),
        undecided=int(may.sum() - sure.sum()),
        rounds=rounds,
        reached=reached,
    )


def _moved(
    proposal: Proposal, points: Floats, levels: Floats, failing: NDArray[np.bool_]
) -> Proposal:
    """One cross-entropy step; the proposal as it is where no episode came nearer than another."""
    count = max(FEWEST, round(ELITE * len(levels)))
    threshold = np.partition(levels, -count)[-count]
    elite = (levels >= threshold) if failing.sum() < count else failing
    if threshold == float("-inf") and not failing.any():
        return proposal
    if threshold == float("-inf"):
        elite = failing
    weights = proposal.weights(points[elite])
    new = fitted(points[elite], weights, proposal.alpha, proposal)
    blend = SMOOTHING
    return Proposal(
        blend * new.a + (1.0 - blend) * proposal.a,
        blend * new.b + (1.0 - blend) * proposal.b,
        proposal.alpha,
    )


def _seeds(count: int, generator: np.random.Generator) -> list[int]:
    return [int(seed) for seed in generator.integers(2**63 - 8, size=count)]
