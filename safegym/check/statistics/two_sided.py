"""Is p what it was said to be? The e-process against p == p0, with alternatives on both sides."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import Probability
from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture, log_of
from safegym.check.statistics.outcomes import Outcome, read_outcome, read_outcomes
from safegym.errors import EvidenceError
from safegym.verdict import Status


@lru_cache(maxsize=256)
def two_sided_mixture(threshold: Fraction) -> Mixture:
    """Half of the mixture below and half of the one above: mean 1 at p = threshold."""
    below, above = below_mixture(threshold), above_mixture(threshold)
    return Mixture(
        weights=tuple(w / 2 for w in (*below.weights, *above.weights)),
        on_violation=(*below.on_violation, *above.on_violation),
        on_safe=(*below.on_safe, *above.on_safe),
    )


def two_one_sided(threshold: Probability, level: Probability) -> EProcess:
    """`EProcess` at half the level on each side: it says on which side p lies.

    Against p == threshold both together err with probability at most `level`, and each direction
    alone at most with half of it. `TwoSidedEProcess` needs fewer episodes and says no side.
    """
    exact, allowed = EProcess.checked(threshold, level)
    return EProcess(exact, allowed / 2)


class TwoSidedEProcess:
    """Refutes p == threshold, at every peek, with error at most `level`; it names no side.

    E is a martingale from 1 when p is the threshold. Undecided episodes may be either: E is taken
    at their most favourable completion, so all must refute. Skipped and doubtful episodes are
    refused (use `two_one_sided`). Decisions are exact, and latch.
    Raises EvidenceError as `EProcess` does.
    """

    __slots__ = (
        "_decided",
        "_episodes",
        "_goal",
        "_level",
        "_log_goal",
        "_mixture",
        "_threshold",
        "_undecided",
        "_violations",
    )

    def __init__(self, threshold: Probability, level: Probability) -> None:
        self._threshold, self._level = EProcess.checked(threshold, level)
        self._mixture = two_sided_mixture(self._threshold)
        self._goal = 1 / self._level
        self._log_goal = log_of(self._goal)
        self._violations = self._undecided = self._episodes = 0
        self._decided: int | None = None

    @property
    def threshold(self) -> Fraction:
        """The p that is doubted, exactly."""
        return self._threshold

    @property
    def level(self) -> Fraction:
        """The error level, exactly."""
        return self._level

    @property
    def episodes(self) -> int:
        """Episodes up to the decision."""
        return self._episodes

    @property
    def violations(self) -> int:
        """Violated episodes up to the decision."""
        return self._violations

    @property
    def undecided(self) -> int:
        """Undecided episodes up to the decision."""
        return self._undecided

    @property
    def different(self) -> bool:
        """Whether p == threshold is refuted."""
        return self._decided is not None

    @property
    def decided_at(self) -> int | None:
        """Number of episodes at which it was refuted; None before."""
        return self._decided

    def update(self, outcome: Outcome | Status) -> bool:
        """Add one episode, in index order, and say whether p == threshold is refuted."""
        read = read_outcome(outcome)
        if read in ("skipped", "doubtful"):
            raise EvidenceError(
                f"A two-sided e-process takes no {read} episodes; use two_one_sided(threshold, "
                "level), which does."
            )
        if self._decided is None:
            self._episodes += 1
            self._violations += read == "violated"
            self._undecided += read == "undecided"
            if self._refutes():
                self._decided = self._episodes
        return self.different

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> bool:
        """Add episodes in index order and say whether p == threshold is refuted."""
        for outcome in read_outcomes(outcomes):
            self.update(outcome)
        return self.different

    def e_value(self) -> Decimal:
        """A lower end (50 digits) of the e-value now, at the most favourable completion."""
        completions = self._completions()
        value, _ = self._mixture.log_value(completions, self._episodes - completions)
        slack = self._mixture.log_slack(completions, self._episodes - completions)
        least = completions[value - slack <= float((value + slack).min())]
        return min(self._mixture.enclosure(int(k), self._episodes - int(k), 50)[0] for k in least)

    def _completions(self) -> NDArray[np.int64]:
        """All numbers of violations that the undecided episodes leave possible."""
        return np.arange(self._violations, self._violations + self._undecided + 1)

    def _refutes(self) -> bool:
        """Whether every completion reaches the goal: floats with an error bound, then exactly."""
        completions = self._completions()
        value, _ = self._mixture.log_value(completions, self._episodes - completions)
        slack = self._mixture.log_slack(completions, self._episodes - completions)
        slack = slack + 1e-12 * self._log_goal
        if float((value + slack).min()) < self._log_goal:
            return False
        return all(
            self._mixture.reaches(int(k), self._episodes - int(k), self._goal)
            for k in completions[value - slack < self._log_goal]
        )
