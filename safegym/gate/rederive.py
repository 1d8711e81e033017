"""Deriving a run's verdicts and evidence again, from its stored traces and logged claims.

This is the second look of `audit verify`: nothing is taken from the run but traces, claims and
plan. Verdicts are judged again, evidence is counted again, and each must come out as logged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Mismatch
from safegym.check.monitor import judge
from safegym.digest import digest_json
from safegym.errors import SafegymError
from safegym.formula.claim import Claim
from safegym.gate.evidence import Basis, evidence_json, gather
from safegym.gate.judging import verdict_json
from safegym.gate.obligation import Obligation, obligations
from safegym.gate.plan import GatePlan
from safegym.gate.registration import obligation_json
from safegym.gate.setting import set_digest
from safegym.gate.tally import Tally
from safegym.scenario.seeds import episode_seed
from safegym.trace.model import Trace
from safegym.trace.store import read_shard
from safegym.verdict import Evidence, Status

Key = tuple[str, str, int, int]
"""(stream, policy digest, attempt, epoch): one campaign."""


@dataclass(slots=True)
class _Run:
    """What the registration records say."""

    claims: dict[str, Claim] = field(default_factory=dict[str, Claim])
    obligations: tuple[Obligation, ...] = ()
    plan: GatePlan | None = None
    scenario: str = ""

    @property
    def claims_digest(self) -> str:
        return set_digest(self.obligations)


def rederive(folder: Path, records: Sequence[AuditRecord]) -> list[Mismatch]:
    """Every difference between what the log says and what its traces give, or an empty list.

    folder: holds the artifacts that `records` (those in force, in order) name.
    """
    return list(_Rederivation(folder).differences(records))


class _Rederivation:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run = _Run()
        self._traces: dict[str, list[Trace]] = {}
        self._statuses: dict[Key, dict[str, list[Status]]] = {}
        self._digests: dict[Key, list[str]] = {}
        self._evidence: dict[str, Mapping[str, Any]] = {}

    def differences(self, records: Sequence[AuditRecord]) -> Iterator[Mismatch]:
        handlers = {
            "spec_registered": self._claims,
            "scenario_registered": self._scenario,
            "plan_registered": self._plan,
            "trace_shard": self._shard,
            "verdict": self._verdicts,
            "evidence": self._evidence_record,
            "gate_decision": self._decision,
        }
        for record in records:
            handler = handlers.get(record.kind)
            if handler is None:
                continue
            try:
                for detail, missing in handler(record):
                    yield Mismatch(record.index, detail, missing)
            except (SafegymError, KeyError, TypeError, ValueError) as error:
                yield Mismatch(record.index, f"cannot be derived again: {error}")

    def _claims(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        for entry in record.payload["claims"]:
            claim = Claim.from_json(entry["claim"])
            if claim.digest != entry["digest"] or claim.canonical_text != entry["text"]:
                yield f"claim {entry['id']}: its text does not give its digest", False
            self._run.claims[claim.id] = claim

    def _scenario(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        self._run.scenario = record.payload["digest"]
        return iter(())

    def _plan(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        run = self._run
        run.plan = GatePlan.from_json(record.payload["plan"])
        if run.plan.digest != record.payload["digest"]:
            yield "the plan does not give its digest", False
        run.obligations = obligations(run.claims.values(), run.plan)
        if [obligation_json(o, run.plan) for o in run.obligations] != record.payload["obligations"]:
            yield "thresholds, levels or kinds differ from what claims and plan give", False
        if run.claims_digest != record.payload["claims_digest"]:
            yield "the claim set does not give its digest", False

    def _shard(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        payload, shard = record.payload, record.payload["shard"]
        path = self._folder / shard["artifact"]
        if not path.is_file():
            yield f"the traces in {shard['artifact']} are missing", True
            return
        traces = read_shard(path, digest=shard["digest"])
        self._traces[record.payload_digest] = traces
        if [trace.digest for trace in traces] != payload["traces"]:
            yield "the shard holds other traces than the record names", False
        known = self._digests.setdefault(_key(payload), [])
        if payload["first_index"] != len(known):
            yield f"episode {payload['first_index']} follows {len(known)} episodes", False
        known.extend(trace.digest for trace in traces)
        for offset, trace in enumerate(traces):
            wrong = self._origin(payload, trace, payload["first_index"] + offset)
            if wrong:
                yield wrong, False

    def _origin(self, payload: Mapping[str, Any], trace: Trace, index: int) -> str:
        run = self._run
        if run.plan is None:
            return "traces come before the plan"
        attempt = payload["attempt"] if payload["stream"] == "certify" else payload["epoch"]
        seed = episode_seed(
            run.plan.seed,
            payload["policy"],
            run.scenario,
            run.claims_digest,
            payload["stream"],
            attempt,
            index,
        )
        if trace.seed != seed:
            return f"episode {index} ran on another seed than its stream gives"
        if (trace.policy_digest, trace.scenario_digest) != (payload["policy"], run.scenario):
            return f"episode {index} is of another policy or scenario"
        return ""

    def _verdicts(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        payload = record.payload
        claim = self._run.claims[payload["claim_id"]]
        if claim.digest != payload["claim_digest"]:
            yield "the claim's digest differs from the registered one", False
        traces: list[Trace] = []
        for reference in payload["rests_on"]:
            found = self._traces.get(reference["record"])
            if found is None:
                yield "its traces are missing", True
                return
            traces.extend(found)
        again = [judge(claim, trace) for trace in traces]
        derived = [{"trace": v.trace_digest, **verdict_json(v)} for v in again]
        for position, (new, old) in enumerate(zip(derived, payload["verdicts"], strict=False)):
            if new != old:
                yield f"verdict {position} on {claim.id} comes out as {new}, logged {old}", False
        if len(derived) != len(payload["verdicts"]):
            yield f"{len(payload['verdicts'])} verdicts on {len(derived)} traces", False
        statuses = self._statuses.setdefault(_key(payload), {})
        statuses.setdefault(claim.id, []).extend(verdict.status for verdict in again)

    def _evidence_record(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        payload = record.payload
        self._evidence[record.payload_digest] = payload
        statuses = self._statuses.get(_key(payload), {}).get(payload["claim_id"])
        if statuses is None:
            yield "the verdicts it counts are missing", True
            return
        expected = self._counted(payload, statuses)
        for name, value in expected.items():
            if payload.get(name) != value:
                yield f"{name} comes out as {value!r}, logged {payload.get(name)!r}", False

    def _counted(self, payload: Mapping[str, Any], statuses: list[Status]) -> dict[str, Any]:
        if payload["attempt"] == 0:
            return {
                "kind": "observed",
                "status": "inconclusive",
                "bound": None,
                "episodes": len(statuses),
                "violations": statuses.count("violated"),
                "undecided": statuses.count("inconclusive"),
            }
        item = self._tallied(payload)
        derived = evidence_json(item)
        return {name: value for name, value in derived.items() if name not in _TAKEN}

    def _tallied(self, payload: Mapping[str, Any]) -> Evidence:
        run, key = self._run, _key(payload)
        if run.plan is None:
            raise ValueError("evidence comes before the plan")
        tally = Tally(run.obligations, payload["attempt"], run.plan.cap)
        columns = [self._statuses[key][item.claim.id] for item in run.obligations]
        for row in zip(*columns, strict=True):
            if tally.outcome is not None:
                raise ValueError("episodes go on after the attempt was decided")
            tally.add(row)
        basis = Basis(
            tuple(payload["assumptions"]), digest_json(self._digests[key]), payload["versions"]
        )
        found = gather(tally, basis)
        return next(item for item in found if item.claim_id == payload["claim_id"])

    def _decision(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        payload = record.payload
        if payload["action"] != "promote":
            return
        named = [self._evidence.get(reference["record"]) for reference in payload["rests_on"]]
        attempted = [item for item in named if item is not None and item["attempt"] > 0]
        for obligation in self._run.obligations:
            shown = [
                item
                for item in attempted
                if item["claim_id"] == obligation.claim.id
                and item["policy"] == payload["policy"]
                and item["status"] == "satisfied"
                and item["kind"] == ("estimated" if obligation.threshold else "observed")
            ]
            if not shown:
                yield f"promoted without satisfied evidence on {obligation.claim.id}", False


_TAKEN = ("assumptions", "versions")
"""Fields that only the run itself could know."""


def _key(payload: Mapping[str, Any]) -> Key:
    attempt = int(payload["attempt"])
    stream = payload.get("stream", "certify" if attempt else "gate")
    return stream, payload["policy"], attempt, int(payload.get("epoch", 0))
