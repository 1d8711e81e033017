"""Hazard: the robot slides sideways off its path."""

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import LATERAL_VELOCITY

HAZARD = "lateral drift"
SOURCE = "thresholds chosen"


def drift_limited(
    *,
    id: str = "robot.drift",  # the claim's own word
    limit: float = 0.5,
    lateral_velocity: Signal = LATERAL_VELOCITY,
) -> Claim:
    """Returns: the lateral speed never exceeds `limit` m/s."""
    return Claim(
        id=id, statement=always(abs(lateral_velocity) <= limit), hazard=HAZARD, source=SOURCE
    )


def drift_recovered(
    *,
    id: str = "robot.drift_recovery",  # the claim's own word
    limit: float = 0.3,
    within: Exact = "1",
    lateral_velocity: Signal = LATERAL_VELOCITY,
) -> Claim:
    """Returns: whenever the lateral speed exceeds `limit` m/s, it is back within `within` s."""
    slow = abs(lateral_velocity) <= limit
    return Claim(
        id=id,
        statement=always((~slow).implies(eventually(slow, within=within))),
        hazard=HAZARD,
        source=SOURCE,
        severity="marginal",
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return drift_limited(), drift_recovered()
