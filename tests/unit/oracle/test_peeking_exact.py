"""A fixed-n limit read after every episode, against the e-process: exact shares of false claims.

The figures of docs/explanation/rivals.md, by dynamic programming over (episodes, failures).
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent.parent / "benchmarks"))

from statistical_rivals.streams import limit, needed

from safegym.check.statistics import operating

CAP = 3_000


def peeked(p: float) -> float:
    """Chance that the 95 % limit of Clopper and Pearson lies below .01 at some n up to `CAP`."""
    goals = [needed(k) for k in range(80)]
    open_, claimed = np.zeros(len(goals) + 1), 0.0
    open_[0] = 1.0
    for n in range(1, CAP + 1):
        moved = open_ * p
        open_ = open_ * (1.0 - p)
        open_[1:] += moved[:-1]
        passing = sum(goal <= n for goal in goals)
        claimed += float(open_[:passing].sum())
        open_[:passing] = 0.0
    return claimed


def test_the_boundary_is_where_the_limit_first_lies_below() -> None:
    assert needed(0) == 299
    for k in (0, 1, 5, 20):
        n = needed(k)
        assert limit(k, n) < 0.01 <= limit(k, n - 1)


@pytest.mark.parametrize(("p", "theirs", "ours"), [(0.01, 0.197, 0.045), (0.0101, 0.187, 0.044)])
def test_peeking_multiplies_the_error_by_four_and_the_e_process_keeps_it(
    p: float, theirs: float, ours: float
) -> None:
    assert peeked(p) == pytest.approx(theirs, abs=5e-4)
    assert operating(p, 0.01, 0.05, cap=CAP).below == pytest.approx(ours, abs=5e-4)
