"""Faults that keep a log well formed and signed, and that only counting again can find."""

import copy
import dataclasses
import importlib.metadata
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chain import chain_spec, still

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.digest import digest_bytes, digest_json
from safegym.gate.attempt import Certifier
from safegym.gate.certify import log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.screen import Screener
from safegym.gate.setting import make_setting

Records = list[AuditRecord]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    setting = make_setting(chain_spec(0.0, (2, 5)), Gate(plan=GatePlan(screen_episodes=100)))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=folder / "home")
    policy = still("candidate")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, policy, 1)
        Screener(setting, log, folder / "run" / "traces").screen(policy, 1)
        attempt = Certifier(setting, ledger, log, folder / "run" / "traces").attempt(policy)
        log_decision(log, attempt)
        log.close(attempt.outcome)
    assert rederive(folder / "run", read_log(folder / "run")) == []
    return folder / "run"


def of(records: Records, kind: str, stream: str) -> list[int]:
    """Positions of records of a kind that belong to a stream."""
    return [
        at
        for at, record in enumerate(records)
        if record.kind == kind
        and record.payload.get("stream", "certify" if record.payload.get("attempt") else "gate")
        == stream
    ]


def changed(record: AuditRecord, **fields: Any) -> AuditRecord:
    return dataclasses.replace(record, payload={**copy.deepcopy(record.payload), **fields})


def judge_a_shard_twice(records: Records) -> None:
    """The same hundred episodes counted twice, and the count of the evidence raised to match."""
    at = of(records, "verdict", "certify")[0]
    records.insert(at + 1, records[at])
    last = of(records, "evidence", "certify")[-1]
    episodes = records[last].payload["episodes"] + 100
    records[last] = changed(records[last], episodes=episodes)


def count_the_screen_as_certification(records: Records) -> None:
    screened = records[of(records, "verdict", "gate")[0]]
    at = of(records, "verdict", "certify")[0]
    fields = {name: screened.payload[name] for name in ("verdicts", "rests_on")}
    records[at] = changed(records[at], **fields)


def leave_a_shard_unjudged(records: Records) -> None:
    at = of(records, "verdict", "gate")[0]
    del records[at]
    records[of(records, "evidence", "gate")[0]] = changed(
        records[of(records, "evidence", "gate")[0]], episodes=0
    )


def register_a_plan_twice(records: Records) -> None:
    at = of(records, "plan_registered", "gate")[0]
    records.insert(at + 1, records[at])


def register_claims_twice(records: Records) -> None:
    at = of(records, "spec_registered", "gate")[0]
    records.insert(at + 1, records[at])


def register_no_plan(records: Records) -> None:
    del records[of(records, "plan_registered", "gate")[0]]


def spend_a_looser_level(records: Records) -> None:
    at = of(records, "attempt_started", "certify")[0]
    records[at] = changed(records[at], levels={"chain.safe": 0.05})


def raise_the_cap_of_the_attempt(records: Records) -> None:
    at = of(records, "attempt_started", "certify")[0]
    records[at] = changed(records[at], cap=10**6)


def spend_one_number_on_two_policies(records: Records) -> None:
    at = of(records, "attempt_started", "certify")[0]
    records.insert(at, changed(records[at], policy="sha256:" + "7" * 64))


def start_no_attempt(records: Records) -> None:
    del records[of(records, "attempt_started", "certify")[0]]


def close_with_another_outcome(records: Records) -> None:
    at = of(records, "attempt_closed", "certify")[0]
    records[at] = changed(records[at], outcome="refuted")


def close_with_fewer_episodes(records: Records) -> None:
    at = of(records, "attempt_closed", "certify")[0]
    records[at] = changed(records[at], episodes=1)


def call_gate_seeds_a_certificate(records: Records) -> None:
    at = of(records, "evidence", "certify")[0]
    records[at] = changed(records[at], stream="gate")


def call_the_screen_passed_with_confidence(records: Records) -> None:
    at = of(records, "evidence", "gate")[0]
    records[at] = changed(records[at], confidence=0.99)


def call_the_screen_failed(records: Records) -> None:
    at = of(records, "evidence", "gate")[0]
    records[at] = changed(records[at], screen="failed")


def allow_more_in_the_screen(records: Records) -> None:
    at = of(records, "evidence", "gate")[0]
    records[at] = changed(records[at], allowed=50)


def roll_back_without_degradation(records: Records) -> None:
    at = of(records, "gate_decision", "gate")[0]
    records[at] = changed(records[at], action="rollback")


def shorten_the_horizon(records: Records) -> None:
    at = of(records, "scenario_registered", "gate")[0]
    records[at] = changed(records[at], horizon=3)


