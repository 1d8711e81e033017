"""Confidence sequences for a proportion: limits at every episode that hold all at once."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.beta_mixture import beta_mixture_limits, beta_mixture_upper
from safegym.check.statistics.exact import one_of
from safegym.check.statistics.intervals import VALIDITY, Interval, Method, Side, labelled_interval
from safegym.check.statistics.levels import claim_level
from safegym.check.statistics.limits import lower_limits, upper_limits
from safegym.check.statistics.outcomes import Outcome, read_outcomes
from safegym.check.statistics.validity import running_refusal
from safegym.errors import EvidenceError
from safegym.verdict import Status

Track = NDArray[Any]


class ConfidenceSequence:
    """Limits on the failure probability p after each episode, all true at once with `confidence`.

    method: "beta-mixture" or "e-process". side: "two", "upper" or "lower". Episodes come in index
    order. Undecided ones count as failures for the upper end and as safe for the lower; skipped and
    doubtful ones as in `EProcess`. Since the limits hold at all looks together, their running
    intersection holds too: `running` is never wider, and is labelled as what it is.
    Raises EvidenceError for a fixed-n method or a confidence outside (0, 1).
    """

    __slots__ = ("_confidence", "_counts", "_hi", "_level", "_lo", "_looks", "_method", "_side")

    def __init__(
        self,
        *,
        confidence: float = 0.95,
        method: Method = "beta-mixture",
        side: Side = "two",
    ) -> None:
        if one_of(method, VALIDITY) and VALIDITY[method] == "fixed_n":
            raise running_refusal(self)
        labelled_interval(0, 0, confidence=confidence, method=method, side=side)
        self._confidence = confidence
        self._method: Method = method
        self._side: Side = side
        self._level = claim_level(confidence)
        self._counts = {"violated": 0, "undecided": 0, "safe": 0, "doubtful": 0}
        self._lo, self._hi = (0.0, 0), (1.0, 0)
        self._looks = 0

    @property
    def episodes(self) -> int:
        """Episodes fed, those that move nothing included."""
        return self._looks

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> None:
        """Add episodes in index order; each is a look for `running`."""
        read = read_outcomes(outcomes)
        if not read:
            return
        tracks: dict[str, Track] = {}
        for name in self._counts:
            steps = np.array([outcome == name for outcome in read], dtype=np.int64)
            tracks[name] = self._counts[name] + np.cumsum(steps)
            self._counts[name] = int(tracks[name][-1])
        failed, open_ = tracks["violated"], tracks["undecided"]
        total = failed + open_ + tracks["safe"]
        self._narrow(
            self._lowers(failed, total + tracks["doubtful"]), self._uppers(failed + open_, total)
        )
        self._looks += len(read)

    @property
    def interval(self) -> Interval:
        """Limits from the counts now."""
        counts = self._counts
        failed, open_ = counts["violated"], counts["undecided"]
        total = failed + open_ + counts["safe"]
        upper = self._labelled(failed + open_, total)
        return replace(upper, lo=self._labelled(failed, total + counts["doubtful"]).lo)

    @property
    def running(self) -> Interval:
        """The running intersection over all episodes so far, labelled `running`.

        Raises EvidenceError where it is empty: that happens with probability at most 1 - confidence
        when all episodes are independent with the same p, and more often when p has moved.
        """
        (lo, low_at), (hi, high_at) = self._lo, self._hi
        if lo > hi:
            raise EvidenceError(
                f"The lower limit {lo:.6g} of episode {low_at} lies above the upper limit {hi:.6g} "
                f"of episode {high_at}: with one p for all episodes this happens in at most "
                f"{self._level:.4g} of runs; check that policy and scenario did not change."
            )
        return replace(self.interval, lo=lo, hi=hi, running=True)

    def _labelled(self, failed: int, total: int) -> Interval:
        return labelled_interval(
            failed, total, confidence=self._confidence, method=self._method, side=self._side
        )

    def _lowers(self, failed: Track, total: Track) -> Track:
        if self._side == "upper":
            return np.zeros(len(total))
        if self._method == "e-process":
            share = self._level / 2 if self._side == "two" else self._level
            return lower_limits(failed, total, level=share)
        if self._side == "lower":
            return 1.0 - beta_mixture_upper(total - failed, total, self._level)
        return beta_mixture_limits(failed, total, self._level)[0]

    def _uppers(self, failed: Track, total: Track) -> Track:
        if self._side == "lower":
            return np.ones(len(total))
        if self._method == "e-process":
            share = self._level / 2 if self._side == "two" else self._level
            return upper_limits(failed, total, level=share)
        if self._side == "upper":
            return beta_mixture_upper(failed, total, self._level)
        return beta_mixture_limits(failed, total, self._level)[1]

    def _narrow(self, lowers: Track, uppers: Track) -> None:
        best_low, best_high = int(lowers.argmax()), int(uppers.argmin())
        if lowers[best_low] > self._lo[0]:
            self._lo = (float(lowers[best_low]), self._looks + best_low + 1)
        if uppers[best_high] < self._hi[0]:
            self._hi = (float(uppers[best_high]), self._looks + best_high + 1)
