"""Integer boundaries of an e-process: exact, so that an update is one comparison."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.grid import above_mixture, below_mixture
from safegym.check.statistics.mixture import Mixture, log_of

BLOCK = 256
DENSE = 1 << 17
"""Rows of lower number are kept as a table; one further off is worked out alone."""
_NEWTON_STEPS = 40

Integers = NDArray[np.int64]


class Boundary:
    """For each number of violations, the safe episodes at which E crosses 1/level.

    Rows are found by Newton's method in floats, 256 at a time, and each is certified: by floats
    where they are clear of the goal by more than their error bound, else by directed decimals,
    else by rationals. The table grows as it is asked for and is shared between processes of one
    (threshold, level), in any number of threads.
    """

    __slots__ = ("_goal", "_log_goal", "_mixture", "_rising", "_rows")

    def __init__(self, mixture: Mixture, level: Fraction, *, rising: bool) -> None:
        self._mixture = mixture
        self._goal = 1 / level
        self._log_goal = log_of(self._goal)
        self._rising = rising
        self._rows: list[int] = []

    def row(self, violations: int) -> int:
        """Rising: least safe count that crosses. Falling: greatest one, -1 where none does."""
        if violations >= DENSE:
            return self._certified(np.array([violations], dtype=np.float64))[0]
        rows = self._rows
        while len(rows) <= violations:  # on a list of its own: threads may grow the table at once
            block = np.arange(len(rows), len(rows) + BLOCK, dtype=np.float64)
            rows = rows + self._certified(block)
        if len(rows) > len(self._rows):
            self._rows = rows
        return rows[violations]

    def _certified(self, violations: NDArray[np.float64]) -> list[int]:
        guesses = self._round(self._roots(violations))
        sure = self._is_sure(violations, guesses)
        return [
            int(guess) if settled else self.settle(int(count), int(guess))
            for count, guess, settled in zip(violations, guesses, sure, strict=True)
        ]

    def _roots(self, violations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where log E = log goal, over the real numbers of safe episodes.

        log E is convex in them. The start is where the best single term alone reaches the goal:
        E >= goal there, so Newton's method comes to the root from one side.
        """
        logs = self._mixture.logs
        needed = self._log_goal - logs.weights[:, None] - logs.on_violation[:, None] * violations
        alone = needed / logs.on_safe[:, None]
        safe: NDArray[np.float64] = alone.min(axis=0) if self._rising else alone.max(axis=0)
        for _ in range(_NEWTON_STEPS):
            value, slope = self._mixture.log_value(violations, safe)
            step = (value - self._log_goal) / slope
            safe = safe - step
            if np.all(np.abs(step) < 1e-9 * (1.0 + np.abs(safe))):
                break
        return safe

    def _round(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._rising:
            return np.maximum(np.ceil(roots), 0.0)
        return np.maximum(np.floor(roots), -1.0)

    def _is_sure(
        self, violations: NDArray[np.float64], guesses: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether floats alone prove that the guess crosses and its outer neighbour does not."""
        outer = guesses + (-1.0 if self._rising else 1.0)
        inside = self._clearance(violations, guesses, sign=1.0) | (guesses < 0.0)
        outside = self._clearance(violations, outer, sign=-1.0) | (outer < 0.0)
        return inside & outside

    def _clearance(
        self, violations: NDArray[np.float64], safe: NDArray[np.float64], *, sign: float
    ) -> NDArray[np.bool_]:
        real = np.maximum(safe, 0.0)
        value, _ = self._mixture.log_value(violations, real)
        slack = self._mixture.log_slack(violations, real) + 1e-12 * self._log_goal
        return sign * (value - self._log_goal) > slack

    def settle(self, violations: int, guess: int) -> int:
        """The row, found from a guess with decimals and rationals alone."""

        def crosses(safe: int) -> bool:
            return self._mixture.reaches(violations, safe, self._goal)

        if self._rising:
            return least_true(crosses, guess)
        return least_true(lambda safe: not crosses(safe), guess + 1) - 1


class BelowBoundary:
    """kmax(n): the most violations with which n episodes claim p < p0 at this level."""

    __slots__ = ("_boundary", "_threshold")

    def __init__(self, threshold: Fraction, level: Fraction) -> None:
        self._threshold = threshold
        self._boundary = Boundary(below_mixture(threshold), level, rising=True)

    def episodes_needed(self, violations: int) -> int:
        """The least n at which that many violations still claim p < p0."""
        return violations + self._boundary.row(violations)

    def kmax(self, episodes: int) -> int:
        """The greatest k with E(k, episodes) >= 1/level; -1 if not even k = 0 claims.

        Searched downwards from episodes * p0, which no claim reaches.
        """
        limit = episodes * self._threshold.numerator // self._threshold.denominator + 1
        return least_true(lambda k: self.episodes_needed(k) > episodes, limit) - 1

    def table(self, episodes: int) -> Integers:
        """kmax(0), ..., kmax(episodes), shape (episodes + 1,)."""
        needed = np.array(
            [self.episodes_needed(k) for k in range(self.kmax(episodes) + 1)], dtype=np.int64
        )
        return np.searchsorted(needed, np.arange(episodes + 1), side="right") - 1


class AboveBoundary:
    """kmin(n): the fewest violations with which n episodes claim p > p0 at this level."""

    __slots__ = ("_boundary",)

    def __init__(self, threshold: Fraction, level: Fraction) -> None:
        self._boundary = Boundary(above_mixture(threshold), level, rising=False)

    def episodes_allowed(self, violations: int) -> int:
        """The greatest n at which that many violations claim p > p0; -1 if they never do."""
        safe = self._boundary.row(violations)
        return safe + violations if safe >= 0 else -1

    def kmin(self, episodes: int) -> int | None:
        """The least k with E(k, episodes) >= 1/level; None if not even k = episodes claims."""
        if self.episodes_allowed(episodes) < episodes:
            return None
        return least_true(lambda k: self.episodes_allowed(k) >= episodes, 0)

    def table(self, episodes: int) -> Integers:
        """kmin(0), ..., kmin(episodes), shape (episodes + 1,); episodes + 1 where none claims."""
        allowed = [self.episodes_allowed(0)]
        while allowed[-1] < episodes and len(allowed) <= episodes:
            allowed.append(max(allowed[-1], self.episodes_allowed(len(allowed))))
        counts = np.arange(episodes + 1)
        found = np.searchsorted(np.asarray(allowed, dtype=np.int64), counts)
        return np.where(found <= counts, found, episodes + 1)


@lru_cache(maxsize=256)
def below_boundary(threshold: Fraction, level: Fraction) -> BelowBoundary:
    """The shared boundary of that (threshold, level)."""
    return BelowBoundary(threshold, level)


@lru_cache(maxsize=256)
def above_boundary(threshold: Fraction, level: Fraction) -> AboveBoundary:
    """The shared mirror boundary of that (threshold, level)."""
    return AboveBoundary(threshold, level)


def least_true(holds: Callable[[int], bool], guess: int) -> int:
    """The least integer >= 0 where `holds`, which is false then true forever; from a guess."""
    guess = max(guess, 0)
    step = 1
    if holds(guess):
        low, high = guess, guess
        while low > 0:
            low = max(high - step, 0)
            if not holds(low):
                break
            high, step = low, 2 * step
        else:
            return 0
    else:
        low, high = guess, guess + 1
        while not holds(high):
            low, step = high, 2 * step
            high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
