"""Deriving a run's verdicts and evidence again, from its stored traces and logged claims.

This is the second look of `audit verify`: nothing is taken from the run but traces, claims and
plan. Verdicts are judged again, evidence is counted again, and each must come out as logged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Mismatch
from safegym.digest import digest_json
from safegym.errors import SafegymError
from safegym.formula.claim import Claim, set_digest
from safegym.gate.assumed import assumed_fault, reported
from safegym.gate.evidence import LATER, NOT_REPEATED
from safegym.gate.frozen_files import misfiled
from safegym.gate.kept_files import unlike_scenario
from safegym.gate.obligation import Obligation, obligations
from safegym.gate.plan import VERSION, GatePlan
from safegym.gate.proof_recount import ABOUT, Proofs
from safegym.gate.reading import Reading, find, finding_json
from safegym.gate.recount import Campaign, Key, attempt_started, key_of, stratum_fault
from safegym.gate.registration import PROMISES, registered_json
from safegym.gate.registry.releases import Releases
from safegym.gate.rerun import reasons_of, repeats_fault
from safegym.gate.said import Said
from safegym.gate.setting import terms_digest
from safegym.gate.suite_recount import GIVEN, Lookout
from safegym.scenario.seeds import episode_seed
from safegym.trace.model import Trace
from safegym.trace.store import read_shard

REGISTRATION = ("spec_registered", "scenario_registered", "plan_registered")
Findings = Iterator[tuple[str, bool]]
"""(what differs, whether only for want of data)."""


@dataclass(slots=True)
class _Run:
    """What the registration records say."""

    claims: dict[str, Claim] = field(default_factory=dict[str, Claim])
    obligations: tuple[Obligation, ...] = ()
    registered: GatePlan | None = None
    scenario: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def claims_digest(self) -> str:
        return set_digest(item.claim for item in self.obligations)

    @property
    def plan(self) -> GatePlan:
        """The plan. Raises ValueError where a record comes before it."""
        if self.registered is None:
            raise ValueError("it comes before the plan")
        return self.registered

    def obligation(self, claim_id: str) -> Obligation:
        return {item.claim.id: item for item in self.obligations}[claim_id]


def rederive(
    folder: Path,
    records: Sequence[AuditRecord],
    progress: Callable[[int, int], None] | None = None,
) -> list[Mismatch]:
    """Every difference between what the log says and what its traces give, or an empty list.

    folder: holds the artifacts that `records` (those in force, in order) name. progress: is told
    how many records of how many are done.
    """
    return list(_Rederivation(folder).differences(_counted(records, progress)))


def _counted(
    records: Sequence[AuditRecord], progress: Callable[[int, int], None] | None
) -> Iterator[AuditRecord]:
    for done, record in enumerate(records):
        if progress is not None:
            progress(done, len(records))
        yield record


class _Rederivation:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run = _Run()
        self._shards: dict[str, tuple[Key, list[Trace]]] = {}
        self._campaigns: dict[Key, Campaign] = {}
        self._attempts: dict[int, Key] = {}
        self._evidence: dict[str, Mapping[str, Any]] = {}
        self._told: dict[Key, dict[str, bool]] = {}
        self._closed: dict[Key, str] = {}
        self._cards: dict[str, Mapping[str, Any]] = {}
        self._lookout = Lookout()
        self._releases = Releases()
        self._proofs = Proofs()
        self._judgements: dict[tuple[Key, str], list[str]] = {}
        self._said = Said()

    def differences(self, records: Iterable[AuditRecord]) -> Iterator[Mismatch]:
        handlers = {
            "run_resumed": self._said.resumed,
            "spec_registered": self._claims,
            "scenario_registered": self._scenario,
            "plan_registered": self._plan,
            "policy_frozen": self._policy,
            "attempt_started": self._attempt_started,
            "attempt_closed": self._attempt_closed,
            "trace_shard": self._shard,
            "verdict": self._verdicts,
            "measurement": self._verdicts,
            "proof": self._proof,
            "evidence": self._evidence_record,
            "gate_decision": self._decision,
            "regression": self._looked_out,
            "falsification": self._looked_out,
            "promotion": self._releases.promoted,
            "withdrawal": self._releases.withdrawn,
        }
        for record in records:
            handler = handlers.get(record.kind)
            if handler is None:
                continue
            try:
                for detail, missing in handler(record):
                    yield Mismatch(record.index, detail, missing)
            except (SafegymError, LookupError, TypeError, ValueError) as error:
                later = self._said.is_later
                yield Mismatch(record.index, f"cannot be derived again: {error}", missing=later)
                if later:
                    return
                if record.kind in REGISTRATION:
                    yield Mismatch(None, "without it, nothing after it was derived again")
                    return

    def _claims(self, record: AuditRecord) -> Findings:
        if self._run.claims or self._proofs.asked:
            yield "claims are registered a second time", False
        if record.payload.get("about") == ABOUT:
            yield from self._asked(record)
            return
        for entry in record.payload["claims"]:
            claim = Claim.from_json(entry["claim"])
            if claim.digest != entry["digest"] or claim.canonical_text != entry["text"]:
                yield f"claim {entry['id']}: its text does not give its digest", False
            if entry["id"] != claim.id:
                yield f"claim {claim.id} is registered as {entry['id']}", False
            self._run.claims[claim.id] = claim
        if set_digest(self._run.claims.values()) != record.payload["digest"]:
            yield "the claims do not give the digest of their set", False

    def _asked(self, record: AuditRecord) -> Findings:
        """What a proof was asked: its log has no scenario and no plan, and releases nothing."""
        self._proofs.register(record.payload)
        yield from self._proofs.misstated()
        if digest_json(list(self._proofs.digests)) != record.payload["digest"]:
            yield "the claims do not give the digest of their set", False

    def _proof(self, record: AuditRecord) -> Findings:
        yield from self._proofs.derive(self._folder, record)

    def _scenario(self, record: AuditRecord) -> Findings:
        if self._run.scenario:
            yield "a scenario is registered a second time", False
        self._run.scenario = record.payload
        self._said.scenario = record.payload
        yield from unlike_scenario(self._folder, record.payload)

    def _plan(self, record: AuditRecord) -> Findings:
        run = self._run
        if run.registered is not None:
            yield "a plan is registered a second time", False
        self._said.plan = record.payload["plan"]
        if self._said.is_later:
            raise ValueError(
                f"the plan is of version {self._said.plan['version']}, this safegym reads 1 to "
                f"{VERSION}: verify the log with the version that wrote it"
            )
        run.registered = GatePlan.from_json(record.payload["plan"])
        self._lookout.register(record.payload)
        if run.plan.digest != record.payload["digest"]:
            yield "the plan does not give its digest", False
        run.obligations = obligations(run.claims.values(), run.plan)
        derived = registered_json(run.obligations, run.plan)
        if derived["obligations"] != record.payload["obligations"]:
            yield "thresholds, levels or kinds differ from what claims and plan give", False
        if run.claims_digest != record.payload["claims_digest"]:
            yield "the claim set does not give its digest", False
        if terms_digest(run.obligations, run.plan.strata) != record.payload["terms_digest"]:
            yield "claims and plan do not give the digest of their terms", False
        if run.plan.version > 1:
            yield from _differing(record.payload, {**derived, **PROMISES})
            yield from _differing(record.payload, {"scenario_digest": run.scenario["digest"]})

    def _policy(self, record: AuditRecord) -> Iterator[tuple[str, bool]]:
        """Weights and architecture must give the digest that everything else names."""
        self._cards[record.payload["policy"]] = record.payload
        yield from misfiled(self._folder, record.payload)

    def _attempt_started(self, record: AuditRecord) -> Findings:
        payload, run = record.payload, self._run
        number = payload["attempt"]
        key: Key = ("certify", payload["policy"], number, 0)
        before = self._campaigns.get(key)
        if before is not None and not before.ended:
            yield f"attempt {number} begins again before it ended", False
        if self._attempts.setdefault(number, key) != key:
            yield f"attempt {number} was spent on another policy", False
        if any(k[1] == key[1] and k != key for k in self._attempts.values()):
            yield "this policy has an attempt of another number", False
        earlier = tuple(before.digests) if before and not before.holed else ()
        self._campaigns[key] = Campaign(earlier=earlier)
        self._told[key] = {}
        self._closed.pop(key, None)
        for item in run.claims:
            self._judgements.pop((key, item), None)
        expected = {
            **attempt_started(payload, run.obligations, run.plan),
            "claims": run.claims_digest,
            "scenario": run.scenario["digest"],
        }
        yield from _differing(payload, expected)
        yield from self._lookout.before_attempt(payload["policy"])

    def _attempt_closed(self, record: AuditRecord) -> Findings:
        payload, run = record.payload, self._run
        number, key = payload["attempt"], self._attempts[payload["attempt"]]
        campaign, told = self._campaigns[key], self._told[key]
        if campaign.ended:
            yield f"attempt {number} ends a second time", False
        campaign.ended = True
        self._closed[key] = payload["outcome"]
        if payload["outcome"] == "abandoned":
            if told:
                yield f"attempt {number} was abandoned, and has evidence", False
            return
        untold = [item.claim.id for item in run.obligations if item.claim.id not in told]
        if untold:
            yield f"attempt {number} ends without evidence on {', '.join(untold)}", False
        if campaign.holed:
            yield f"episodes of attempt {number} are missing, so it was not counted again", True
            yield from self._said.ended(payload, key[1])
            return
        tally = campaign.tally(run.obligations, number, run.plan)
        expected = {
            "outcome": tally.outcome or "exhausted",
            "episodes": tally.episodes,
            "reasons": list(tally.reasons),
        }
        repeated = payload.get("repeated", {"indices": [], "differences": []})
        wrong = repeats_fault(repeated, campaign, tally.outcome, run.plan)
        if wrong:
            yield wrong, False
        if any(repeats == bool(repeated["differences"]) for repeats in told.values()):
            yield "evidence and the attempt's end differ on whether its episodes repeat", False
        if repeated["differences"]:
            expected |= {"outcome": "unrepeatable", "reasons": reasons_of(repeated)}
        yield from _differing(payload, expected)
        yield from self._said.ended(payload, key[1])

    def _shard(self, record: AuditRecord) -> Findings:
        payload, shard = record.payload, record.payload["shard"]
        path = self._folder / shard["artifact"]
        if not path.is_file():
            self._campaigns.setdefault(key_of(payload), Campaign()).holed = True
            yield f"the traces in {shard['artifact']} are missing", True
            return
        traces = read_shard(path, digest=shard["digest"])
        key = key_of(payload)
        yield from _differing(payload, {"scenario": self._run.scenario["digest"]})
        if key[0] == "certify" and self._attempts.get(key[2]) != key:
            yield f"episodes of attempt {key[2]}, which this policy never started", False
        if key in self._closed:
            yield f"episodes of attempt {key[2]} after its end", False
        self._shards[record.payload_digest] = key, traces
        if [trace.digest for trace in traces] != payload["traces"]:
            yield "the shard holds other traces than the record names", False
        campaign = self._campaigns.setdefault(key, Campaign())
        campaign.seeds.extend(trace.seed for trace in traces)
        campaign.ends.extend(trace.end.reason for trace in traces)
        campaign.reported.update(reported(traces))
        wrong = campaign.add_traces(payload["first_index"], [trace.digest for trace in traces])
        if wrong:
            yield wrong, False
        for offset, trace in enumerate(traces):
            wrong = self._origin(payload, trace, payload["first_index"] + offset)
            if wrong:
                yield wrong, False

    def _origin(self, payload: Mapping[str, Any], trace: Trace, index: int) -> str:
        if payload["stream"] in GIVEN:
            return self._not_of_this_run(payload, trace, index)
        run, scenario = self._run, self._run.scenario
        attempt = payload["attempt"] if payload["stream"] == "certify" else payload["epoch"]
        seed = episode_seed(
            run.plan.seed,
            payload["policy"],
            scenario["digest"],
            run.claims_digest,
            payload["stream"],
            attempt,
            index,
        )
        if trace.seed != seed:
            return f"episode {index} ran on another seed than its stream gives"
        return self._not_of_this_run(payload, trace, index) or stratum_fault(
            self._run.plan.strata, trace, index
        )

    def _not_of_this_run(self, payload: Mapping[str, Any], trace: Trace, index: int) -> str:
        scenario = self._run.scenario
        if (trace.policy_digest, trace.scenario_digest) != (payload["policy"], scenario["digest"]):
            return f"episode {index} is of another policy or scenario"
        if (trace.horizon, str(trace.clock.dt)) != (scenario["horizon"], scenario["dt"]):
            return f"episode {index} has another horizon or clock than the scenario"
        return ""

    def _verdicts(self, record: AuditRecord) -> Findings:
        payload = record.payload
        claim, key = self._run.claims[payload["claim_id"]], key_of(payload)
        self._judgements.setdefault((key, claim.id), []).append(record.payload_digest)
        if claim.digest != payload["claim_digest"]:
            yield "the claim's digest differs from the registered one", False
        yield from _differing(payload, {"scenario": self._run.scenario["digest"]})
        traces: list[Trace] = []
        for reference in payload["rests_on"]:
            origin, found = self._shards.get(reference["record"], (key, None))
            if found is None:
                yield "its traces are missing", True
                return
            if origin != key:
                yield "it judges episodes of another campaign", False
            traces.extend(found)
        kind = "measurement" if claim.kind == "mean" else "verdict"
        if record.kind != kind:
            yield f"claim {claim.id} takes {kind} records, found a {record.kind} record", False
        logged = payload["measured" if record.kind == "measurement" else "verdicts"]
        again = [find(claim, trace) for trace in traces]
        derived = [finding_json(finding) for finding in again]
        for position, (new, old) in enumerate(zip(derived, logged, strict=False)):
            if new != old:
                yield f"{kind} {position} on {claim.id} comes out as {new}, logged {old}", False
        if len(derived) != len(logged):
            yield f"{len(logged)} {kind}s on {len(derived)} traces", False
        judged = self._campaigns.setdefault(key, Campaign()).judged
        judged.setdefault(claim.id, []).extend((f.trace_digest, Reading.of(f)) for f in again)

    def _evidence_record(self, record: AuditRecord) -> Findings:
        payload, run = record.payload, self._run
        self._evidence[record.payload_digest] = payload
        yield from self._said.versions(payload)
        if payload["kind"] == "proved":
            yield from self._proofs.evidence(payload)
            return
        key = key_of(payload)
        yield from self._basis(payload, key)
        campaign = self._campaigns.get(key)
        if campaign is None or campaign.holed or payload["claim_id"] not in campaign.judged:
            yield "the verdicts it counts are missing", True
            if campaign is not None and campaign.holed and payload["attempt"]:
                repeats = not str(payload["method"]).endswith(NOT_REPEATED)
                yield from self._attempt_evidence(payload, key, repeats=repeats)
            return
        if payload["attempt"] == 0:
            item = run.obligation(payload["claim_id"])
            expected = campaign.screen_evidence(payload, item, run.plan)
        else:
            repeats = not str(payload["method"]).endswith(NOT_REPEATED)
            yield from self._attempt_evidence(payload, key, repeats=repeats)
            expected = campaign.attempt_evidence(
                payload, run.obligations, run.plan, repeats=repeats
            )
        yield from _differing(payload, expected)

    def _basis(self, payload: Mapping[str, Any], key: Key) -> Findings:
        """Evidence is on a registered claim, and rests on every verdict that it counts."""
        claim = payload["claim_id"]
        if claim not in self._run.claims:
            yield f"evidence on {claim}, which is not registered", False
        if payload.get("scenario", self._run.scenario["digest"]) != self._run.scenario["digest"]:
            yield "evidence on another scenario than the registered one", False
        kinds = ("verdict", "measurement")
        named = {each["record"] for each in payload["rests_on"] if each["kind"] in kinds}
        if named != set(self._judgements.get((key, claim), ())):
            yield f"evidence on {claim} rests on other verdicts than those it counts", False

    def _attempt_evidence(
        self, payload: Mapping[str, Any], key: Key, *, repeats: bool
    ) -> Iterator[tuple[str, bool]]:
        """Evidence of an attempt: one a claim, before its end, on what the log itself names."""
        run, claim = self._run, payload["claim_id"]
        told = self._told.setdefault(key, {})
        if key in self._closed:
            yield f"evidence on {claim} after the end of attempt {key[2]}", False
        if claim in told:
            yield f"a second evidence on {claim} of attempt {key[2]}", False
        told[claim] = repeats
        if run.plan.version == 1:
            later = sorted(set(LATER) & set(payload))
            if later:
                yield f"evidence under a plan of version 1 has no {', '.join(later)}", False
            return
        wrong = assumed_fault(
            payload["assumptions"],
            run.scenario,
            self._cards.get(key[1]),
            run.plan.strata,
            self._campaigns[key].reported,
        )
        if wrong:
            yield wrong, False

    def _looked_out(self, record: AuditRecord) -> Findings:
        payload, suite = record.payload, record.kind == "regression"
        self._said.looked[record.payload_digest] = payload
        if not suite and "finds" not in payload:  # a search outside of a run's gate
            return
        key: Key = ("suite" if suite else "burst", payload["policy"], 0, payload["epoch"])
        traces = [t for origin, kept in self._shards.values() if origin == key for t in kept]
        expected = {"scenario": self._run.scenario["digest"]}
        if not suite:
            expected["claim_digest"] = self._run.claims[payload["claim_id"]].digest
        yield from _differing(payload, expected)
        derive = self._lookout.regression if suite else self._lookout.falsification
        yield from derive(payload, self._campaigns.setdefault(key, Campaign()), traces)

    def _decision(self, record: AuditRecord) -> Findings:
        payload = record.payload
        named = [self._evidence.get(reference["record"]) for reference in payload["rests_on"]]
        found = [item for item in named if item is not None]
        if payload["action"] == "rollback" and not any(item.get("degraded") for item in found):
            yield "rolled back without a degraded screen", False
        yield from self._said.reasons(payload, found)
        if payload["action"] == "promote":
            yield from self._promotion(payload["policy"], found)

    def _promotion(self, policy: str, named: Sequence[Mapping[str, Any]]) -> Findings:
        run = self._run
        if policy not in self._cards:
            yield "promoted, but nothing in this log freezes that policy", False
        attempted = [i for i in named if i["attempt"] > 0 and i["policy"] == policy]
        numbers = {item["attempt"] for item in attempted}
        if len(numbers) != 1:
            yield f"promoted on the evidence of {len(numbers)} attempts; one is needed", False
            return
        key: Key = ("certify", policy, numbers.pop(), 0)
        holed = self._campaigns[key].holed
        outcome = "certified"
        if not holed:
            outcome = self._campaigns[key].tally(run.obligations, key[2], run.plan).outcome or ""
        ended = self._closed.get(key)
        if ended != "certified":
            yield f"promoted, but attempt {key[2]} ended {ended or 'nowhere in this log'}", False
        if outcome != "certified":
            yield f"promoted, but attempt {key[2]} comes out as {outcome or 'open'}", False
        for item in run.obligations:
            kind = "estimated" if item.threshold is not None else "observed"
            if not any(
                shown["claim_id"] == item.claim.id
                and shown["status"] == "satisfied"
                and shown["kind"] == kind
                for shown in attempted
            ):
                yield f"promoted without satisfied evidence on {item.claim.id}", False


def _differing(payload: Mapping[str, Any], expected: Mapping[str, Any]) -> Findings:
    for name, value in expected.items():
        if payload.get(name) != value:
            yield f"{name} comes out as {value!r}, logged {payload.get(name)!r}", False
