"""What each claim obliges a gate to show, and by which statistic."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from safegym.check.statistics.levels import claim_level
from safegym.errors import GateError
from safegym.formula.claim import Claim, MeanBound, ProbBound
from safegym.gate.plan import GatePlan

ObligationKind = Literal["probability", "invariant"]


@dataclass(frozen=True, slots=True)
class Obligation:
    """One claim as the gate counts it.

    kind: "probability" (an e-process against `threshold` on the failure probability of the
    episode property) or "invariant" (one violation holds the gate; clean episodes are observed).
    threshold: p0 in (0, 1), exact (a float means its binary64 value), None for an invariant.
    level: error level before spending.
    lifted: the claim spoke of every episode and the plan turned it into a probability.
    """

    claim: Claim
    kind: ObligationKind
    threshold: Fraction | None
    level: float
    lifted: bool = False


def obligations(claims: Iterable[Claim], plan: GatePlan) -> tuple[Obligation, ...]:
    """The obligations of `claims` under `plan`, in the order given.

    Raises GateError for duplicate ids, for claims that episodes cannot settle here, and when
    nothing could ever be certified.
    """
    found = tuple(_obligation(claim, plan) for claim in claims)
    seen: set[str] = set()
    for item in found:
        if item.claim.id in seen:
            raise GateError(f"Two claims are called {item.claim.id}; give each its own id.")
        seen.add(item.claim.id)
    if not any(item.kind == "probability" for item in found):
        names = ", ".join(item.claim.id for item in found) or "none"
        raise GateError(
            f"Nothing here can be certified from episodes: the claims ({names}) speak of every "
            "episode. State a probability (prob(...) < p), or lift them: GatePlan(lift=0.99)."
        )
    return found


def _obligation(claim: Claim, plan: GatePlan) -> Obligation:
    level = claim_level(claim.confidence, default=plan.level)
    if isinstance(claim.statement, MeanBound):
        raise GateError(
            f"Claim {claim.id} bounds a mean; this gate counts episodes. State the share on each "
            "episode and its probability: prob(fraction(phi) >= c) >= p."
        )
    if isinstance(claim.statement, ProbBound):
        stated = Fraction(claim.statement.threshold)
        threshold = stated if claim.statement.below else 1 - stated
        return Obligation(claim, "probability", threshold, level)
    if plan.lift is not None:
        return Obligation(claim, "probability", 1 - Fraction(plan.lift), level, lifted=True)
    return Obligation(claim, "invariant", None, level)
