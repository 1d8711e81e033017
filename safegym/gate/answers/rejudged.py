"""Verdicts from stored traces and evidence from verdicts, computed again for one record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.references import named_artifacts
from safegym.errors import AuditError
from safegym.formula.claim import Claim
from safegym.gate.answers.derivation import Derived, Row, rows_of
from safegym.gate.answers.opened import Opened, unpacked
from safegym.gate.evidence import NOT_REPEATED
from safegym.gate.obligation import obligations
from safegym.gate.plan import GatePlan
from safegym.gate.proof_recount import Proofs
from safegym.gate.reading import Reading, find, finding_json
from safegym.gate.recount import TAKEN, Campaign
from safegym.trace.model import Trace


@dataclass(frozen=True, slots=True)
class _Stored:
    """Traces of some shards, in index order. missing: shards whose files are not there."""

    first: int
    traces: tuple[Trace, ...]
    missing: tuple[str, ...]


def _stored(opened: Opened, shards: Iterable[AuditRecord]) -> _Stored:
    """Read the traces; each must be the one that the log names in its place. Raises AuditError."""
    from safegym.trace.store import read_shard

    ordered = sorted(shards, key=lambda record: int(record.payload["first_index"]))
    traces, missing = list[Trace](), list[str]()
    with unpacked(opened, [record.payload["shard"] for record in ordered]) as folder:
        for record in ordered:
            named = record.payload["shard"]
            path = folder / named["artifact"]
            if not path.is_file():
                missing.append(named["artifact"])
                continue
            found = read_shard(path, digest=named["digest"])
            if [trace.digest for trace in found] != record.payload["traces"]:
                raise AuditError(
                    f"{named['artifact']} holds other traces than record {record.index} names."
                )
            traces.extend(found)
    first = int(ordered[0].payload["first_index"]) if ordered else 0
    return _Stored(first, tuple(traces), tuple(missing))


def counted(opened: Opened, record: AuditRecord) -> Derived:
    """Evidence from episodes: every episode judged again, then counted again."""
    payload = record.payload
    judging = under(opened, record, "verdict", "measurement")
    shards = {s.index: s for each in (record, *judging) for s in under(opened, each, "trace_shard")}
    stored = _stored(opened, shards.values())
    work = f"{len(stored.traces)} stored episodes in {len(shards)} shards judged and counted again"
    if stored.missing or not shards:
        gone = ", ".join(stored.missing) or "its traces"
        return Derived(
            record.index, record.kind, payload["claim_id"], work, (), (), f"{gone}: missing"
        )
    plan = GatePlan.from_json(dict(opened.first("plan_registered")["plan"]))
    items = obligations([opened.claim(name) for name in opened.claims], plan)
    attempted = payload["attempt"] > 0
    judged = [i.claim for i in items if attempted or i.claim.id == payload["claim_id"]]
    campaign = _campaign(stored, judged)
    if attempted:
        repeats = not str(payload["method"]).endswith(NOT_REPEATED)
        again = campaign.attempt_evidence(payload, items, plan, repeats=repeats)
    else:
        item = next(i for i in items if i.claim.id == payload["claim_id"])
        again = campaign.screen_evidence(payload, item, plan)
    told = tuple(name for name in TAKEN if name in payload)
    return Derived(
        record.index, record.kind, payload["claim_id"], work, tuple(rows_of(payload, again)), told
    )


def _campaign(stored: _Stored, claims: Sequence[Claim]) -> Campaign:
    campaign = Campaign()
    campaign.seeds.extend(trace.seed for trace in stored.traces)
    campaign.ends.extend(trace.end.reason for trace in stored.traces)
    wrong = campaign.add_traces(stored.first, [trace.digest for trace in stored.traces])
    if wrong:
        raise AuditError(f"The episodes under this evidence are not whole: {wrong}.")
    for claim in claims:
        campaign.judged[claim.id] = [
            (trace.digest, Reading.of(find(claim, trace))) for trace in stored.traces
        ]
    return campaign


def judged_again(opened: Opened, record: AuditRecord, episode: int | None) -> Derived:
    """Verdicts on episodes, each judged again; with `episode` that one alone."""
    payload = record.payload
    claim = opened.claim(payload["claim_id"])
    stored = _stored(opened, under(opened, record, "trace_shard"))
    name = "verdicts" if record.kind == "verdict" else "measured"
    logged: Sequence[Mapping[str, Any]] = payload[name]
    work = f"{len(stored.traces)} stored episodes judged again"
    if stored.missing:
        gone = ", ".join(stored.missing)
        return Derived(record.index, record.kind, claim.id, work, (), (), f"{gone}: missing")
    again = [finding_json(find(claim, trace)) for trace in stored.traces]
    if episode is not None:
        at = episode - stored.first
        rows = tuple(rows_of(logged[at], again[at]))
        return Derived(record.index, record.kind, claim.id, f"episode {episode} judged again", rows)
    return Derived(
        record.index, record.kind, claim.id, work, tuple(_summed(logged, again, stored.first))
    )


def _summed(
    logged: Sequence[Mapping[str, Any]], again: Sequence[Mapping[str, Any]], first: int
) -> Iterator[Row]:
    """How many of each status, and every episode that comes out otherwise."""
    yield Row("episodes", str(len(logged)), str(len(again)))
    for status in ("satisfied", "violated", "inconclusive"):
        counts = [sum(row.get("status") == status for row in rows) for rows in (logged, again)]
        if any(counts):
            yield Row(status, *map(str, counts))
    same = sum(one == two for one, two in zip(logged, again, strict=False))
    yield Row("the same, margins too", str(len(logged)), str(same))
    for at, (one, two) in enumerate(zip(logged, again, strict=False)):
        if one != two:
            yield from (
                Row(f"episode {first + at}, {row.field}", row.logged, row.again)
                for row in rows_of(one, two)
                if not row.same
            )


def proof_again(opened: Opened, record: AuditRecord) -> Derived:
    """A proof checked again by its certificate, or evidence that rests on one."""
    proofs = Proofs()
    proofs.register(opened.first("spec_registered"))
    found = [record] if record.kind == "proof" else under(opened, record, "proof")
    faults, gone = list[str](), list[str]()
    with unpacked(opened, _files(opened, found)) as folder:
        for each in found:
            for detail, missing in proofs.derive(folder, each):
                (gone if missing else faults).append(detail)
    if record.kind == "evidence":
        for detail, missing in proofs.evidence(record.payload):
            (gone if missing else faults).append(detail)
    payload = record.payload
    stated = str(payload.get("result", payload.get("status")))
    outcome = "; ".join(faults) or stated
    rows = (Row("result" if record.kind == "proof" else "status", stated, outcome),)
    work = f"{len(found)} proof{'s' * (len(found) != 1)} checked again"
    return Derived(record.index, record.kind, payload["claim_id"], work, rows, (), "; ".join(gone))


def _files(opened: Opened, proofs: Iterable[AuditRecord]) -> Iterator[Mapping[str, Any]]:
    """The certificates, and the policies that they are of."""
    for record in (*proofs, *(each for each in opened.live if each.kind == "policy_frozen")):
        yield from named_artifacts(record.payload)


def under(opened: Opened, record: AuditRecord, *kinds: str) -> list[AuditRecord]:
    """The records of these kinds right under a record, in the log's order."""
    found = [opened.by_index[leaf] for leaf in record.leaves if leaf in opened.by_index]
    return [each for each in found if each.kind in kinds]
