"""Samples whose size is declared before the first episode: the only ones with fixed-n bounds."""

import math
from collections.abc import Iterable
from typing import Literal, SupportsIndex, get_args

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.bounded_mean import (
    hoeffding_upper,
    kl_upper,
    maurer_pontil_upper,
)
from safegym.check.statistics.exact import (
    Probability,
    episode_count,
    exact_probability,
    real_float,
)
from safegym.check.statistics.intervals import (
    Interval,
    Method,
    Side,
    labelled_interval,
)
from safegym.check.statistics.mixture import log_of
from safegym.check.statistics.outcomes import Outcome, read_outcome, read_outcomes
from safegym.check.statistics.validity import incomplete, overfull, running_refusal
from safegym.errors import EvidenceError
from safegym.verdict import Status

FixedMeanMethod = Literal["hoeffding", "kl", "maurer-pontil"]

Floats = NDArray[np.float64]


class FixedSample:
    """Outcomes of exactly n episodes, n declared beforehand; bounds only when all are in.

    Raises EvidenceError for n < 1, for an episode beyond n, and for a bound before n.
    """

    __slots__ = ("_counts", "_declared", "_seen")

    def __init__(self, episodes: SupportsIndex) -> None:
        self._declared = _size(episodes)
        self._counts: dict[Outcome, int] = dict.fromkeys(get_args(Outcome), 0)
        self._seen = 0

    def __len__(self) -> int:
        return self._declared

    @property
    def seen(self) -> int:
        """Episodes that are in."""
        return self._seen

    @property
    def complete(self) -> bool:
        """Whether all declared episodes are in."""
        return self._seen == self._declared

    def count(self, outcome: Outcome) -> int:
        """Episodes with that outcome."""
        return self._counts[read_outcome(outcome)]

    def update(self, outcome: Outcome | Status) -> None:
        """Add one episode."""
        read = read_outcome(outcome)
        if self.complete:
            raise overfull(self._declared)
        self._counts[read] += 1
        self._seen += 1

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> None:
        """Add episodes; more than are left raise EvidenceError before any is counted."""
        read = read_outcomes(outcomes)
        if self._seen + len(read) > self._declared:
            raise overfull(self._declared)
        for outcome in read:
            self._counts[outcome] += 1
        self._seen += len(read)

    def interval(
        self,
        *,
        confidence: float = 0.95,
        method: Method = "clopper-pearson",
        side: Side = "two",
    ) -> Interval:
        """Limits on the failure probability, for all methods of `interval`.

        Undecided episodes count as failures for the upper end and as safe for the lower. Under a
        condition, skipped ones are left out (given which episodes meet the condition, the failures
        among them are still independent) and doubtful ones are safe for the lower end only; that
        is shown for "clopper-pearson" and the anytime methods, and refused for the others.
        """
        if not self.complete:
            raise incomplete(self._seen, self._declared)
        counts = self._counts
        if (counts["skipped"] or counts["doubtful"]) and method in ("hoeffding", "kl"):
            raise EvidenceError(
                f'{method} takes no skipped episodes; use method="clopper-pearson".'
            )
        bad, open_ = counts["violated"], counts["undecided"]
        counted = bad + open_ + counts["safe"]
        upper = labelled_interval(
            bad + open_, counted, confidence=confidence, method=method, side=side
        )
        lower = labelled_interval(
            bad, counted + counts["doubtful"], confidence=confidence, method=method, side=side
        )
        return Interval(
            lower.lo, upper.hi, upper.confidence, upper.method, upper.side, upper.validity
        )


