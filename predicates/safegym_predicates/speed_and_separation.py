"""Hazard: the robot moves while a person is near."""

from safegym.formula.build import always, eventually, rising
from safegym.formula.claim import Claim
from safegym.formula.functions import quantity
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import HUMAN_DISTANCE, INTRUSION, JOINT_SPEED_NORM, TOOL_SPEED

HAZARD = "motion near a person"
CHOSEN = "thresholds chosen"
SEPARATION = (
    "speed and separation monitoring, the idea of ISO/TS 15066:2016; linear form and thresholds "
    "chosen"
)
REDUCED = "0.25 m/s is the reduced speed of ISO 10218-1 for manual mode; distance chosen"


def stop_on_intrusion(
    *,
    id: str = "robot.stop",  # the claim's own word
    within: Exact = "0.3",
    lasting: Exact = "1",
    speed: float = 0.01,
    intrusion: Signal = INTRUSION,
    joint_speed: Signal = JOINT_SPEED_NORM,
) -> Claim:
    """Returns: from each onset of an intrusion, the joints come to rest in time and stay so.

    within: s from the onset to rest. lasting: s at rest. speed: rad/s, norm of the joint speeds
    that counts as rest.
    """
    rest = always(joint_speed <= speed, lasting=lasting)
    return Claim(
        id=id,
        statement=always(rising(intrusion >= 1.0).implies(eventually(rest, within=within))),
        hazard=HAZARD,
        source=CHOSEN,
    )


def speed_reduced_near(
    *,
    id: str = "robot.reduced_speed",  # the claim's own word
    distance: float = 1.0,
    speed: float = 0.25,
    human_distance: Signal = HUMAN_DISTANCE,
    tool_speed: Signal = TOOL_SPEED,
) -> Claim:
    """Returns: whenever a person is nearer than `distance` m, the tool is at most `speed` m/s."""
    return Claim(
        id=id,
        statement=always((human_distance < distance).implies(tool_speed <= speed)),
        hazard=HAZARD,
        source=REDUCED,
    )


def separation_kept(
    *,
    id: str = "robot.separation",  # the claim's own word
    stopping_time: float = 0.5,
    margin: float = 0.2,
    human_distance: Signal = HUMAN_DISTANCE,
    tool_speed: Signal = TOOL_SPEED,
) -> Claim:
    """Returns: the distance to a person is at least speed * stopping time + margin.

    stopping_time: s, reaction and braking together. margin: m, for the person's own motion.
    """
    needed = tool_speed * quantity(stopping_time, "s") + margin
    atom = (human_distance >= needed).scaled(0.1)
    return Claim(id=id, statement=always(atom), hazard=HAZARD, source=SEPARATION)


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return stop_on_intrusion(), speed_reduced_near(), separation_kept()
