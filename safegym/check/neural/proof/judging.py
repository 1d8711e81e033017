"""What the replays of a candidate allow to be said, while the search runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Problem, Semantics
from safegym.check.neural.proof.replay import deployed_fails, witness_of
from safegym.check.neural.proof.result import ProofResult
from safegym.check.neural.proof.witness import ReplayName, Witness
from safegym.check.neural.property.question import Question

THOROUGH = 6
"""Candidates that get every replay and a look around; later ones must fail in predict first."""


def judged(witness: Witness, semantics: Semantics) -> ProofResult:
    """VIOLATED needs the deployed policy itself to break the property inside the region.

    In exact semantics the exact replay must fail as well. A failure in some replays only is
    VIOLATED_WITHIN_TOLERANCE, in none UNKNOWN.
    """
    deployed = witness.inside and witness.violates("predict")
    if deployed and (semantics == "deployed float32" or witness.violates("exact")):
        return "VIOLATED"
    if any(each.violates for each in witness.replays):
        return "VIOLATED_WITHIN_TOLERANCE"
    return "UNKNOWN"


@dataclass(slots=True)
class Judge:
    """Replays candidates for the search; a refused one does not end it.

    witness: the one that says most so far; of a search that ends without another answer, it is
    what remains.
    """

    question: Question
    policy: PolicyGraph
    problem: Problem
    witness: Witness | None = None
    tried: int = 0

    @property
    def result(self) -> ProofResult:
        """What the best witness says."""
        if self.witness is None:
            return "UNKNOWN"
        return judged(self.witness, self.problem.semantics)

    def __call__(self, point: NDArray[np.float64]) -> bool:
        """Whether the candidate is a violation."""
        self.tried += 1
        if self.tried > THOROUGH and not deployed_fails(
            self.question, self.policy, self.problem, point
        ):
            return False
        found = witness_of(self.question, self.policy, self.problem, point)
        semantics = self.problem.semantics
        if self.witness is None or _worth(found, semantics) > _worth(self.witness, semantics):
            self.witness = found
        return judged(found, semantics) == "VIOLATED"


def covered(semantics: Semantics) -> tuple[ReplayName, ...]:
    """The replays that a proof in these semantics rules out; the exact one in both."""
    return ("exact",) if semantics == "real" else ("float32 graph", "exact", "predict")


def _worth(witness: Witness, semantics: Semantics) -> int:
    """A failure inside the region that a proof would rule out comes first, then predict's."""
    fails = sum(each.violates is True for each in witness.replays)
    opposed = any(witness.violates(name) for name in covered(semantics))
    return 8 * witness.inside * (2 * opposed + witness.violates("predict")) + fails
