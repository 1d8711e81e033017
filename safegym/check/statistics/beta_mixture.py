"""Beta-mixture confidence sequence for a proportion: valid at every peek."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

PRIOR: Final = 0.5
"""Both parameters of the mixing Beta distribution (Jeffreys)."""

Floats = NDArray[np.float64]

_ROUNDING: Final = 2.0**-49
_HALVINGS = 80


def beta_mixture_limits(
    violations: ArrayLike, episodes: ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """Limits (lo, hi), broadcast shape: the p at which the mixture stays below 1/level.

    The mixture likelihood ratio Beta(v + 1/2, s + 1/2) / (Beta(1/2, 1/2) p^v (1-p)^s) is a
    martingale from 1 under p, so all intervals hold p at once with probability >= 1 - level. As a
    function of p it is log-convex with its least value at v/n, so the interval has two ends, found
    by halving and kept on the outer side. No samples give (0, 1).
    """
    from scipy.special import betaln

    v, n = np.broadcast_arrays(
        np.asarray(violations, dtype=np.float64), np.asarray(episodes, dtype=np.float64)
    )
    s = n - v
    mixed = betaln(v + PRIOR, s + PRIOR) - betaln(PRIOR, PRIOR)
    goal = -math.log(level) + _slack(mixed, n) - mixed
    centre = np.divide(v, n, out=np.full(v.shape, 0.5), where=n > 0)
    upper = np.where(s > 0, _outermost(v, s, goal, centre, 1.0), 1.0)
    lower = np.where(v > 0, _outermost(v, s, goal, centre, 0.0), 0.0)
    return lower, upper


def beta_mixture_upper(violations: ArrayLike, episodes: ArrayLike, level: float) -> Floats:
    """One-sided upper limits, broadcast shape: the whole error on one side, at every peek.

    Against p >= c the mixture runs over Beta(1/2, 1/2) cut to [0, c]: each alternative q < c gives
    a supermartingale for every p >= c, so the c not refused hold p at once with probability >= 1 -
    level. With t = asin(sqrt(c)) the ratio rises in c from where n c - v = sin(2t) / (4t) on, which
    is at most 1/2, so the greatest c not refused is found by halving above that point.
    """
    from scipy.special import betainc, betaln

    v, n = np.broadcast_arrays(
        np.asarray(violations, dtype=np.float64), np.asarray(episodes, dtype=np.float64)
    )
    s = n - v
    mixed = betaln(v + PRIOR, s + PRIOR) - betaln(PRIOR, PRIOR)
    goal = -math.log(level) + _slack(mixed, n) - mixed
    inside = np.minimum(np.divide(v + 0.5, n, out=np.full(v.shape, 0.5), where=n > 0), 1.0)
    outside = np.ones(v.shape)
    for _ in range(_HALVINGS):
        c = 0.5 * (inside + outside)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(betainc(v + PRIOR, s + PRIOR, c))
            ratio -= np.log(2.0 / math.pi * np.arcsin(np.sqrt(c)))
            ratio -= np.where(v > 0, v * np.log(c), 0.0)
            ratio -= np.where(s > 0, s * np.log1p(-c), 0.0)
        beyond = ratio >= goal
        outside = np.where(beyond, c, outside)
        inside = np.where(beyond, inside, c)
    return np.where(s > 0, outside, 1.0)


def _slack(mixed: Floats, n: Floats) -> Floats:
    """A bound on the error of the log ratio.

    The log of the beta function is a difference of log gammas, each about n log n.
    """
    slack: Floats = 1e-12 * (1.0 + np.abs(mixed)) + 1e-9 + _ROUNDING * n * np.log1p(n)
    return slack


def _outermost(v: Floats, s: Floats, goal: Floats, centre: Floats, end: float) -> Floats:
    """The point between centre (inside) and end (outside) where the ratio reaches the goal."""
    inside, outside = centre.copy(), np.full(centre.shape, end)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = -np.where(v > 0, v * np.log(middle), 0.0)
            surprise -= np.where(s > 0, s * np.log1p(-middle), 0.0)
        beyond = surprise >= goal
        outside = np.where(beyond, middle, outside)
        inside = np.where(beyond, inside, middle)
    return outside
