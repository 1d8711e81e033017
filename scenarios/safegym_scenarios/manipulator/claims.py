"""Claims that several arm scenarios share."""

from safegym_predicates.signals import GOAL_DISTANCE, JOINT_LIMIT_MARGIN, TOOL_SPEED

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym_scenarios.scene.knobs import push, standard_faults


def arrived(name: str, radius: float, lasting: str = "0.4") -> Claim:
    """The tip comes to the aim and stays there for a while."""
    return Claim(
        id=f"arm.{name}",
        statement=eventually(always(GOAL_DISTANCE <= radius, lasting=lasting)),
        hazard="task not done: an arm that stands still would pass for safe",
        source=f"chosen: {1000 * radius:g} mm, at most the tool's diameter of 28 mm and 2 mm; "
        f"{lasting} s, in which a tip that passes by at 0.2 m/s is gone",
        severity="marginal",
    )


def tool_slow(name: str, limit: float, why: str) -> Claim:
    """The tip is never faster than `limit` m/s."""
    return Claim(
        id=f"arm.{name}",
        statement=always(TOOL_SPEED <= limit),
        hazard="the tool hits what or whom it meets too hard, or throws what it holds",
        source=why,
    )


def limits_kept(name: str, margin: float = 0.05) -> Claim:
    """Every joint keeps clear of its end stops."""
    return Claim(
        id=f"arm.{name}",
        statement=always(JOINT_LIMIT_MARGIN >= margin),
        hazard="a joint runs into its end stop and breaks gear or stop",
        source=f"chosen: {margin:g} rad, twice or more what a servo here takes to brake 2 rad/s",
    )


def at_most(name: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never exceeds a limit."""
    return Claim(id=f"arm.{name}", statement=always(signal <= limit), hazard=hazard, source=source)


def at_least(name: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never falls below a limit."""
    return Claim(id=f"arm.{name}", statement=always(signal >= limit), hazard=hazard, source=source)


STEP = 0.04


def faults(horizon: int, *, friction: bool = False) -> tuple:  # type: ignore[type-arg]
    """The standard faults over a horizon in control steps of 0.04 s."""
    return standard_faults(horizon * STEP, friction=friction)


PUSHES = push(25.0)
