"""What must hold near a station, with the hazard in words. Ids are given by the tasks."""

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_scenarios.spacecraft.craft import MASS, THRUST
from safegym_scenarios.spacecraft.env import ATTITUDE, BUDGET, IMPULSE, RANGE, RATE, SPEED

BRAKE = THRUST / MASS
"""m/s^2, what one thruster gives the bare chaser."""


def slower_when_near(
    id: str, metres: float, limit: float, word: str = "the station", brake: float = BRAKE
) -> Claim:
    """Within so many metres no faster than the limit in m/s. brake: m/s^2, what slows it down."""
    return Claim(
        id=id,
        statement=always((RANGE <= metres).implies(SPEED <= limit)),
        hazard=f"the chaser can no longer be stopped before it strikes {word}",
        source=f"chosen: at {brake:g} m/s^2, all there is, {limit:g} m/s is stopped within "
        f"{0.5 * limit * limit / brake:.2f} of the {metres:g} m",
    )


def attitude_near(id: str, metres: float, limit: float) -> Claim:
    """Within so many metres the attitude is right to within the limit in rad."""
    return Claim(
        id=id,
        statement=always((RANGE <= metres).implies(ATTITUDE <= limit)),
        hazard="the rings meet at an angle, jam, and the hatch leaks",
        source=f"chosen: at {limit:g} rad rings of 0.6 m gape by {600 * limit:.0f} mm",
    )


def impulse_kept(id: str, limit: float) -> Claim:
    """No more than so many N s are used."""
    return Claim(
        id=id,
        statement=always(IMPULSE <= limit),
        hazard="the propellant for going home is used up",
        source=f"chosen: {limit:g} of the {BUDGET:g} N s on board, so that twice as much is left",
        severity="marginal",
    )


def calm(id: str, limit: float, reach: float = 2.2) -> Claim:
    """The angular rate never exceeds the limit in rad/s. reach: m, out to the panels' tips."""
    return Claim(
        id=id,
        statement=always(RATE <= limit),
        hazard="antennas and panels shake loose",
        source=f"chosen: at {limit:g} rad/s the panels' tips, {reach:g} m out, move at "
        f"{100 * limit * reach:.0f} cm/s",
    )


def held_at(id: str, metres: float, lasting: int, what: str, source: str) -> Claim:
    """The goal is reached to within so many metres, and kept for so many s."""
    return Claim(
        id=id,
        statement=eventually(always(RANGE <= metres, lasting=lasting)),
        hazard=what,
        source=source,
        severity="marginal",
    )


def done(id: str, signal: Signal, what: str) -> Claim:
    """A signal of 0 and 1 comes to 1."""
    return Claim(
        id=id,
        statement=eventually(signal >= 1.0),
        hazard=what,
        source="the environment's own limit: the episode's time, and what counts as done",
        severity="marginal",
    )
