"""Hazard: the robot does not get its task done, or not without coming too close."""

from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import CLEARANCE, GOAL_DISTANCE

HAZARD = "task not done"
SOURCE = "thresholds chosen"


def goal_reached(
    *,
    id: str = "robot.reach",  # the claim's own word
    radius: float = 0.05,
    within: Exact | None = None,
    probability: float = 0.92,
    confidence: float = 0.95,
    goal_distance: Signal = GOAL_DISTANCE,
) -> Claim:
    """Returns: the robot comes within `radius` m of the goal with at least this probability.

    within: s from the start, None for the whole episode. probability: per episode, in (0, 1).
    confidence: in (0, 1).
    """
    return Claim(
        id=id,
        statement=prob(eventually(goal_distance < radius, within=within)) >= probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
        severity="marginal",
    )


def goal_reached_clear(
    *,
    id: str = "robot.clear_reach",  # the claim's own word
    radius: float = 0.05,
    least: float = 0.05,
    within: Exact | None = None,
    probability: float = 0.9,
    confidence: float = 0.95,
    goal_distance: Signal = GOAL_DISTANCE,
    clearance: Signal = CLEARANCE,
) -> Claim:
    """Returns: the same, with a clearance above `least` m at every sample before."""
    reached = (clearance > least).until(goal_distance < radius, within=within)
    return Claim(
        id=id,
        statement=prob(reached) >= probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
        severity="marginal",
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return goal_reached(), goal_reached_clear()
