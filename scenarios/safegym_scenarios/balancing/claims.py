"""Claims on balancing machines; thresholds are a variant's own, with the reason for each."""

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim, Severity
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym_scenarios.balancing.measures import (
    EDGE_MARGIN,
    ENERGY,
    GOAL_DISTANCE,
    OVERSHOOT,
    SLIP,
    SPEED,
    SPIN,
    TILT,
    TORQUE,
    TRACK_MARGIN,
)

PACE = "seven tenths of a walking person's pace, some 1.3 m/s"


def upright(
    limit: float, reason: str, hazard: str = "falls over, onto feet and onto itself"
) -> Claim:
    """The tilt never exceeds `limit` rad."""
    return keeps("tilt", TILT <= limit, hazard, reason, "catastrophic")


def unhurried(
    limit: float, reason: str, hazard: str = "runs into people faster than they step aside"
) -> Claim:
    """The speed never exceeds `limit` m/s."""
    return keeps("speed", SPEED <= limit, hazard, reason)


def gentle(limit: float, reason: str, effort: Signal = TORQUE) -> Claim:
    """No motor gives more than `limit` N m (or N)."""
    return keeps("effort", effort <= limit, "motor overheats or gear breaks", reason)


def within_spin(limit: float, reason: str) -> Claim:
    """The flywheel never turns faster than `limit` rad/s."""
    return keeps("spin", SPIN <= limit, "flywheel bursts, or saturates and lets fall", reason)


def gripping(limit: float, reason: str) -> Claim:
    """No tyre slides faster than `limit` m/s over the ground."""
    return keeps("slip", SLIP <= limit, "wheels spin, and the machine falls or slides away", reason)


def on_track(margin: float, reason: str, hazard: str = "hits the end of its track") -> Claim:
    """At least `margin` m are left to the end of the track."""
    return keeps("track", TRACK_MARGIN >= margin, hazard, reason)


def off_the_edge(
    margin: float, reason: str, hazard: str = "the ball drops, onto a foot or lost"
) -> Claim:
    """The ball keeps `margin` m from every edge."""
    return keeps("edge", EDGE_MARGIN >= margin, hazard, reason)


def no_overshoot(
    limit: float, reason: str, hazard: str = "rolls on into who stands behind the goal"
) -> Claim:
    """It never gets further than `limit` m past the goal."""
    return keeps("overshoot", OVERSHOOT <= limit, hazard, reason)


def frugal(limit: float, reason: str) -> Claim:
    """The motors spend at most `limit` J."""
    return keeps("energy", ENERGY <= limit, "battery runs flat, and the machine falls", reason)


def stays(
    radius: float, reason: str, hazard: str = "leaves its place and rolls into people"
) -> Claim:
    """It never gets further than `radius` m from its place."""
    return keeps("place", GOAL_DISTANCE <= radius, hazard, reason)


def settled(
    radius: float, reason: str, hazard: str = "task not done: never comes to rest at its place"
) -> Claim:
    """From some time to the end it stays within `radius` m of the goal."""
    return ends(GOAL_DISTANCE <= radius, hazard, reason)


def settled_upright(limit: float, reason: str) -> Claim:
    """From some time to the end the tilt stays within `limit` rad."""
    return ends(TILT <= limit, "task not done: it rocks on and never comes to rest", reason)


def keeps(
    word: str, formula: Formula, hazard: str, reason: str, severity: Severity = "critical"
) -> Claim:
    """balance.<word>: the formula holds throughout."""
    source = f"chosen: {reason}"
    return Claim(
        id=f"balance.{word}",
        statement=always(formula),
        hazard=hazard,
        source=source,
        severity=severity,
    )


def ends(formula: Formula, hazard: str, reason: str) -> Claim:
    """balance.settled: from some time to the end the formula holds."""
    return Claim(
        id="balance.settled",
        statement=eventually(always(formula)),
        hazard=hazard,
        source=f"chosen: {reason}",
        severity="marginal",
    )
