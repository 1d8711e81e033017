"""Report-only bounds on the robustness that episodes reach: quantiles and the mean of the worst."""

import math
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics.clopper_pearson import lower_tail_at_most
from safegym.check.statistics.exact import (
    MOST_EPISODES,
    Probability,
    episode_count,
    exact_probability,
)
from safegym.check.statistics.fixed_sample import FixedValues, complete
from safegym.check.statistics.mixture import log_of
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]


def quantile_limits(
    sample: FixedValues, q: Probability, *, level: Probability
) -> tuple[float, float]:
    """(lo, hi): limits on the q-quantile of robustness, each with error at most `level`.

    The quantile is the least x with P(robustness <= x) >= q. lo is the r-th smallest value, with
    the largest r for which P(Binomial(n, q) < r) <= level, or -inf if there is none; hi likewise
    from above. Open values count with their lower end for lo and their upper end for hi. No
    assumption on the distribution. Fixed n: raises EvidenceError for a sample that is not complete.
    Source: Wilks 1941.
    """
    complete(sample)
    share, allowed, n = exact_probability(q, "q"), exact_probability(level, "level"), len(sample)
    below, above = _rank(n, share, allowed), _rank(n, 1 - share, allowed)
    lowest, highest = np.sort(sample.lowest), np.sort(sample.highest)
    lo = float(lowest[below - 1]) if below else -math.inf
    return lo, float(highest[n - above]) if above else math.inf


def episodes_for_quantile(q: Probability, *, level: Probability) -> int:
    """Least n at which the smallest of n values bounds the q-quantile from below: (1-q)^n <= level.

    59 for q = 0.05 and level 0.05. Raises EvidenceError where it is more than can be run.
    """
    share, allowed = exact_probability(q, "q"), exact_probability(level, "level")
    rate = log_of(1 / (1 - share))
    if log_of(1 / allowed) >= rate * MOST_EPISODES:
        raise EvidenceError(
            f"q = {q}, level = {level}: more than 10^15 episodes; write for example q=0.05."
        )
    guess = max(1, math.floor(log_of(1 / allowed) / rate) - 2)
    while not lower_tail_at_most(0, guess, share, allowed):
        guess += 1
    return guess


def dkw_radius(episodes: SupportsIndex, *, level: Probability) -> float:
    """Greatest distance on one side between the true and the counted distribution function.

    sqrt(log(1/level) / (2n)), which holds on one side with error at most `level` for level <= 1/2.
    Raises EvidenceError for a larger level, or no episodes. Source: Massart 1990.
    """
    n, allowed = episode_count(episodes, "episodes"), exact_probability(level, "level")
    if n < 1 or allowed > Fraction(1, 2):
        raise EvidenceError(
            f"n = {n}, level = {float(allowed):g}: the bound needs n >= 1 and a level of at most "
            "0.5; write for example level=0.05."
        )
    return math.sqrt(log_of(1 / allowed) / (2 * n)) * (1.0 + 1e-12)


def quantile_band(
    sample: FixedValues, q: Probability, *, level: Probability
) -> tuple[float, float]:
    """(lo, hi): as `quantile_limits`, but all q hold together, each end with error `level`.

    Wider at any single q. Source: Massart 1990.
    """
    complete(sample)
    share = exact_probability(q, "q")
    reach, n = Fraction(dkw_radius(len(sample), level=level)), len(sample)
    below, above = math.ceil((share - reach) * n), math.ceil((share + reach) * n)
    lo = float(np.sort(sample.lowest)[below - 1]) if below >= 1 else sample.low
    return lo, float(np.sort(sample.highest)[above - 1]) if above <= n else sample.high


def worst_mean_limits(
    sample: FixedValues, q: Probability, *, level: Probability
) -> tuple[float, float]:
    """(lo, hi): limits on the mean of the worst share q of robustness (CVaR), each with `level`.

    (1/q) times the integral of the quantile function over [0, q]; the counted quantiles are moved
    by `dkw_radius`, with the declared low and high where none is left. lo is -inf (hi inf) when the
    sample was declared without that end and it is needed. Fixed n. Source: Massart 1990 for the
    radius; the rest is the definition.
    """
    complete(sample)
    share = float(exact_probability(q, "q"))
    reach = dkw_radius(len(sample), level=level)
    lo = _quantile_mean(np.sort(sample.lowest), -reach, share, sample.low, sample.high)
    hi = _quantile_mean(np.sort(sample.highest), reach, share, sample.low, sample.high)
    care = _care(sample, share)
    return max(sample.low, lo - care), min(sample.high, hi + care)


def _care(sample: FixedValues, share: float) -> float:
    """A bound on the rounding of a mean over a share: of the largest number that may be in it."""
    values = np.concatenate([sample.lowest, sample.highest, [sample.low, sample.high, 1.0]])
    largest = float(np.abs(values[np.isfinite(values)]).max())
    return largest * (1e-12 + 1e-14 / share)


def _rank(n: int, share: Fraction, allowed: Fraction) -> int:
    """Largest r >= 0 with P(Binomial(n, share) <= r - 1) <= allowed."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if lower_tail_at_most(middle - 1, n, share, allowed):
            low = middle
        else:
            high = middle - 1
    return low


def _quantile_mean(ordered: Floats, shift: float, share: float, low: float, high: float) -> float:
    """Mean over u in [0, share] of the counted quantile at u + shift; low below 0, high above 1."""
    n = ordered.size
    edges = np.arange(n + 1) / n
    begin, end = shift, shift + share
    covered = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin), 0.0, None)
    inside = covered > 0.0
    total = math.fsum((covered[inside] * ordered[inside]).tolist())
    under, over = max(0.0, min(end, 0.0) - begin), max(0.0, end - max(begin, 1.0))
    total += under * low if under else 0.0
    total += over * high if over else 0.0
    return total / share
