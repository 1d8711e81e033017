"""What another solver says of a problem."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.problem import Problem
from safegym.errors import SafegymError

Answer = Literal["HOLDS", "VIOLATED", "UNKNOWN"]


class DisagreementError(SafegymError):
    """Another solver says the opposite of ours; the message has both."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One solver's answer about the problem in real arithmetic.

    VIOLATED: only with a point (n,) that was replayed in exact arithmetic. HOLDS of cvc5 has a
    proof without holes, in `proof` (text, in the format `proof_format`). UNKNOWN: `reason` says
    why: a limit, a node that the solver does not know, a package that is missing, an answer that
    did not replay, or a proof with holes. seconds: wall time.
    """

    solver: str
    answer: Answer
    reason: str
    seconds: float
    point: tuple[Fraction, ...] | None = None
    proof: str = ""
    proof_format: str = ""
    holes: int | None = None


def violates(problem: Problem, point: tuple[Fraction, ...]) -> bool:
    """Whether a point of the region breaks a clause for certain, decided in exact arithmetic."""
    if not problem.region.contains(point):
        return False
    values = evaluate_exact(problem.graph, point)
    return any(
        all(
            values[each.output][1] < 0 or (each.strict and values[each.output][1] == 0)
            for each in clause
        )
        for clause in problem.clauses
    )
