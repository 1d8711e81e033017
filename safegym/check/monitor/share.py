"""The share of an episode's samples where a formula holds."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from safegym.formula.nodes import Comparison
from safegym.verdict import Status

if TYPE_CHECKING:
    from safegym.check.monitor.robustness import Run

_HOLDS: dict[Comparison, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Share:
    """Interval [lo, hi] of the share, each the binary64 number nearest to its quotient."""

    lo: float
    hi: float


def share_of(run: "Run") -> Share:
    """Returns the share over samples 0..E; those that never came count as open."""
    frame = run.frame
    if frame.open and frame.horizon is None:
        return Share(0.0, 1.0)
    seen = frame.end + 1
    must = int(np.count_nonzero(run.truth.lower[-1].values[:seen]))
    may = int(np.count_nonzero(run.truth.upper[-1].values[:seen]))
    total = seen
    if frame.open and frame.horizon is not None:
        total = frame.horizon + 1
    return Share(must / total, (may + total - seen) / total)


def share_margins(bound: tuple[Comparison, float], share: Share) -> tuple[float, float]:
    """Returns the interval of share - bound, or bound - share for `<` and `<=`."""
    comparison, limit = bound
    if comparison in ("<", "<="):
        return limit - share.hi + 0.0, limit - share.lo + 0.0
    return share.lo - limit + 0.0, share.hi - limit + 0.0


def share_status(bound: tuple[Comparison, float], share: Share) -> Status:
    """Returns the three-valued comparison of the share with its bound."""
    comparison, limit = bound
    holds = _HOLDS[comparison]
    ends = holds(share.lo, limit), holds(share.hi, limit)
    if all(ends):
        return "satisfied"
    return "inconclusive" if any(ends) else "violated"
