"""The mixtures of many thresholds at once, compared with many goals: floats first, then exactly."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.grid import EXACT_RATIOS, RATIOS, above_mixture, below_mixture
from safegym.check.statistics.mixture import log_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SLACK: Final = 2.0**-45
_ZERO: Final = -1e30


class Mixtures:
    """E against 1/level for pairs (threshold, level), shape (m,): `Mixture.reaches`, vectorised.

    rising: the mixtures against p >= threshold, else those against p <= threshold. The float
    logarithms have relative error below 2**3 rounding units of the steepest one and the slack
    allows 2**8; what it leaves open is decided on rationals.
    """

    def __init__(
        self, thresholds: Sequence[Fraction], levels: Sequence[Fraction], *, rising: bool
    ) -> None:
        self._thresholds, self._levels = tuple(thresholds), tuple(levels)
        self._make = below_mixture if rising else above_mixture
        p = np.array([float(threshold) for threshold in thresholds])[:, None]
        q = np.array([float(1 - threshold) for threshold in thresholds])[:, None]
        self._weights, self._bad, self._good = (_below if rising else _above)(p, q)
        self._goal = np.array([log_of(1 / level) for level in levels])
        finite = np.where(self._bad > _ZERO, np.abs(self._bad), 0.0)
        self._steepest_bad, self._steepest_good = finite.max(axis=1), np.abs(self._good).max(axis=1)

    def missing(self, pairs: Integers, violations: Integers, safe: Integers) -> Floats:
        """Log of what E lacks to its goal, shape (n,), never too much; -1 where it is reached."""
        v, s = violations.astype(np.float64), safe.astype(np.float64)
        terms = self._weights + self._bad[pairs] * v[:, None]
        terms += self._good[pairs] * s[:, None]
        top = terms.max(axis=1)
        terms -= top[:, None]
        goal = self._goal[pairs]
        gap = goal - top - np.log(np.exp(terms, out=terms).sum(axis=1))
        spread = self._steepest_bad[pairs] * v + self._steepest_good[pairs] * s
        slack = _SLACK * (64.0 + spread) + 1e-12 * goal
        left: Floats = np.where(gap < -slack, -1.0, np.maximum(gap - slack, 0.0))
        for i in np.flatnonzero(np.abs(gap) <= slack):
            threshold, level = self._thresholds[pairs[i]], self._levels[pairs[i]]
            mixture = self._make(threshold)
            if mixture.reaches(int(violations[i]), int(safe[i]), 1 / level):
                left[i] = -1.0
        return left


def _below(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """Log weights (13,), log factors of a violation and of a safe episode, each (m, 13)."""
    ratios = np.array((0.0, *RATIOS))
    weights = np.log(np.array([0.5] + [0.5 / len(RATIOS)] * len(RATIOS)))
    bad = np.broadcast_to(np.array([_ZERO, *np.log(RATIOS)]), (len(p), len(ratios)))
    rest = np.where(p < 0.5, np.log1p(-np.minimum(p, 0.5)), np.log(q))
    return weights, bad, np.log1p(-ratios * p) - rest


def _above(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """The same for the mirror, (12,) and (m, 12), written so that nothing cancels."""
    ratios = np.array(RATIOS)
    gaps = np.array([float(1 - ratio) for ratio in EXACT_RATIOS])
    odds = np.array([float((1 - ratio) / ratio) for ratio in EXACT_RATIOS])
    scale = np.where(p < 0.5, np.log(p + ratios * q), np.log1p(-gaps * np.minimum(q, 0.5)))
    return np.full(len(ratios), -math.log(len(ratios))), -scale, -np.log1p(odds * p)
