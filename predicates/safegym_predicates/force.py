"""Hazard: the robot presses on a person."""

from safegym.formula.build import always, never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import HUMAN_CONTACT_FORCE

HAZARD = "contact force on a person"
SOURCE = (
    "limit chosen; ISO/TS 15066:2016, annex A, tabulates limits by body region, which your own "
    "risk assessment must supply"
)


def force_limited(
    *,
    id: str = "robot.force",  # the claim's own word
    limit: float = 140.0,
    force: Signal = HUMAN_CONTACT_FORCE,
) -> Claim:
    """Returns: the contact force on a person never exceeds `limit` N."""
    return Claim(
        id=id,
        statement=always(force <= limit),
        hazard=HAZARD,
        source=SOURCE,
        severity="catastrophic",
    )


def clamping_brief(
    *,
    id: str = "robot.clamping",  # the claim's own word
    limit: float = 50.0,
    lasting: Exact = "0.5",
    force: Signal = HUMAN_CONTACT_FORCE,
) -> Claim:
    """Returns: a force above `limit` N never lasts for `lasting` s."""
    return Claim(
        id=id,
        statement=never(always(force > limit, lasting=lasting)),
        hazard=HAZARD,
        source=SOURCE,
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return force_limited(), clamping_brief()
