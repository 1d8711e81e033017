"""What each claim obliges a gate to show, and by which statistic."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from safegym.check.statistics.levels import claim_level
from safegym.errors import GateError
from safegym.formula.claim import (
    Claim,
    ConditionalBound,
    Kind,
    MeanBound,
    ProbBound,
    QuantileBound,
)
from safegym.gate.plan import GatePlan

ObligationKind = Literal["probability", "conditional", "quantile", "mean", "invariant"]
SMALLEST = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Obligation:
    """One claim as the gate counts it.

    kind: "probability" (an e-process on the failure probability of the episode property),
    "conditional" (the same among the episodes where the claim's condition holds), "quantile" (the
    same for missing the claimed margin), "mean" (a betting e-process on the share of samples), or
    "invariant" (one violation holds the gate; clean episodes are observed).
    threshold: in (0, 1), exact (a float means its binary64 value); None for an invariant. It is on
    the failure probability, and for a mean on the mean itself.
    level: error level before spending.
    lifted: the claim spoke of every episode and the plan turned it into a probability.
    """

    claim: Claim
    kind: ObligationKind
    threshold: Fraction | None
    level: float
    lifted: bool = False

    @property
    def below(self) -> bool:
        """Whether the claim, in its own terms, bounds what it is about from above."""
        statement = self.claim.statement
        if isinstance(statement, QuantileBound):
            return True
        return isinstance(
            statement, ProbBound | ConditionalBound | MeanBound
        ) and statement.comparison in ("<", "<=")


def obligations(claims: Iterable[Claim], plan: GatePlan) -> tuple[Obligation, ...]:
    """The obligations of `claims` under `plan`, in the order given.

    Raises GateError for duplicate ids, for thresholds that no number of episodes settles, and when
    nothing could ever be certified.
    """
    found = tuple(_obligation(claim, plan) for claim in claims)
    seen: set[str] = set()
    for item in found:
        if item.claim.id in seen:
            raise GateError(f"Two claims are called {item.claim.id}; give each its own id.")
        seen.add(item.claim.id)
    if all(item.kind == "invariant" for item in found):
        names = ", ".join(item.claim.id for item in found) or "none"
        raise GateError(
            f"Nothing here can be certified from episodes: the claims ({names}) speak of every "
            "episode. State a probability (prob(...) < p), or lift them: GatePlan(lift=0.99), "
            "--lift 0.99 on the command line."
        )
    return found


def _obligation(claim: Claim, plan: GatePlan) -> Obligation:
    level = claim_level(claim.confidence, default=plan.level)
    found = _BY_KIND[claim.kind](claim, plan, level)
    threshold = found.threshold
    if threshold is not None and not SMALLEST <= threshold <= 1 - SMALLEST:
        raise GateError(
            f"Claim {claim.id} asks for a threshold of {float(threshold):.6g}; no number of "
            "episodes that can be run shows one within 1e-12 of 0 or 1. Write one inside (0, 1), "
            "e.g. prob(...) < 0.001, or prove the claim for a model."
        )
    return found


def _probability(claim: Claim, plan: GatePlan, level: float) -> Obligation:
    statement = cast("ProbBound | ConditionalBound", claim.statement)
    stated = Fraction(statement.threshold)
    threshold = stated if statement.below else 1 - stated
    if isinstance(statement, ConditionalBound):
        return Obligation(claim, "conditional", threshold, level)
    return Obligation(claim, "probability", threshold, level)


def _quantile(claim: Claim, plan: GatePlan, level: float) -> Obligation:
    share = cast("QuantileBound", claim.statement).q
    return Obligation(claim, "quantile", Fraction(share), level)


def _mean(claim: Claim, plan: GatePlan, level: float) -> Obligation:
    bound = cast("MeanBound", claim.statement).threshold
    return Obligation(claim, "mean", Fraction(bound), level)


def _trace(claim: Claim, plan: GatePlan, level: float) -> Obligation:
    if plan.lift is None:
        return Obligation(claim, "invariant", None, level)
    return Obligation(claim, "probability", 1 - Fraction(plan.lift), level, lifted=True)


_BY_KIND: dict[Kind, Callable[[Claim, GatePlan, float], Obligation]] = {
    "probability": _probability,
    "conditional": _probability,
    "quantile": _quantile,
    "mean": _mean,
    "trace": _trace,
}
