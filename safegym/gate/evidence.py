"""From counts to evidence, and evidence to records."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from safegym.check.statistics.exact import float_at_least, float_at_most
from safegym.check.statistics.limits import lower_limit, upper_limit
from safegym.formula.claim import ProbBound
from safegym.gate.obligation import Obligation
from safegym.gate.tally import Count, Tally
from safegym.verdict import Evidence, Status

METHOD = "one-sided mixture e-process at the threshold, episodes in index order"
OBSERVED = "count of violated episodes; no probability is claimed"
STATUS: Mapping[str | None, Status] = {
    "below": "satisfied",
    "above": "violated",
    None: "inconclusive",
}


@dataclass(frozen=True, slots=True)
class Basis:
    """What the evidence of an attempt rests on, besides its counts."""

    assumptions: tuple[str, ...]
    trace_root: str
    versions: Mapping[str, str]


def gather(tally: Tally, basis: Basis) -> tuple[Evidence, ...]:
    """Evidence of an attempt, one item an obligation.

    Surplus episodes are not part of it: `dataclasses.replace(item, surplus=n)` for display.
    """
    return tuple(_evidence(count, tally, basis) for count in tally.counts)


def _evidence(count: Count, tally: Tally, basis: Basis) -> Evidence:
    item, process = count.obligation, count.process
    level = None if process is None else process.level
    refuted = process is not None and process.decision == "above"
    bound = None if level is None else claimed(item, _limit(count, level, refuted), refuted)
    return Evidence(
        claim_id=item.claim.id,
        claim_digest=item.claim.digest,
        kind="observed" if level is None else "estimated",
        status=_seen(count) if process is None else STATUS[process.decision],
        threshold=claimed_threshold(item),
        bound=bound,
        confidence=None if level is None else float_at_most(1 - level),
        level=None if level is None else float(level),
        episodes=count.episodes,
        violations=count.violations,
        undecided=count.undecided,
        surplus=0,
        attempt=tally.attempt,
        validity="exact" if level is None else "anytime",
        method=_method(count),
        assumptions=basis.assumptions,
        trace_root=basis.trace_root,
        versions=basis.versions,
        side=None if level is None else "lower" if upward(item) != refuted else "upper",
    )


def _limit(count: Count, level: Fraction, refuted: bool) -> float:
    """The one-sided limit on the failure probability on the side that was shown.

    An upper limit counts undecided episodes as failures, a lower one as safe.
    """
    if refuted:
        return lower_limit(count.violations, count.episodes, level=level)
    return upper_limit(count.violations + count.undecided, count.episodes, level=level)


def _seen(count: Count) -> Status:
    """Status of an invariant: what was seen, and no more."""
    if count.violations:
        return "violated"
    return "inconclusive" if count.undecided or not count.episodes else "satisfied"


def _method(count: Count) -> str:
    if count.process is None:
        return OBSERVED
    at = count.crossed_at
    return METHOD if at is None else f"{METHOD}; crossed at episode {at}"


def upward(item: Obligation) -> bool:
    """Whether the claim bounds its probability from below (`prob(phi) >= p`, or lifted)."""
    statement = item.claim.statement
    return not isinstance(statement, ProbBound) or statement.comparison in (">", ">=")


def claimed(item: Obligation, failure_limit: float, refuted: bool) -> float:
    """A limit on the failure probability in the claim's own terms, rounded outward."""
    if not upward(item):
        return failure_limit
    exact = 1 - Fraction(failure_limit)
    return float_at_least(exact) if refuted else float_at_most(exact)


def claimed_threshold(item: Obligation) -> float | None:
    """The threshold as the claim states it."""
    statement = item.claim.statement
    if isinstance(statement, ProbBound):
        return statement.threshold
    return None if item.threshold is None else float(1 - item.threshold)


def stored_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence with its surplus, for a checkpoint."""
    return {**evidence_json(evidence), "surplus": evidence.surplus}


def stored_evidence(data: Mapping[str, Any]) -> Evidence:
    """The evidence of `stored_json`."""
    fields: dict[str, Any] = {**data, "assumptions": tuple(data["assumptions"])}
    return Evidence(**fields)


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """The payload of an evidence record. Surplus is left out: it depends on timing."""
    data = asdict(evidence)
    del data["surplus"]
    return {**data, "assumptions": list(evidence.assumptions), "versions": dict(evidence.versions)}