def compute_evidence_with_another_version(records: Records) -> None:
    at = of(records, "evidence", "certify")[0]
    versions = {**records[at].payload["versions"], "numpy": "1.0.0"}
    records[at] = changed(records[at], versions=versions)


def tell_surplus_in_evidence(records: Records) -> None:
    at = of(records, "evidence", "certify")[0]
    records[at] = changed(records[at], surplus=900)


def log_more_failed_surplus_than_ran(records: Records) -> None:
    at = of(records, "attempt_closed", "certify")[0]
    records[at] = changed(records[at], surplus=1, surplus_violated=2)


def decide_for_another_attempt(records: Records) -> None:
    at = of(records, "gate_decision", "gate")[0]
    records[at] = changed(records[at], reasons=["attempt 2 certified"])


def decide_for_an_outcome_that_was_not(records: Records) -> None:
    at = of(records, "gate_decision", "gate")[0]
    records[at] = changed(records[at], reasons=["attempt 1 refuted"])


def name_the_scenario_otherwise(records: Records) -> None:
    at = of(records, "scenario_registered", "gate")[0]
    records[at] = changed(records[at], name="chain/harder-v0")


def hand_over_other_sources(records: Records) -> None:
    at = of(records, "scenario_registered", "gate")[0]
    source = copy.deepcopy(records[at].payload["source"])
    source["files"][0]["digest"] = "sha256:" + "0" * 64
    records[at] = changed(records[at], source=source)


@pytest.mark.parametrize(
    "plant",
    [
        judge_a_shard_twice,
        count_the_screen_as_certification,
        leave_a_shard_unjudged,
        register_a_plan_twice,
        register_claims_twice,
        register_no_plan,
        spend_a_looser_level,
        raise_the_cap_of_the_attempt,
        spend_one_number_on_two_policies,
        start_no_attempt,
        close_with_another_outcome,
        close_with_fewer_episodes,
        call_gate_seeds_a_certificate,
        call_the_screen_passed_with_confidence,
        call_the_screen_failed,
        allow_more_in_the_screen,
        roll_back_without_degradation,
        shorten_the_horizon,
        compute_evidence_with_another_version,
        tell_surplus_in_evidence,
        log_more_failed_surplus_than_ran,
        decide_for_another_attempt,
        decide_for_an_outcome_that_was_not,
        name_the_scenario_otherwise,
        hand_over_other_sources,
    ],
    ids=lambda plant: plant.__name__.replace("_", " "),
)
def test_a_fault_that_keeps_the_log_well_formed_is_found(
    run: Path, plant: Callable[[Records], None]
) -> None:
    records = list(read_log(run))
    plant(records)
    assert rederive(run, records)


def test_an_attempt_that_was_replayed_in_the_same_log_derives_again(tmp_path: Path) -> None:
    setting = make_setting(chain_spec(0.0), Gate(plan=GatePlan()))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=tmp_path / "home")
    policy = still("twice")
    with AuditLog.create(tmp_path / "run") as log:
        register(log, setting)
        record_frozen(log, policy, 1)
        certifier = Certifier(setting, ledger, log, tmp_path / "run" / "traces")
        assert [certifier.attempt(policy).replayed for _ in range(2)] == [False, True]
        log.close("certified")
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", report.steps


def test_after_a_resumption_other_versions_may_have_computed(run: Path) -> None:
    records = list(read_log(run))
    compute_evidence_with_another_version(records)
    payload = {"from": {"size": 1, "root": "sha256:" + "0" * 64}, "superseded": 0}
    resumed = dataclasses.replace(records[0], kind="run_resumed", payload=payload)
    at = of(records, "attempt_started", "certify")[0]
    records.insert(at, resumed)
    assert rederive(run, records) == []


def test_a_run_keeps_its_sources_and_the_versions_of_all_packages(run: Path) -> None:
    told = next(r.payload for r in read_log(run) if r.kind == "scenario_registered")
    parts = json.loads((run / told["source"]["declared"]["artifact"]).read_bytes())
    assert digest_json(parts) == told["digest"]
    for entry, (name, digest) in zip(told["source"]["files"], parts["sources"], strict=True):
        assert digest_bytes((run / entry["artifact"]).read_bytes()) == digest
        assert entry["artifact"].endswith(name)
    kept = json.loads((run / told["environment"]["artifact"]).read_bytes())
    assert kept["packages"]["numpy"] == importlib.metadata.version("numpy")
    assert set(kept) == {"python", "implementation", "system", "packages"}
    assert str(Path.home()) not in json.dumps(kept)


def test_sources_that_were_taken_away_are_missing_rather_than_wrong(
    run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    shutil.rmtree(folder / "scenario")
    found = rederive(folder, read_log(folder))
    assert [(each.missing, each.detail) for each in found] == [
        (True, "the scenario's sources are missing")
    ]
