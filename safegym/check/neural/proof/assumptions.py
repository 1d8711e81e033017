"""What a proof of a policy rests on, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safegym.check.neural.problem import Semantics
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


METHOD = "branch and bound over linear bounds"


def method_of(semantics: str, standing: str) -> str:
    """How a proof names its method in evidence."""
    return f"{METHOD}, {semantics}: {standing}"


def assumptions_of(proof: "Proof") -> tuple[str, ...]:
    """A sentence each."""
    tested = proof.equivalence
    return sentences(
        proof.semantics,
        (tested.samples, tested.disagreements, tested.largest_difference),
        (proof.policy, proof.policy_digest),
        proof.regions,
    )


def sentences(
    semantics: "Semantics",
    compared: tuple[int, int, float],
    policy: tuple[str, str],
    regions: Sequence[str],
) -> tuple[str, ...]:
    """The same from what is told of a proof.

    compared: observations, different choices, largest difference. policy: name and digest. regions:
    in words.
    """
    samples, disagreements, largest = compared
    choices = f"{disagreements} different choices, " if disagreements else ""
    return (
        ARITHMETIC[semantics],
        f"the graph is the policy: compared with predict on {samples} observations, "
        f"{choices}largest difference {largest:.3g}",
        f"policy {policy[0]}, digest {policy[1] or 'not known'}, deterministic mode",
        *(f"region: {words}" for words in regions),
        "the property's comparisons are exact: of the observation as given and the action as "
        "computed",
        "open loop: what follows from an action is the plant's doing and is not part of this",
    )
