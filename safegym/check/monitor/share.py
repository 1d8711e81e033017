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
    seen = frame.end + 1
    must = int(np.count_nonzero(run.truth.lower[-1].values[:seen]))
    may = int(np.count_nonzero(run.truth.upper[-1].values[:seen]))
    return share_from(must, may, seen, frame.horizon, still_open=frame.open)


def share_from(must: int, may: int, seen: int, horizon: int | None, *, still_open: bool) -> Share:
    """Returns the share where `must` to `may` of the `seen` samples 0..E count."""
    if still_open and horizon is None:
        return Share(0.0, 1.0)
    total = horizon + 1 if still_open and horizon is not None else seen
    return Share(must / total, (may + total - seen) / total)


def share_margins(bound: tuple[Comparison, float], share: Share) -> tuple[float, float]:
    """Returns the interval of share - bound, or bound - share for `<` and `<=`."""
    comparison, limit = bound
    if comparison in ("<", "<="):
        return limit - share.hi + 0.0, limit - share.lo + 0.0
    return share.lo - limit + 0.0, share.hi - limit + 0.0


def share_truth(bound: tuple[Comparison, float], share: Share) -> tuple[bool, bool]:
    """Returns whether the share must, and whether it may, meet its bound."""
    comparison, limit = bound
    holds = _HOLDS[comparison]
    ends = holds(share.lo, limit), holds(share.hi, limit)
    return all(ends), any(ends)


def share_status(bound: tuple[Comparison, float], share: Share) -> Status:
    """Returns the three-valued comparison of the share with its bound."""
    must, may = share_truth(bound, share)
    return "satisfied" if must else "inconclusive" if may else "violated"