class FixedValues:
    """One number an episode, of exactly n episodes, n and the range [low, high] declared before.

    A value that an episode leaves open is a range [lowest, highest]. Without low= or high= that
    end is infinite, and what needs it is refused. Raises EvidenceError as `FixedSample` does, for
    NaN, and for values outside the range.
    """

    __slots__ = ("_declared", "_high", "_highest", "_low", "_lowest")

    def __init__(
        self, episodes: SupportsIndex, *, low: float = -math.inf, high: float = math.inf
    ) -> None:
        self._declared = _size(episodes)
        self._low, self._high = real_float(low, "low"), real_float(high, "high")
        if not self._low < self._high:
            raise EvidenceError(f"low = {low}, high = {high} is no range; write low=0.0, high=1.0.")
        self._lowest: list[float] = []
        self._highest: list[float] = []

    def __len__(self) -> int:
        return self._declared

    @property
    def seen(self) -> int:
        """Episodes that are in."""
        return len(self._lowest)

    @property
    def complete(self) -> bool:
        """Whether all declared episodes are in."""
        return self.seen == self._declared

    @property
    def low(self) -> float:
        """Lower end of the declared range."""
        return self._low

    @property
    def high(self) -> float:
        """Upper end of the declared range."""
        return self._high

    @property
    def lowest(self) -> Floats:
        """Lower ends of all values, shape (n,)."""
        complete(self)
        return np.array(self._lowest)

    @property
    def highest(self) -> Floats:
        """Upper ends of all values, shape (n,)."""
        complete(self)
        return np.array(self._highest)

    def update(self, lowest: float, highest: float | None = None) -> None:
        """Add one episode's value, or the range that it leaves open."""
        least = real_float(lowest, "lowest")
        most = least if highest is None else real_float(highest, "highest")
        if self.complete:
            raise overfull(self._declared)
        if not self._low <= least <= most <= self._high:
            raise EvidenceError(
                f"An episode's value [{least}, {most}] must be ordered, no NaN, and inside the "
                f"declared range [{self._low}, {self._high}]; declare it with low= and high=."
            )
        self._lowest.append(least)
        self._highest.append(most)

    def mean_limits(
        self, *, level: Probability, method: FixedMeanMethod = "maurer-pontil"
    ) -> tuple[float, float]:
        """(lo, hi): limits on the mean, each with error at most `level`, at the declared n.

        The method must not be chosen by looking at the values. For limits at every peek see
        `safegym.check.statistics.mean_limits`.
        """
        complete(self)
        if method not in get_args(FixedMeanMethod):
            raise EvidenceError(
                f"method = {method!r} is not one of {', '.join(get_args(FixedMeanMethod))}."
            )
        width = self._high - self._low
        if not math.isfinite(width):
            raise EvidenceError("A mean needs its range declared: FixedValues(n, low=0, high=1).")
        goal = log_of(1 / exact_probability(level, "level"))
        upper = _mean_upper((self.highest - self._low) / width, goal, method)
        lower = 1.0 - _mean_upper((self._high - self.lowest) / width, goal, method)
        margin = 1e-12 * (abs(self._low) + abs(self._high) + width)
        return (
            max(self._low, self._low + lower * width - margin),
            min(self._high, self._low + upper * width + margin),
        )


def complete(sample: object) -> None:
    """Refuse anything but a fixed sample with all its episodes.

    Raises EvidenceError for a running count (`EProcess`, `Screen`, a list, ...), with the anytime
    method to use instead, and for a fixed sample that is not complete.
    """
    if not isinstance(sample, FixedSample | FixedValues):
        raise running_refusal(sample)
    if not sample.complete:
        raise incomplete(sample.seen, len(sample))


def _mean_upper(values: Floats, goal: float, method: FixedMeanMethod) -> float:
    if method == "maurer-pontil":
        return maurer_pontil_upper(values, goal)
    mean = math.fsum(values.tolist()) / values.size
    bound = hoeffding_upper if method == "hoeffding" else kl_upper
    return bound(min(mean, 1.0), values.size, goal)


def _size(episodes: SupportsIndex) -> int:
    number = episode_count(episodes, "episodes")
    if number < 1:
        raise EvidenceError("A fixed sample needs at least one episode; write FixedSample(300).")
    return number
