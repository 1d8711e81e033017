"""Where each episode's weight has a proven bound, its mean has limits that hold at any time."""

from collections.abc import Sequence

import numpy as np

from safegym.check.rare.estimate import WeightedMean
from safegym.check.rare.importance import WeightedRun
from safegym.check.statistics.mean_limits import mean_limits


def bounded_mean(runs: Sequence[WeightedRun], alpha: float, level: float) -> WeightedMean:
    """Betting limits on the mean of weight times failure, over all replicates in order.

    Each proposal was fixed before its episodes, so given the past every value has the failure
    probability (under the declared law) as its mean; a weight is at most 1/alpha because the
    proposal draws from the declared law with probability alpha. So the values lie in
    [0, 1/alpha], and the limits of `mean_limits` hold at every peek with error at most `level`
    each. Undecided episodes count as failures above and as safe below.

    The upper limit cannot beat plain sampling: a failure that the betas miss is met by the alpha
    share alone, so without failures it is worth about alpha times as many plain episodes.
    """
    lower = np.concatenate([run.lower for run in runs])
    upper = np.concatenate([run.upper for run in runs])
    largest = 1.0 / alpha
    lo, hi = mean_limits(lower, np.minimum(upper, largest), level=level, low=0.0, high=largest)
    return WeightedMean(lo, min(1.0, hi), level, largest, len(upper))
