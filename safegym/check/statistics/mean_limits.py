"""Anytime limits on a bounded mean: the betting e-process turned round."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.statistics.exact import Probability, exact_probability, finite_float
from safegym.check.statistics.grid import RATIOS
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]

_HALVINGS = 60
_SLACK = 2.0**-40


def mean_limits(
    lowest: ArrayLike,
    highest: ArrayLike | None = None,
    *,
    level: Probability,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[float, float]:
    """(lo, hi): limits on mean(x), each valid at every peek with error at most `level`.

    lowest, highest: shape (n,), the ends of each episode's value in index order (`highest` is
    `lowest` where nothing is open), inside the declared range [low, high]. hi is the least c for
    which `MeanEProcess(c, level, claim="below")` stands at its goal, lo the greatest for which
    claim="above" does, both moved outward by the rounding error. No episodes give (low, high).
    Raises EvidenceError for values outside the range, or a level outside (0, 1).
    """
    start, width = finite_float(low, "low"), finite_float(high, "high") - finite_float(low, "low")
    least = np.asarray(lowest, dtype=np.float64)
    most = least if highest is None else np.asarray(highest, dtype=np.float64)
    fits = least.ndim == 1 and least.shape == most.shape and width > 0
    if not fits or not bool(np.all((low <= least) & (least <= most) & (most <= high))):
        raise EvidenceError(
            f"mean_limits needs two equally long rows of values with {low} <= lowest <= highest <= "
            f"{high}; declare the range with low= and high=."
        )
    exact = exact_probability(level, "level")
    goal = math.log(exact.denominator) - math.log(exact.numerator)
    upper = _share_limit((most - start) / width, goal)
    lower = 1.0 - _share_limit((high - least) / width, goal)
    margin = 1e-12 * (abs(low) + abs(high) + width)
    return max(low, start + lower * width - margin), min(high, start + upper * width + margin)


def _share_limit(values: Floats, goal: float) -> float:
    """Least c in (0, 1] at which the mixture of bets on mean < c has reached exp(goal).

    Every factor x r + (1-x) (1 - r c)/(1 - c) rises with c, so the wealth does.
    """
    ratios = np.array((0.0, *RATIOS))[:, None]
    weights = np.log(np.array([0.5] + [0.5 / len(RATIOS)] * len(RATIOS)))
    enough = goal + _SLACK * (64.0 + 64.0 * values.size)
    refused, claimed = 0.0, 1.0
    for _ in range(_HALVINGS):
        c = 0.5 * (refused + claimed)
        if c == 1.0:
            break
        factors = values * ratios + (1.0 - values) * ((1.0 - ratios * c) / (1.0 - c))
        with np.errstate(divide="ignore"):
            terms = weights + np.log(factors).sum(axis=1)
        top = float(terms.max())
        if top + math.log(float(np.exp(terms - top).sum())) >= enough:
            claimed = c
        else:
            refused = c
    return claimed
