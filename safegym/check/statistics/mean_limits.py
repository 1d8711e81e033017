"""Anytime limits on a bounded mean."""

import math
from collections.abc import Callable
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.statistics.exact import (
    Probability,
    exact_probability,
    finite_float,
    real_array,
)
from safegym.check.statistics.grid import RATIOS
from safegym.check.statistics.plug_in import bernstein_upper, betting_upper
from safegym.errors import EvidenceError

Floats = NDArray[np.float64]
MeanMethod = Literal["mixture", "betting", "empirical-bernstein"]

_HALVINGS = 60
_SLACK = 2.0**-40


def mean_limits(
    lowest: ArrayLike,
    highest: ArrayLike | None = None,
    *,
    level: Probability,
    low: float = 0.0,
    high: float = 1.0,
    method: MeanMethod = "mixture",
) -> tuple[float, float]:
    """(lo, hi): limits on mean(x), each valid at every peek with error at most `level`.

    lowest, highest: shape (n,), the ends of each episode's value in index order (`highest` is
    `lowest` where nothing is open), inside the declared range [low, high]. "mixture" agrees with
    the decisions: hi is the least c for which `MeanEProcess(c, level, claim="below")` stands at its
    goal, lo the greatest for which claim="above" does. "betting" (predictable plug-in bets) is
    tighter for widely spread values in the middle of the range, wider near its ends;
    "empirical-bernstein" is a closed form, and wider. All are moved outward by the rounding error.
    No episodes give (low, high). The method must not be chosen by looking at the values.
    Raises EvidenceError for values outside the range, or a level outside (0, 1).
    """
    if method not in get_args(MeanMethod):
        raise EvidenceError(f"method = {method!r} is not one of {', '.join(get_args(MeanMethod))}.")
    start, width = finite_float(low, "low"), finite_float(high, "high") - finite_float(low, "low")
    least = real_array(lowest, "lowest")
    most = least if highest is None else real_array(highest, "highest")
    fits = least.ndim == 1 and least.shape == most.shape and 0 < width < math.inf
    if not fits or not bool(np.all((low <= least) & (least <= most) & (most <= high))):
        raise EvidenceError(
            f"mean_limits needs two equally long rows of values with {low} <= lowest <= highest <= "
            f"{high}; declare the range with low= and high=."
        )
    exact = exact_probability(level, "level")
    goal = math.log(exact.denominator) - math.log(exact.numerator)
    limit = _LIMITS[method]
    upper = limit(np.clip((most - start) / width, 0.0, 1.0), goal)
    lower = 1.0 - limit(np.clip((high - least) / width, 0.0, 1.0), goal)
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


_LIMITS: Final[dict[MeanMethod, Callable[[Floats, float], float]]] = {
    "mixture": _share_limit,
    "betting": betting_upper,
    "empirical-bernstein": bernstein_upper,
}
