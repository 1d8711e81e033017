"""Intervals from independent replicates: what they say of each other, and nothing more."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from safegym.errors import EvidenceError

LEAST = 3
"""Replicates below which their scatter says nothing."""

Scale = Literal["log", "plain"]
LOG_SCALE = "Student on the log scale with the mean of a lognormal (Cox), over replicates"
PLAIN = "Student over replicates"
SAME = "replicates that do not differ have no scatter to tell from"
NO_UPPER = "Student over replicates, from below"


def replicate_interval(
    estimates: ArrayLike, confidence: float, *, scale: Scale = "log"
) -> tuple[float, float, str]:
    """(lo, hi, how): an asymptotic interval for the common mean of unbiased estimates.

    scale "log", with m and s^2 the mean and variance of the R logarithms: exp(m + s^2/2 -+
    t sqrt(s^2/R + s^4/(2(R-1)))), the interval for the mean of a lognormal law (Cox's, with
    Student's t at R - 1 degrees of freedom). Its ends hold as the logarithms come near a normal
    law, which splitting promises for many particles. scale "plain": Student's for the mean. Either
    proves nothing for few replicates. Where a replicate has no hit, what it missed is unknown:
    then hi is 1.0 (none), and lo is Student's on the plain scale. Where all replicates are the same
    number, their scatter says nothing, and neither limit is given: 0.0 and 1.0. lo is at least 0.
    Raises EvidenceError for fewer than 3 replicates or a confidence outside (0, 1).
    """
    values = np.asarray(estimates, dtype=np.float64)
    count = len(values)
    if count < LEAST:
        raise EvidenceError(f"An interval needs at least {LEAST} replicates, found {count}.")
    if not 0.0 < confidence < 1.0:
        raise EvidenceError(f"confidence = {confidence} is not inside (0, 1); write 0.95.")
    t = float(stats.t.ppf(0.5 + confidence / 2.0, count - 1))
    no_hit = float(values.min()) <= 0.0
    if not no_hit and float(values.max()) == float(values.min()):
        return 0.0, 1.0, SAME
    if no_hit or scale == "plain":
        middle = float(values.mean())
        reach = t * float(values.std(ddof=1)) / math.sqrt(count)
        upper = 1.0 if no_hit else min(1.0, middle + reach)
        return max(0.0, middle - reach), upper, NO_UPPER if no_hit else PLAIN
    logs = np.log(values)
    variance = float(logs.var(ddof=1))
    middle = float(logs.mean()) + variance / 2.0
    reach = t * math.sqrt(variance / count + variance**2 / (2.0 * (count - 1)))
    return math.exp(middle - reach), min(1.0, math.exp(middle + reach)), LOG_SCALE
