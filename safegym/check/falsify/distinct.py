"""Which counterexamples are the same one."""

import numpy as np

from safegym.check.falsify.space import SearchSpace
from safegym.check.falsify.trial import Trial

CLOSE = 0.15
"""Largest difference along any coordinate of the unit cube between two that are alike."""


def alike(space: SearchSpace, one: Trial, two: Trial) -> bool:
    """Whether two counterexamples of one claim are the same in kind and close in space.

    The same in kind: the same components are not neutral, and the same atom decides.
    """
    if one.score.deciding != two.score.deciding:
        return False
    if space.active(one.values) != space.active(two.values):
        return False
    if not space.dimension:
        return True
    gap = np.abs(space.point(one.values) - space.point(two.values))
    return bool(gap.max() <= CLOSE)
