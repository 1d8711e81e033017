"""Claim sets by hazard: functions from thresholds to claims, ready for a scenario to import.

`CLAIM_SETS` maps the name of a hazard to a function that makes the set at its default thresholds.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.formula.claim import Claim
from safegym_predicates import (
    clearance,
    collision,
    drift,
    faults,
    force,
    joint_limits,
    reach,
    speed_and_separation,
    tilt,
)

__all__ = ["CLAIM_SETS"]

CLAIM_SETS: Mapping[str, Callable[[], tuple[Claim, ...]]] = MappingProxyType(
    {
        "collision": collision.claims,
        "clearance": clearance.claims,
        "drift": drift.claims,
        "speed_and_separation": speed_and_separation.claims,
        "faults": faults.claims,
        "force": force.claims,
        "joint_limits": joint_limits.claims,
        "tilt": tilt.claims,
        "reach": reach.claims,
    }
)
