"""The worst episode by margin: which, how far, when, and how to run it again."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.values import decode_number
from safegym.check.monitor import settling
from safegym.errors import AuditError
from safegym.formula.claim import Claim
from safegym.gate.answers.opened import Opened, unpacked
from safegym.gate.answers.standing import standing
from safegym.gate.plan import GatePlan
from safegym.gate.reading import find, finding_json
from safegym.trace.model import Trace
from safegym.verdict import Verdict

RANK = {"violated": 0, "inconclusive": 1, "satisfied": 2}
STREAMS: Mapping[str, str] = {
    "certify": "certification attempt {attempt}",
    "gate": "screen of epoch {epoch}",
    "suite": "regression suite of epoch {epoch}",
    "burst": "search of epoch {epoch}",
    "train": "training epoch {epoch}",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """When an episode decides its verdict. time: s; margin: as measured, in the signal's unit.

    values: signal -> value there. Found by judging the stored trace again.
    """

    time: float
    step: int
    by: str
    values: Mapping[str, Any]
    margin: float


@dataclass(frozen=True, slots=True)
class WorstEpisode:
    """One stored episode. lo, hi: its margin on the claim, in multiples of the signals' scale.

    campaign: in which it ran. index: its place there, from 0. verdict, shard: records that judge
    and that hold it. seed, length (s): None where its trace is missing. options: what its
    reset was given, None where the log does not say. moment, again: what judging
    the stored trace again gave, and whether it is what is logged; None where that cannot be done.
    certain_at: seconds of the first sample at which the violation was certain, None without one.
    """

    claim_id: str
    status: str
    lo: float | None
    hi: float | None
    policy: str
    campaign: str
    index: int
    trace: str
    verdict: int
    shard: int
    artifact: str
    seed: int | None = None
    options: Mapping[str, Any] | None = None
    moment: Moment | None = None
    end: str = ""
    length: float | None = None
    again: bool | None = None
    certain_at: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON; the seed is text, as it may exceed what JSON numbers keep."""
        return {**asdict(self), "seed": None if self.seed is None else str(self.seed)}


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst episode of each claim, worst first. about: whose episodes were looked at.

    without: claims of which nothing is listed, each with the reason.
    """

    about: str
    episodes: tuple[WorstEpisode, ...]
    looked_at: int
    without: tuple[str, ...] = field(default=())


def worst(opened: Opened, *, claim: str | None = None, everywhere: bool = False) -> Worst:
    """The worst stored episode of each claim (or of one), with its trace judged again.

    Looked at are the episodes under the evidence on the released policy, or the last attempt's;
    everywhere: every stored episode, screens, suites and searches too, of every policy.
    Raises AuditError for a claim that is not registered, and where nothing was judged.
    """
    if claim is not None and claim not in opened.claims:
        known = ", ".join(opened.claims) or "none"
        raise AuditError(f"The log registers no claim {claim!r}; its claims are: {known}.")
    about, records = _records(opened, everywhere)
    ids = [claim] if claim is not None else list(opened.claims)
    found: dict[str, WorstEpisode] = {}
    looked = set[str]()
    for row in (row for judged in records for row in _rows(opened, judged)):
        looked.add(row.trace)
        first = found.get(row.claim_id)
        if row.claim_id in ids and (first is None or _order(row) < _order(first)):
            found[row.claim_id] = row
    if not found:
        raise AuditError(f"No stored episode was judged on {claim or 'any claim'} here.")
    without = tuple(f"{i}: {_why(opened, i)}" for i in ids if i not in found)
    told = tuple(_looked(opened, row) for row in sorted(found.values(), key=_order))
    return Worst(about, told, len(looked), without)


def _why(opened: Opened, claim_id: str) -> str:
    if opened.readable(claim_id) and opened.claim(claim_id).kind == "mean":
        return "it is about a mean, which no single episode keeps or breaks"
    return "no stored episode that was looked at was judged on it"


def _records(opened: Opened, everywhere: bool) -> tuple[str, list[AuditRecord]]:
    judged = [record for record in opened.live if record.kind == "verdict"]
    if everywhere:
        return "every stored episode of every policy, searches and suites too", judged
    found = standing(opened)
    under = {leaf for item in found.evidence.values() for leaf in item.rests_on}
    mine = [record for record in judged if record.index in under]
    what = "released" if found.released else "not released"
    if opened.report.slice is not None:
        what = "a slice does not show whether it is released"
    if mine:
        return f"certification episodes of policy {found.policy} ({what})", mine
    return "every stored episode: no policy was certified or tried", judged


def _rows(opened: Opened, record: AuditRecord) -> Iterator[WorstEpisode]:
    payload = record.payload
    shards = [opened.by_index[leaf] for leaf in record.leaves if leaf in opened.by_index]
    place = {
        trace: (shard, position)
        for shard in shards
        if shard.kind == "trace_shard"
        for position, trace in enumerate(shard.payload["traces"])
    }
    campaign = STREAMS[payload["stream"]].format(
        attempt=payload.get("attempt", 0), epoch=payload.get("epoch", 0)
    )
    for row in payload["verdicts"]:
        shard, position = place.get(row["trace"], (None, 0))
        if shard is None or row.get("condition") == "violated":
            continue
        yield WorstEpisode(
            claim_id=payload["claim_id"],
            status=row["status"],
            lo=_margin(row, "lo"),
            hi=_margin(row, "hi"),
            policy=shard.payload["policy"],
            campaign=campaign,
            index=shard.payload["first_index"] + position,
            trace=row["trace"],
            verdict=record.index,
            shard=shard.index,
            artifact=shard.payload["shard"]["artifact"],
        )


def _margin(row: Mapping[str, Any], name: str) -> float | None:
    return None if row.get(name) is None else decode_number(row[name])


def _order(row: WorstEpisode) -> tuple[int, float, float, int]:
    """Violated before open before satisfied, then by margin; the first of equals."""
    lo = math.inf if row.lo is None else row.lo
    hi = math.inf if row.hi is None else row.hi
    return RANK[row.status], lo, hi, row.index


def _looked(opened: Opened, row: WorstEpisode) -> WorstEpisode:
    """The episode with what its stored trace says."""
    trace = trace_of(opened, row.shard, row.trace)
    if trace is None:
        return row
    row = replace(
        row,
        seed=trace.seed,
        options=_options(opened, row, trace),
        end=f"{trace.end.kind} ({trace.end.reason})" if trace.end.reason else trace.end.kind,
        length=float(trace.steps * trace.clock.dt),
    )
    if not opened.readable(row.claim_id):
        return row
    claim = opened.claim(row.claim_id)
    again = find(claim, trace)
    logged = next(
        each
        for each in opened.by_index[row.verdict].payload["verdicts"]
        if each["trace"] == row.trace
    )
    moment = _moment(again) if isinstance(again, Verdict) else None
    same = finding_json(again) == logged
    return replace(row, moment=moment, again=same, certain_at=_certain_at(claim, trace))


def _certain_at(claim: Claim, trace: Trace) -> float | None:
    """Seconds of the first sample at which nothing to come could save the claim."""
    settled = None if claim.kind == "mean" else settling(claim, trace)
    return None if settled is None else float(settled.step * trace.clock.dt)


def trace_of(opened: Opened, shard: int, digest: str) -> Trace | None:
    """A stored trace, by the record of its shard; None where the file is missing."""
    from safegym.trace.store import read_shard

    payload = opened.by_index[shard].payload
    with unpacked(opened, [payload["shard"]]) as folder:
        path = folder / payload["shard"]["artifact"]
        if not path.is_file():
            return None
        traces = read_shard(path, digest=payload["shard"]["digest"])
    return next((trace for trace in traces if trace.digest == digest), None)


def _moment(verdict: Verdict) -> Moment | None:
    seen = verdict.witness
    if seen is None:
        return None
    return Moment(seen.time, seen.step, seen.subformula, dict(seen.values), seen.margin)


def _options(opened: Opened, row: WorstEpisode, trace: Trace) -> Mapping[str, Any] | None:
    """What the reset of the episode was given besides its seed, as far as the log says."""
    stream = opened.by_index[row.shard].payload["stream"]
    if stream in ("suite", "burst"):
        names = {"suite": ("regression", "starts"), "burst": ("falsification", "finds")}
        kind, listed = names[stream]
        for record in opened.live:
            for entry in record.payload.get(listed, ()) if record.kind == kind else ():
                if entry["trace"] == row.trace:
                    return dict(entry.get("options") or {})
        return None
    plan = opened.first("plan_registered")
    strata = GatePlan.from_json(plan["plan"]).strata if plan else None
    return {} if strata is None else strata.of(row.index, trace.seed).options(trace.seed)
