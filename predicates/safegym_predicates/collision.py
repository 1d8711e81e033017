"""Hazard: the robot hits its surroundings."""

from safegym.formula.build import eventually, never, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_predicates.signals import CONTACT_FORCE

HAZARD = "collision"
SOURCE = "thresholds chosen"


def collision_rare(
    *,
    id: str = "robot.collision",  # the claim's own word
    probability: float = 0.01,
    force: float = 1.0,
    confidence: float = 0.99,
    contact: Signal = CONTACT_FORCE,
) -> Claim:
    """Returns: an episode has a contact of at least `force` N with less than this probability.

    probability: per episode, in (0, 1). force: N, > 0; at "> 0" every safe episode would have
    margin 0. confidence: in (0, 1).
    """
    return Claim(
        id=id,
        statement=prob(eventually(contact >= force)) < probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
        severity="catastrophic",
    )


def collision_never(
    *,
    id: str = "robot.no_collision",  # the claim's own word
    force: float = 1.0,
    contact: Signal = CONTACT_FORCE,
) -> Claim:
    """Returns: no episode has a contact of at least `force` N."""
    return Claim(
        id=id,
        statement=never(contact >= force),
        hazard=HAZARD,
        source=SOURCE,
        severity="catastrophic",
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return collision_rare(), collision_never()
