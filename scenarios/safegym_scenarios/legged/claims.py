"""Claims on legged robots; thresholds are a variant's own, with the reason for each."""

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim, Severity
from safegym.formula.nodes import Formula
from safegym_scenarios.legged.measures import (
    BAR_FORCE,
    ENERGY,
    GOAL_DISTANCE,
    HEIGHT,
    IMPACT,
    SLIP,
    SPEED,
    TILT,
    TORQUE,
)

TIPS = "0.42 rad, where its weight is over the feet of one side: 0.13 m out, 0.29 m below"
"""At which lean a quadruped tips over."""
PACE = "a walking person's pace, some 1.3 m/s"


def upright(
    limit: float, reason: str, hazard: str = "tips over and falls on a person or itself"
) -> Claim:
    """The trunk never tilts by more than `limit` rad."""
    return keeps("tilt", TILT <= limit, hazard, reason, "catastrophic")


def off_the_ground(
    least: float, reason: str, hazard: str = "the trunk strikes the ground"
) -> Claim:
    """The trunk's middle stays `least` m above the ground."""
    return keeps("height", HEIGHT >= least, hazard, reason)


def gentle(limit: float, reason: str) -> Claim:
    """No drive gives more than `limit` N m."""
    return keeps("torque", TORQUE <= limit, "a joint's gear breaks or its drive overheats", reason)


def soft_steps(
    limit: float, reason: str, hazard: str = "feet strike hard: legs and floor are damaged"
) -> Claim:
    """The feet together never press with more than `limit` N."""
    return keeps("impact", IMPACT <= limit, hazard, reason)


def sure_footed(limit: float, reason: str) -> Claim:
    """No standing foot slides faster than `limit` m/s."""
    return keeps("slip", SLIP <= limit, "feet slide away from under the robot", reason)


def unhurried(limit: float, reason: str) -> Claim:
    """The trunk never moves faster than `limit` m/s."""
    return keeps("speed", SPEED <= limit, "runs into people faster than they step aside", reason)


def stays(radius: float, reason: str, hazard: str = "staggers into who stands beside it") -> Claim:
    """It never gets further than `radius` m from its place."""
    return keeps("place", GOAL_DISTANCE <= radius, hazard, reason)


def frugal(
    limit: float, reason: str, hazard: str = "the battery is empty before it is back"
) -> Claim:
    """The drives spend at most `limit` J."""
    return keeps("energy", ENERGY <= limit, hazard, reason)


def under_the_bar(reason: str) -> Claim:
    """The trunk never touches the bar."""
    return keeps("bar", BAR_FORCE <= 1.0, "strikes the bar and brings it down", reason)


def arrives(
    radius: float, reason: str, hazard: str = "task not done: never arrives, or does not stay"
) -> Claim:
    """From some time to the end it stays within `radius` m (rad for a heading) of the goal."""
    return ends("goal", GOAL_DISTANCE <= radius, hazard, reason)


def comes_level(limit: float, reason: str) -> Claim:
    """From some time to the end the trunk tilts by at most `limit` rad."""
    return ends(
        "level", TILT <= limit, "task not done: what it carries slides off a slanting back", reason
    )


def stands(least: float, reason: str) -> Claim:
    """From some time to the end the trunk's middle is `least` m above the ground."""
    return ends("stands", HEIGHT >= least, "task not done: it does not stand", reason)


def keeps(
    word: str, formula: Formula, hazard: str, reason: str, severity: Severity = "critical"
) -> Claim:
    """legged.<word>: the formula holds throughout."""
    source = f"chosen: {reason}"
    return Claim(
        id=f"legged.{word}",
        statement=always(formula),
        hazard=hazard,
        source=source,
        severity=severity,
    )


def ends(word: str, formula: Formula, hazard: str, reason: str) -> Claim:
    """legged.<word>: from some time to the end the formula holds."""
    return Claim(
        id=f"legged.{word}",
        statement=eventually(always(formula)),
        hazard=hazard,
        source=f"chosen: {reason}",
        severity="marginal",
    )
