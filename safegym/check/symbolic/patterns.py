"""Whether probabilities can be met when properties exclude each other."""

from collections.abc import Sequence

from safegym.check.symbolic.engine import Bool, Real, answer, z3
from safegym.check.symbolic.terms import rational
from safegym.formula.claim import Claim
from safegym.formula.statements import ProbBound

TIMEOUT_MS = 10_000


def probabilities_fit(claims: Sequence[Claim], patterns: Sequence[tuple[bool, ...]]) -> str:
    """Whether a distribution over episodes meets every claim: an exact linear programme.

    "sat" if one does, "unsat" if none does, "unknown" if that was not found out in time.

    patterns: the truth patterns of the claims' episode properties that some episode has. A claim
    about each trace holds with probability 1.
    """
    weights = [z3.Real(f"w{number}") for number in range(len(patterns))]
    rules = [z3.Sum(weights) == 1, *(weight >= 0 for weight in weights)]
    for position, claim in enumerate(claims):
        share = z3.Sum(
            [w for w, pattern in zip(weights, patterns, strict=True) if pattern[position]]
            or [z3.RealVal(0)]
        )
        rules.append(_met(claim, share))
    return answer(rules, TIMEOUT_MS)[0]


def _met(claim: Claim, share: Real) -> Bool:
    """The claim as a bound on the probability of its episode property."""
    statement = claim.statement
    if not isinstance(statement, ProbBound):
        return share == 1
    threshold = rational(statement.threshold)
    match statement.comparison:
        case "<":
            return share > 1 - threshold
        case "<=":
            return share >= 1 - threshold
        case ">":
            return share > threshold
        case ">=":
            return share >= threshold
