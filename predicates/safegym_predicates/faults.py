"""Hazard: a fault leaves the robot moving, or makes it hit something.

A fault is rare, so these claims are about the episodes in which one occurs: `prob(f, given=...)`
counts no others.
"""

from safegym.formula.build import always, eventually, prob, rising
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.formula.windows import Exact
from safegym_predicates.signals import CONTACT_FORCE, FAULT_ACTIVE, JOINT_SPEED_NORM

HAZARD = "motion after a fault"
SOURCE = "thresholds chosen"


def stop_after_fault(
    *,
    id: str = "robot.fault_stop",  # the claim's own word
    within: Exact = "0.3",
    lasting: Exact = "1",
    speed: float = 0.01,
    probability: float = 0.95,
    confidence: float = 0.95,
    fault: Signal = FAULT_ACTIVE,
    joint_speed: Signal = JOINT_SPEED_NORM,
) -> Claim:
    """Returns: where a fault occurs, the joints come to rest in time with at least this chance.

    within: s from each onset of the fault to rest. lasting: s at rest. speed: rad/s, norm of the
    joint speeds that counts as rest. probability: per episode with a fault, in (0, 1). confidence:
    in (0, 1).
    """
    rest = always(joint_speed <= speed, lasting=lasting)
    stops = always(rising(fault >= 1.0).implies(eventually(rest, within=within)))
    return Claim(
        id=id,
        statement=prob(stops, given=eventually(fault >= 1.0)) >= probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
    )


def contact_after_fault_rare(
    *,
    id: str = "robot.fault_contact",  # the claim's own word
    force: float = 1.0,
    probability: float = 0.05,
    confidence: float = 0.95,
    fault: Signal = FAULT_ACTIVE,
    contact: Signal = CONTACT_FORCE,
) -> Claim:
    """Returns: where a fault occurs, contact at or after it comes with less than this chance.

    force: N, the least that counts as contact. probability: per episode with a fault, in (0, 1).
    confidence: in (0, 1).
    """
    hit = eventually((fault >= 1.0) & eventually(contact >= force))
    return Claim(
        id=id,
        statement=prob(hit, given=eventually(fault >= 1.0)) < probability,
        confidence=confidence,
        hazard=HAZARD,
        source=SOURCE,
    )


def claims() -> tuple[Claim, ...]:
    """Returns the set at its default thresholds."""
    return stop_after_fault(), contact_after_fault_rare()
