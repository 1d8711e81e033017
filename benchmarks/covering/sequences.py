"""What the statistics say along one sequence of outcomes: decisions, and limits at every n."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.statistics import lower_limits, upper_limits
from safegym.formula.claim import Claim
from safegym.gate.obligation import Obligation
from safegym.gate.tally import Tally

LEVEL = Fraction(5, 100)
UNSPENT = 0.0822467033424113
"""The level of which attempt 1 is given .05 (6/pi^2 of it, rounded down)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a tally ended, and after how many episodes."""

    outcome: str
    episodes: int


def tallied(
    claim: Claim, violated: NDArray[np.bool_], cap: int, *, level: float = UNSPENT, attempt: int = 1
) -> Ended:
    """Feeds one lane's outcomes, in order, to the tally that the gate uses."""
    threshold = Fraction(claim.failure_threshold or 0.0)
    tally = Tally((Obligation(claim, "probability", threshold, level),), attempt, cap)
    for outcome in violated[:cap].tolist():
        if tally.add(["violated" if outcome else "satisfied"]) is not None:
            break
    return Ended(tally.outcome or "open", tally.episodes)


@dataclass(frozen=True, slots=True)
class Corners:
    """Counts at which a limit along a sequence is tightest: (violations, episodes)."""

    violations: NDArray[np.int64]
    before: NDArray[np.int64]
    at: NDArray[np.int64]

    @classmethod
    def of(cls, violated: NDArray[np.bool_]) -> "Corners":
        """before: the last n with that many violations. at: the first (0 violations: n = 0)."""
        places = np.flatnonzero(violated) + 1
        return cls(
            np.arange(len(places) + 1),
            np.append(places - 1, len(violated)),
            np.insert(places, 0, 0),
        )


def covered(violated: NDArray[np.bool_], p: Fraction, level: float) -> NDArray[np.bool_]:
    """Whether each lane's limits hold p at every n: shape (lanes, 2), upper and lower.

    An upper limit falls with n and rises with violations, so along a sequence it is least just
    before each violation and at the end; the lower one is greatest at each violation.
    """
    found = np.ones((violated.shape[1], 2), np.bool_)
    corners = [Corners.of(violated[:, lane]) for lane in range(violated.shape[1])]
    lane_of = np.repeat(np.arange(len(corners)), [len(each.violations) for each in corners])
    failed = np.concatenate([each.violations for each in corners])
    upper = upper_limits(failed, np.concatenate([each.before for each in corners]), level=level)
    lower = lower_limits(failed, np.concatenate([each.at for each in corners]), level=level)
    truth = float(p)
    np.logical_and.at(found[:, 0], lane_of, upper >= truth)
    np.logical_and.at(found[:, 1], lane_of, lower <= truth)
    return found
