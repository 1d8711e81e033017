"""Hazard: a joint runs into its end stop, or too fast."""

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_predicates.signals import JOINT_LIMIT_MARGIN, JOINT_SPEED_NORM

HAZARD = "joint limit"
SOURCE = "thresholds chosen"


def joint_limits_kept(
    *,
    id: str = "robot.joint_limits",  # the claim's own word
    margin: float = 0.02,
    joint_limit_margin: Signal = JOINT_LIMIT_MARGIN,
) -> Claim:
    """Returns: every joint stays at least `margin` rad away from its position limits."""
    return Claim(
        id=id, statement=always(joint_limit_margin >= margin), hazard=HAZARD, source=SOURCE
    )


def joint_speed_limited(
    *,
    id: str = "robot.joint_speed",  # the claim's own word
    limit: float = 3.0,
    joint_speed: Signal = JOINT_SPEED_NORM,
) -> Claim:
    """Returns: the norm of the joint speeds never exceeds `limit` rad/s."""
    return Claim(id=id, statement=always(joint_speed <= limit), hazard=HAZARD, source=SOURCE)


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return joint_limits_kept(), joint_speed_limited()
