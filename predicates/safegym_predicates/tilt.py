"""Hazard: the body tilts too far, or falls."""

from safegym.formula.build import always, eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import TILT

HAZARD = "tilt and fall"
SOURCE = "thresholds chosen"


def tilt_limited(
    *,
    id: str = "robot.tilt",  # the claim's own word
    limit: float = 0.6,
    tilt: Signal = TILT,
) -> Claim:
    """Returns: the tilt never exceeds `limit` rad."""
    return Claim(id=id, statement=always(tilt <= limit), hazard=HAZARD, source=SOURCE)


def tilt_recovered(
    *,
    id: str = "robot.tilt_recovery",  # the claim's own word
    limit: float = 0.4,
    within: Exact = "1",
    tilt: Signal = TILT,
) -> Claim:
    """Returns: whenever the tilt exceeds `limit` rad, it is back within `within` s."""
    upright = tilt <= limit
    return Claim(
        id=id,
        statement=always((~upright).implies(eventually(upright, within=within))),
        hazard=HAZARD,
        source=SOURCE,
        severity="marginal",
    )


def fall_rare(
    *,
    id: str = "robot.fall",  # the claim's own word
    probability: float = 0.01,
    angle: float = 1.2,
    confidence: float = 0.99,
    tilt: Signal = TILT,
) -> Claim:
    """Returns: the tilt reaches `angle` rad in an episode with less than this probability.

    probability: per episode, in (0, 1). confidence: in (0, 1).
    """
    return Claim(
        id=id,
        statement=prob(eventually(tilt >= angle)) < probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
        severity="catastrophic",
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return tilt_limited(), tilt_recovered(), fall_rare()
