"""Whether probabilities can be met when properties exclude each other."""

from collections.abc import Sequence

from safegym.check.symbolic.engine import Bool, Real, answer, z3
from safegym.check.symbolic.terms import rational
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.statements import ConditionalBound, ProbBound, QuantileBound

TIMEOUT_MS = 10_000


def asked_of(claims: Sequence[Claim]) -> list[tuple[Formula, Claim]]:
    """Returns what a pattern says of each episode: every claim's property, then its condition."""
    found: list[tuple[Formula, Claim]] = []
    for claim in claims:
        found.append((claim.property, claim))
        if claim.condition is not None:
            found.append((claim.condition, claim))
    return found


def probabilities_fit(claims: Sequence[Claim], patterns: Sequence[tuple[bool, ...]]) -> str:
    """Whether a distribution over episodes meets every claim: an exact linear programme.

    "sat" if one does, "unsat" if none does, "unknown" if that was not found out in time.

    patterns: the truth patterns of `asked_of(claims)` that some episode has. A claim about each
    trace holds with probability 1; one with a condition needs that to have some probability, and
    bounds the failures by a share of it.
    """
    weights = [z3.Real(f"w{number}") for number in range(len(patterns))]
    rules = [z3.Sum(weights) == 1, *(weight >= 0 for weight in weights)]
    at = 0
    for claim in claims:
        fails = _share(weights, [not pattern[at] for pattern in patterns])
        at += 1
        if claim.condition is None:
            rules.append(_met(claim, fails, z3.RealVal(1)))
            continue
        counts = _share(weights, [p[at] or not p[at - 1] for p in patterns])
        at += 1
        rules += [counts > 0, _met(claim, fails, counts)]
    return answer(rules, TIMEOUT_MS)[0]


def _share(weights: Sequence[Real], chosen: Sequence[bool]) -> Real:
    return z3.Sum([w for w, taken in zip(weights, chosen, strict=True) if taken] or [z3.RealVal(0)])


def _met(claim: Claim, fails: Real, of: Real) -> Bool:
    """The claim as a bound on the share of episodes that break its property among those `of`."""
    statement = claim.statement
    if isinstance(statement, QuantileBound):
        return fails < rational(statement.q) * of
    if not isinstance(statement, ProbBound | ConditionalBound):
        return fails == 0
    threshold = rational(statement.threshold)
    match statement.comparison:
        case "<":
            return fails < threshold * of
        case "<=":
            return fails <= threshold * of
        case ">":
            return fails < (1 - threshold) * of
        case ">=":
            return fails <= (1 - threshold) * of
