"""Anytime limits on a bounded mean from predictable plug-in bets."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BOLDEST: Final = 0.5
"""Most of the wealth that one bet may put at risk."""
_HALVINGS: Final = 60
_SLACK: Final = 2.0**-40


@dataclass(frozen=True, slots=True)
class _Bets:
    """What is known before each value, shape (n,): the running mean, and the bet that it gives."""

    centre: Floats
    size: Floats


def betting_upper(values: Floats, goal: float) -> float:
    """Least mean m in (0, 1] at which the wealth of betting on mean < m has reached exp(goal).

    values: shape (n,), in [0, 1], in index order. Wealth prod_t (1 - b_t (x_t - m)) with the bet
    b_t = min(l_t, BOLDEST / (1 - m)), l_t = sqrt(2 goal / (s_{t-1} t log(t + 1))), where s is the
    running variance with one value of variance 1/4 put first; the bet depends on the past alone, so
    the wealth is a nonnegative supermartingale for every mean >= m. Each factor rises with m, so
    the limit is found by halving, and kept on the outer side of the rounding error.
    Source: Waudby-Smith and Ramdas 2024, hedged capital with predictable plug-in bets; each side
    alone here, at its own level.
    """
    bets = _bets(values, goal)
    enough = goal + _SLACK * (64.0 + 64.0 * values.size)
    refused, claimed = 0.0, 1.0
    for _ in range(_HALVINGS):
        m = 0.5 * (refused + claimed)
        if m == 1.0:
            break
        bet = np.minimum(bets.size, BOLDEST / (1.0 - m))
        wealth = float(np.log1p(-bet * (values - m)).sum())
        refused, claimed = (refused, m) if wealth >= enough else (m, claimed)
    return claimed


def bernstein_upper(values: Floats, goal: float) -> float:
    """Upper limit on the mean by the empirical Bernstein confidence sequence, cut to [0, 1].

    (sum l_t x_t + goal + sum v_t psi(l_t)) / sum l_t with v_t = (x_t - mean_{t-1})^2 and
    psi(l) = -log(1 - l) - l, l_t as in `betting_upper` but at most 1/2. A closed form, and wider.
    Source: Waudby-Smith and Ramdas 2024, predictable plug-in empirical Bernstein.
    """
    if not values.size:
        return 1.0
    bets = _bets(values, goal)
    size = np.minimum(bets.size, BOLDEST)
    spread = (values - bets.centre) ** 2 * (-np.log1p(-size) - size)
    total = math.fsum((size * values + spread).tolist()) + goal
    return min(1.0, total / math.fsum(size.tolist()) * (1.0 + 1e-12) + 1e-12)


def _bets(values: Floats, goal: float) -> _Bets:
    n = np.arange(1.0, values.size + 1.0)
    means = (0.5 + np.cumsum(values)) / (n + 1.0)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (n + 1.0)
    before = np.concatenate([[0.25], variances[:-1]]) if values.size else variances
    centre = np.concatenate([[0.5], means[:-1]]) if values.size else means
    size = np.sqrt(2.0 * goal / (np.maximum(before, 1e-300) * n * np.log(n + 1.0)))
    return _Bets(centre, size)
