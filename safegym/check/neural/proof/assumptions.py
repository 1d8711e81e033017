"""What a proof of a policy rests on, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safegym.check.neural.proof.result import Proof

ARITHMETIC = {
    "deployed float32": (
        "semantics: deployed float32: whatever the deployed program can compute in IEEE binary32 "
        "and binary64, round to nearest, sums in any order; no TF32, no bfloat16, no flush to zero"
    ),
    "real": (
        "semantics: real: the network as a function in exact arithmetic; the deployed program "
        "rounds, which this does not cover"
    ),
}


def assumptions_of(proof: "Proof") -> tuple[str, ...]:
    """A sentence each."""
    tested = proof.equivalence
    difference = (
        f"{tested.disagreements} different choices, largest difference "
        if tested.disagreements
        else "largest difference "
    )
    return (
        ARITHMETIC[proof.semantics],
        f"the graph is the policy: compared with predict on {tested.samples} observations, "
        f"{difference}{tested.largest_difference:.3g}",
        f"policy {proof.policy}, digest {proof.policy_digest or 'not known'}, deterministic mode",
        *(f"region: {words}" for words in proof.regions),
        "the property's comparisons are exact: of the observation as given and the action as "
        "computed",
        "open loop: what follows from an action is the plant's doing and is not part of this",
    )
