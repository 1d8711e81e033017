"""Hazard: the robot passes too close."""

from safegym.formula.build import always, eventually, prob, quantile
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_predicates.signals import CLEARANCE

HAZARD = "too little clearance"
SOURCE = "thresholds chosen"


def clearance_kept(
    *,
    id: str = "robot.clearance",  # the claim's own word
    least: float = 0.05,
    clearance: Signal = CLEARANCE,
) -> Claim:
    """Returns: the clearance never falls below `least` m."""
    return Claim(id=id, statement=always(clearance >= least), hazard=HAZARD, source=SOURCE)


def near_miss_rare(
    *,
    id: str = "robot.near_miss",  # the claim's own word
    least: float = 0.05,
    probability: float = 0.05,
    confidence: float = 0.95,
    clearance: Signal = CLEARANCE,
) -> Claim:
    """Returns: the clearance falls below `least` m in an episode with less than this probability.

    probability: per episode, in (0, 1). confidence: in (0, 1).
    """
    return Claim(
        id=id,
        statement=prob(eventually(clearance < least)) < probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
    )


def clearance_with_margin(
    *,
    id: str = "robot.clearance_margin",  # the claim's own word
    least: float = 0.05,
    margin: float = 0.5,
    q: float = 0.05,
    confidence: float = 0.95,
    clearance: Signal = CLEARANCE,
) -> Claim:
    """Returns: all but less than `q` of the episodes keep `least` m with a margin to spare.

    margin: in multiples of the clearance's scale (0.1 m). q: share of episodes, in (0, 1).
    confidence: in (0, 1).
    """
    return Claim(
        id=id,
        statement=quantile(always(clearance >= least), q) > margin,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return clearance_kept(), near_miss_rare(), clearance_with_margin()
