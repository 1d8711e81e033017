"""From counts to evidence, and evidence to records."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from safegym.check.statistics.exact import float_at_most
from safegym.formula.claim import ConditionalBound, MeanBound, ProbBound, QuantileBound
from safegym.gate.counts import Count, Seen
from safegym.gate.obligation import Obligation
from safegym.gate.standing import demoted, joint_text
from safegym.gate.tally import Outcome, Tally
from safegym.verdict import Evidence

LATER: Final = ("skipped", "doubtful", "average", "joint", "strata")
"""Fields that evidence under a plan of version 1 does not have."""
NOT_REPEATED: Final = "; nothing is certified: an episode came out otherwise when run again"
NOT_BY_HOLM: Final = "; it crossed alone, Holm over the attempt's claims does not call it shown"


@dataclass(frozen=True, slots=True)
class Basis:
    """What the evidence of an attempt rests on, besides its counts.

    weights: stratum -> exact share, in order; empty where no strata are declared.
    """

    assumptions: tuple[str, ...]
    trace_root: str
    versions: Mapping[str, str]
    weights: Mapping[str, str] | None = None


def gather(tally: Tally, basis: Basis, outcome: Outcome | None = None) -> tuple[Evidence, ...]:
    """Evidence of an attempt, one item an obligation.

    outcome: of the attempt, where running episodes again made it another than the tally's own.
    Surplus episodes are not part of it: `dataclasses.replace(item, surplus=n)` for display.
    """
    ended = outcome or tally.outcome
    joint, held_back = joint_text(tally, ended), demoted(tally, ended)
    found = tuple(_evidence(count, tally, basis, joint) for count in tally.counts)
    if ended == "unrepeatable":
        return tuple(_withdrawn(item, NOT_REPEATED) for item in found)
    return tuple(
        _withdrawn(item, NOT_BY_HOLM) if item.claim_id in held_back else item for item in found
    )


def _evidence(count: Count, tally: Tally, basis: Basis, joint: str) -> Evidence:
    item, seen, level, figures = count.obligation, count.seen, count.level, count.figures()
    return Evidence(
        claim_id=item.claim.id,
        claim_digest=item.claim.digest,
        kind=figures.kind,
        status=figures.status,
        threshold=claimed_threshold(item),
        bound=figures.bound,
        confidence=None if level is None else float_at_most(1 - level),
        level=None if level is None else float(level),
        episodes=seen.episodes,
        violations=seen.violations,
        undecided=seen.undecided,
        surplus=0,
        attempt=tally.attempt,
        validity=figures.validity,
        method=figures.method,
        assumptions=basis.assumptions,
        trace_root=basis.trace_root,
        versions=basis.versions,
        side=figures.side,
        skipped=seen.skipped,
        doubtful=seen.doubtful,
        average=figures.average,
        joint="" if level is None else joint,
        strata=_strata(seen, basis.weights or {}),
    )


def _withdrawn(item: Evidence, why: str) -> Evidence:
    """The evidence as it stands when nothing may be claimed from it."""
    return replace(item, status="inconclusive", bound=None, side=None, method=item.method + why)


def _strata(seen: Seen, weights: Mapping[str, str]) -> tuple[Mapping[str, Any], ...]:
    """Counts by stratum: observed, no estimate of any stratum is made."""
    rows = ((name, weight, seen.strata.get(name, Seen())) for name, weight in weights.items())
    return tuple(
        {
            "name": name,
            "weight": weight,
            "episodes": found.episodes,
            "violations": found.violations,
            "undecided": found.undecided,
            "skipped": found.skipped + found.doubtful,
        }
        for name, weight, found in rows
    )


def claimed_threshold(item: Obligation) -> float | None:
    """The threshold as the claim states it; of a quantile its q, the share that may miss."""
    statement = item.claim.statement
    if isinstance(statement, ProbBound | ConditionalBound | MeanBound):
        return statement.threshold
    if isinstance(statement, QuantileBound):
        return statement.q
    return None if item.threshold is None else float(1 - item.threshold)


def stored_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence with its surplus, for a checkpoint and for `--json`."""
    return {**evidence_json(evidence), "surplus": evidence.surplus}


def stored_evidence(data: Mapping[str, Any]) -> Evidence:
    """The evidence of `stored_json`, also of one written before it had its later fields."""
    fields: dict[str, Any] = {**data, "assumptions": tuple(data["assumptions"])}
    fields["strata"] = tuple(data.get("strata", ()))
    average: Sequence[float] | None = data.get("average")
    fields["average"] = None if average is None else (average[0], average[1])
    return Evidence(**fields)


def evidence_json(evidence: Evidence, *, version: int = 2) -> dict[str, Any]:
    """The payload of an evidence record. Surplus is left out: it depends on timing.

    version: of the plan; version 1 knew fewer fields.
    """
    data = asdict(evidence)
    del data["surplus"]
    if version == 1:
        data = {name: value for name, value in data.items() if name not in LATER}
    else:
        data["average"] = None if evidence.average is None else list(evidence.average)
        data["strata"] = [dict(row) for row in evidence.strata]
    return {**data, "assumptions": list(evidence.assumptions), "versions": dict(evidence.versions)}
