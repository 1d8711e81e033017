"""What must hold of a crane, as functions from thresholds to claims."""

from safegym.formula.build import all_of, always, eventually, never, rising
from safegym.formula.claim import Claim
from safegym.rational import Exact
from safegym_scenarios.crane import signals as s


def sway(limit: float = 0.12, because: str = "") -> Claim:
    """Rope and sling stay within `limit` rad of the vertical."""
    return Claim(
        id="crane.sway",
        statement=always(limit >= s.SWAY),
        hazard="the load swings out and strikes people, the crane or what stands beside its way",
        source=because
        or f"chosen: {limit:g} rad on 9 m of rope is {9 * limit:.1f} m beside the hook's way",
    )


def placed(within: float = 0.3, swinging: float = 0.05, lasting: Exact = 2) -> Claim:
    """The load comes to rest at its goal."""
    there = all_of(within >= s.GOAL_DISTANCE, swinging >= s.SWAY)
    return Claim(
        id="crane.placed",
        statement=eventually(always(there, lasting=lasting)),
        hazard="the load is not delivered, or still swings when people reach for it",
        source=f"chosen: the load's place has {within:g} m of room on every side",
        severity="marginal",
    )


def overrun(limit: float) -> Claim:
    """The load never gets more than `limit` m past its goal."""
    return Claim(
        id="crane.overrun",
        statement=always(limit >= s.OVERRUN),
        hazard="the load runs into what stands right behind the goal",
        source=f"chosen: a wall stands {limit:g} m beyond the load's place",
    )


def clear(least: float) -> Claim:
    """The load keeps `least` m from what stands in its way."""
    return Claim(
        id="crane.clearance",
        statement=always(least <= s.CLEARANCE),
        hazard="the load knocks containers off the stack",
        source=f"chosen: {least:g} m covers the stack's unevenness and the load's sway",
        severity="catastrophic",
    )


def tension(limit: float, because: str) -> Claim:
    """The pull in the rope stays within `limit` kN."""
    return Claim(
        id="crane.tension",
        statement=always(limit >= s.TENSION),
        hazard="rope or hoist is overloaded and the load falls",
        source=because,
        severity="catastrophic",
    )


def gentle(limit: float) -> Claim:
    """The pull in the rope never exceeds `limit` times the load's weight."""
    return Claim(
        id="crane.jerk",
        statement=always(limit >= s.LOAD_FACTOR),
        hazard="a jerk of the hoist breaks lifting tackle that would carry the load at rest",
        source=f"chosen: tackle is picked by weight with {100 * (limit - 1):.0f} % for motion",
        severity="catastrophic",
    )


def overload(limit: float, lasting: Exact = 1) -> Claim:
    """A pull above `limit` kN never lasts for `lasting` s."""
    return Claim(
        id="crane.overload",
        statement=never(always(limit < s.TENSION, lasting=lasting)),
        hazard="a load above the rating is lifted: the crane tips or its structure yields",
        source=f"chosen: {limit:g} kN is 10 % above the rated load; the start of a lift is shorter",
        severity="catastrophic",
    )


def lifted(least: float, *, if_rated: bool = False) -> Claim:
    """The load gets `least` m off the ground, where it is light enough."""
    up = eventually(least <= s.LIFTED)
    return Claim(
        id="crane.lifted",
        statement=(s.WITHIN_RATING >= 1.0).implies(up) if if_rated else up,
        hazard="the load is not lifted: the crane stands idle",
        source=f"chosen: {least:g} m is clear of the ground",
        severity="marginal",
    )


def eased(above: float, below: float, within: Exact) -> Claim:
    """A pull above `above` kN is back below `below` kN, and stays there, `within` s."""
    high = rising(above <= s.TENSION)
    low = always(below >= s.TENSION, lasting=1)
    return Claim(
        id="crane.eased",
        statement=always(high.implies(eventually(low, within=within))),
        hazard="a caught load stays under strain and springs loose",
        source=f"chosen: {float(within):g} s is a driver's reaction and the winch's way back",
    )


def moment(limit: float) -> Claim:
    """The load moment stays within `limit` kN m."""
    return Claim(
        id="crane.moment",
        statement=always(limit >= s.LOAD_MOMENT),
        hazard="the crane tips over",
        source=f"chosen: the rating, {limit:g} kN m, of this crane",
        severity="catastrophic",
    )


def people_clear(least: float) -> Claim:
    """Nobody is within `least` m of the place below the load's middle."""
    return Claim(
        id="crane.people",
        statement=always(least <= s.PERSON_DISTANCE),
        hazard="somebody is below a hanging load when it falls or swings",
        source=f"chosen: half the load, 1.2 m, and {least - 1.2:g} m that it may swing out",
        severity="catastrophic",
    )


def stops(speed: float, within: Exact) -> Claim:
    """After the emergency stop the trolley stands, and goes on standing."""
    still = always(speed >= s.TRAVEL_SPEED, lasting=1)
    return Claim(
        id="crane.stop",
        statement=always(rising(s.EMERGENCY >= 1.0).implies(eventually(still, within=within))),
        hazard="the crane drives on although somebody saw a danger",
        source=f"chosen: from full speed at 0.6 m/s^2 it takes less than {float(within):g} s",
        severity="catastrophic",
    )


def worked(least: float) -> Claim:
    """The load has come `least` m at some time."""
    return Claim(
        id="crane.worked",
        statement=eventually(least <= s.PROGRESS),
        hazard="task not done: the crane stands still from the start",
        source=f"chosen: {least:g} m are driven before the earliest stop",
        severity="marginal",
    )


def touched(limit: float) -> Claim:
    """The load meets the ground or deck at `limit` m/s at most."""
    return Claim(
        id="crane.touch",
        statement=always(limit >= s.TOUCH_SPEED),
        hazard="the load is dropped: it breaks, or breaks what is below it",
        source=f"chosen: {limit:g} m/s is a fall of {1000 * limit**2 / 19.62:.0f} mm",
    )


def landed(within: float) -> Claim:
    """The load stands on its mark with a slack rope for 1 s."""
    down = all_of(s.LIFTED <= 0.03, s.TENSION <= 5.0, within >= s.GOAL_DISTANCE)
    return Claim(
        id="crane.landed",
        statement=eventually(always(down, lasting=1)),
        hazard="the load is not set down where it belongs",
        source=f"chosen: {within:g} m is what the locks on the deck can catch",
        severity="marginal",
    )
