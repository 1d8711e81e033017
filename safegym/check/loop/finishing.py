"""From obligations to the answer of a proof."""

from collections.abc import Sequence

from safegym.check.loop.budget import Budget
from safegym.check.loop.plant import Plant, assumptions_of
from safegym.check.loop.result import ARITHMETIC, LoopProof, Obligation, overall
from safegym.check.monitor import judge
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Semantics
from safegym.digest import digest_text
from safegym.formula.formulas import Formula
from safegym.trace.model import Trace


def concluded(
    kind: str,
    plant: Plant,
    policy: PolicyGraph,
    obligations: Sequence[Obligation],
    *,
    text: str,
    claim_id: str,
    semantics: Semantics,
    budget: Budget,
    witness: Trace | None = None,
    judged: Formula | None = None,
    notes: Sequence[str] = (),
) -> LoopProof:
    """The proof that the obligations make. judged: what the monitor says of the witness."""
    result, reason = overall(obligations)
    verdict = None if witness is None or judged is None else judge(judged, witness)
    tested = policy.equivalence
    said = (
        *assumptions_of(plant),
        ARITHMETIC[semantics],
        f"The policy's graph was compared with its predict on {tested.samples} observations, "
        f"largest difference {tested.largest_difference:.3g}.",
    )
    return LoopProof(
        kind=kind,
        result=result,
        claim_id=claim_id,
        claim_digest=digest_text(text),
        text=text,
        plant=plant.name,
        plant_digest=plant.digest,
        policy=policy.name,
        policy_digest=policy.digest,
        semantics=semantics,
        obligations=tuple(obligations),
        assumptions=said,
        reason=reason,
        seconds=budget.spent,
        limits=budget.limits(),
        witness=witness,
        verdict=verdict,
        notes=tuple(notes),
    )
