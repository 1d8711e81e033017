"""What must hold of a flight, with the hazard in words. Ids are given by the tasks."""

from safegym_predicates.signals import CLEARANCE, CONTACT_FORCE, GOAL_DISTANCE, TILT

from safegym.formula.build import always, eventually, never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_scenarios.quadrotor.airframe import CAGE

_DRIFT = {0.1: "0.4", 0.4: "1"}
"""m -> s, in which a push of 1.5 N moves a drone that asks for no velocity so far."""


def no_collision(id: str, what: str = "the cage hits a solid and the drone falls") -> Claim:
    """No contact of 1 N or more."""
    return Claim(
        id=id,
        statement=never(CONTACT_FORCE >= 1.0),
        hazard=what,
        source="chosen: 1 N is a ninth of the bare drone's weight, a touch that is sure to be one",
        severity="catastrophic",
    )


def clear_of(id: str, metres: float, what: str) -> Claim:
    """The cage stays so far from every solid, 0.1 m or 0.4 m."""
    return Claim(
        id=id,
        statement=always(CLEARANCE >= metres),
        hazard=what,
        source=f"chosen: a push of 1.5 N moves a hovering drone by {metres:g} m "
        f"within {_DRIFT[metres]} s",
    )


def upright(id: str, radians: float = 0.35) -> Claim:
    """The tilt stays below so much."""
    return Claim(
        id=id,
        statement=always(TILT <= radians),
        hazard="the drone leans so far that it loses height and its sensors lose the ground",
        source=f"chosen: at {radians:g} rad lift falls by {100 * (1 - _cosine(radians)):.0f} %",
    )


def arrived(
    id: str, metres: float, lasting: str = "0.5", what: str = "the task is not done"
) -> Claim:
    """The drone comes within so many metres of the goal and stays for a while."""
    return Claim(
        id=id,
        statement=eventually(always(GOAL_DISTANCE <= metres, lasting=lasting)),
        hazard=what,
        source=f"chosen: {metres / CAGE:.1f} radii of the cage, and {lasting} s, to be no fly-past",
        severity="marginal",
    )


def below(id: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never exceeds a limit, in its unit."""
    return Claim(id=id, statement=always(signal <= limit), hazard=hazard, source=source)


def above(id: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never falls below a limit, in its unit."""
    return Claim(id=id, statement=always(signal >= limit), hazard=hazard, source=source)


def _cosine(angle: float) -> float:
    return 1.0 - angle * angle / 2.0 + angle**4 / 24.0
