"""What is searched: systems with known answers, and scenarios of the library."""

from collections.abc import Callable
from dataclasses import dataclass

from falsifying.systems import RULES, idle, tank
from safegym.formula.claim import Claim
from safegym.policy.base import Policy
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec

ROWS = (
    ("drone.collision", "drone/corridor-v0", "guidance", False),
    ("braking.gentle", "classic/braking-v0", "good", False),
    ("pendulum.gentle", "classic/pendulum-v0", "good", True),
    ("arm.force", "arm/human-stop-v0", "good", True),
)
"""Claim, scenario, policy, whether faults may be chosen."""
QUICK = 2


@dataclass(frozen=True)
class Problem:
    """A scenario, a policy, a claim, and whether faults may be chosen."""

    name: str
    spec: ScenarioSpec
    policy: Policy
    claim: Claim
    faults: bool


def problems(*, quick: bool) -> list[Problem]:
    """The systems, then the scenarios; quick leaves out the slow ones."""
    found = [
        Problem(name, tank(name), idle(), tank(name).claims[0], True) for name in sorted(RULES)
    ]
    for claim, scenario, policy, faults in ROWS[: QUICK if quick else None]:
        spec = find(scenario)
        chosen = _claim(spec, claim)
        found.append(Problem(claim, spec, _policy(spec, policy), chosen, faults))
    return found


def _policy(spec: ScenarioSpec, name: str) -> Policy:
    makers: dict[str, Callable[[], Policy] | None] = {"good": spec.good, **spec.baselines}
    maker = makers[name]
    assert maker is not None
    return maker()


def _claim(spec: ScenarioSpec, identity: str) -> Claim:
    return next(claim for claim in spec.claims if claim.id == identity)
