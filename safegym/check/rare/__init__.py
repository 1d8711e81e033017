"""Estimates of rare failures: splitting, subset simulation, importance sampling. Never evidence
that a gate takes: see docs/explanation/rare-events.md.
"""

from safegym.check.rare.estimate import RareEstimate, WeightedMean
from safegym.check.rare.importance import WeightedRun, importance
from safegym.check.rare.replicates import replicate_interval
from safegym.check.rare.run import estimate_rare
from safegym.check.rare.splitting import SplittingRun, split
from safegym.check.rare.subset import SubsetRun, subset

__all__ = [
    "RareEstimate",
    "SplittingRun",
    "SubsetRun",
    "WeightedMean",
    "WeightedRun",
    "estimate_rare",
    "importance",
    "replicate_interval",
    "split",
    "subset",
]
