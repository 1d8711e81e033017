"""Fixed-n upper limits on the mean of values in [0, 1]: Hoeffding, KL, Maurer-Pontil."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CARE: Final = 1e-12
_HALVINGS: Final = 80


def hoeffding_upper(mean: float, n: int, goal: float) -> float:
    """The mean + sqrt(goal / (2n)), cut to 1. goal: log(1/level). n >= 1."""
    return min(1.0, mean + math.sqrt(goal / (2 * n)) + _CARE)


def kl_upper(mean: float, n: int, goal: float) -> float:
    """Greatest m with n * kl(mean, m) <= goal (Chernoff's bound turned round), moved outward.

    kl is the relative entropy of two coins. Never wider than Hoeffding's limit (Pinsker).
    """
    centre = min(1.0, mean + _CARE)
    inside, outside = centre, 1.0
    enough = goal * (1.0 + _CARE) + _CARE + n * 2.0**-49  # n times the error of an entropy
    for _ in range(_HALVINGS):
        m = 0.5 * (inside + outside)
        if m >= 1.0 or n * relative_entropy(centre, m) > enough:
            outside = m
        else:
            inside = m
    return outside


def relative_entropy(a: float, b: float) -> float:
    """Returns a log(a/b) + (1-a) log((1-a)/(1-b)), for b in (0, 1)."""
    first = a * math.log(a / b) if a > 0.0 else 0.0
    second = (1.0 - a) * (math.log1p(-a) - math.log1p(-b)) if a < 1.0 else 0.0
    return first + second


def maurer_pontil_upper(values: Floats, goal: float) -> float:
    """The mean + sqrt(2 V log(2/level) / n) + 7 log(2/level) / (3 (n - 1)), cut to 1.

    V: sample variance with n - 1 below; goal: log(1/level); 1 for n < 2.
    Source: Maurer and Pontil 2009, theorem 4.
    """
    n = values.size
    if n < 2:
        return 1.0
    doubled = goal + math.log(2.0)
    spread = math.sqrt(2.0 * float(values.var(ddof=1)) * doubled / n)
    mean = math.fsum(values.tolist()) / n
    return min(1.0, mean + spread + 7.0 * doubled / (3.0 * (n - 1)) + _CARE)
