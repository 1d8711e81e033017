"""The audit trail of a certification: derived again whole, and every planted fault is found."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chain import HAZARD, chain_spec, still

from safegym.audit.log import AuditLog
from safegym.audit.record import AuditRecord
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.attempt import Attempt, Certifier
from safegym.gate.certify import log_decision
from safegym.gate.freezing import record_frozen
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.screen import Screener
from safegym.gate.setting import make_setting


def certified(folder: Path, *, failure: float = 0.001, workers: int = 1) -> Attempt:
    """A whole trail: registration, a screen, an attempt, a decision."""
    setting = make_setting(
        chain_spec(failure, (2, 5)),
        Gate(plan=GatePlan(screen_episodes=60, seed=3)),
        workers=workers,
    )
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=folder / "home")
    policy = still("candidate")
    with AuditLog.create(folder / "run") as log:
        register(log, setting)
        record_frozen(log, policy, 1)
        Screener(setting, log, folder / "run" / "traces").screen(policy, 1)
        certifier = Certifier(setting, ledger, log, folder / "run" / "traces")
        attempt = certifier.attempt(policy)
        log_decision(log, attempt)
        log.close(attempt.outcome)
    return attempt


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trail")
    assert certified(folder).outcome == "certified"
    return folder / "run"


def test_a_whole_trail_verifies_as_intact_and_derives_again(run: Path) -> None:
    report = verify(run, keys=[default_key()], rederive=rederive)
    assert report.result == "intact", [(s.name, s.detail) for s in report.steps]


def read(run: Path) -> tuple[AuditRecord, ...]:
    from safegym.audit.read import read_log

    return tuple(read_log(run))


def changed(
    records: tuple[AuditRecord, ...], kind: str, change: Callable[[dict[str, Any]], None]
) -> list[AuditRecord]:
    """The records with one payload of that kind changed, its references kept as they were."""
    import copy

    result, done = [], False
    for record in records:
        if record.kind == kind and not done:
            payload = copy.deepcopy(record.payload)
            change(payload)
            record, done = dataclasses.replace(record, payload=payload), True
        result.append(record)
    assert done
    return result


def flip_status(payload: dict[str, Any]) -> None:
    entry = payload["verdicts"][0]
    entry["status"] = "violated" if entry["status"] == "satisfied" else "satisfied"


def raise_margin(payload: dict[str, Any]) -> None:
    payload["verdicts"][0]["lo"] = 123.0


def drop_verdict(payload: dict[str, Any]) -> None:
    payload["verdicts"].pop()


def hide_violation(payload: dict[str, Any]) -> None:
    payload["violations"] += 1


def fewer_episodes(payload: dict[str, Any]) -> None:
    payload["episodes"] -= 1


def other_threshold(payload: dict[str, Any]) -> None:
    payload["obligations"][0]["threshold"] = "1/2"


def other_plan(payload: dict[str, Any]) -> None:
    payload["plan"]["cap"] = 17


def other_seed_root(payload: dict[str, Any]) -> None:
    payload["plan"]["seed"] = 99


def other_claim_text(payload: dict[str, Any]) -> None:
    payload["claims"][0]["text"] += " "


def other_first_index(payload: dict[str, Any]) -> None:
    payload["first_index"] = 7


def swap_trace(payload: dict[str, Any]) -> None:
    payload["traces"].reverse()


def unregistered_claim(payload: dict[str, Any]) -> None:
    payload["claim_id"] += ".other"


def rest_on_fewer(payload: dict[str, Any]) -> None:
    payload["rests_on"].pop()


def other_scenario(payload: dict[str, Any]) -> None:
    payload["scenario"] = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("evidence", unregistered_claim),
        ("evidence", rest_on_fewer),
        ("evidence", other_scenario),
        ("verdict", flip_status),
        ("verdict", raise_margin),
        ("verdict", drop_verdict),
        ("evidence", hide_violation),
        ("evidence", fewer_episodes),
        ("plan_registered", other_threshold),
        ("plan_registered", other_plan),
        ("plan_registered", other_seed_root),
        ("spec_registered", other_claim_text),
        ("trace_shard", other_first_index),
        ("trace_shard", swap_trace),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_planted_fault_is_found(
    run: Path, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    assert rederive(run, read(run)) == []
    assert any(not found.missing for found in rederive(run, changed(read(run), kind, change)))


@pytest.mark.parametrize("field", ["bound", "level", "status", "confidence", "method"])
def test_a_changed_figure_of_certified_evidence_is_found(run: Path, field: str) -> None:
    records = list(read(run))
    at = max(i for i, record in enumerate(records) if record.kind == "evidence")
    assert records[at].payload["attempt"] == 1
    payload = {**records[at].payload, field: 0.5 if field != "status" else "violated"}
    records[at] = dataclasses.replace(records[at], payload=payload)
    assert rederive(run, records)


def test_missing_traces_are_incomplete_not_broken(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    records = read(copy)
    shard = next(r for r in records if r.kind == "trace_shard")
    (copy / shard.payload["shard"]["artifact"]).unlink()
    found = rederive(copy, records)
    assert found
    assert found[0].missing


def shards(records: tuple[AuditRecord, ...], stream: str) -> list[str]:
    held = [r.payload for r in records if r.kind == "trace_shard" and r.payload["stream"] == stream]
    return [payload["shard"]["artifact"] for payload in held]


def test_each_shard_that_is_missing_by_itself_is_incomplete_not_broken(
    run: Path, tmp_path: Path
) -> None:
    records = read(run)
    names = shards(records, "certify")
    assert len(names) > 2
    for number, name in enumerate((names[0], names[1], names[-1], *shards(records, "gate"))):
        copy = shutil.copytree(run, tmp_path / str(number))
        (copy / name).unlink()
        found = rederive(copy, records)
        assert found
        assert [item for item in found if not item.missing] == []


def test_a_fault_elsewhere_is_found_although_a_shard_is_missing(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    (copy / shards(read(run), "certify")[0]).unlink()

    def turn(payload: dict[str, Any]) -> None:
        payload["verdicts"][0]["status"] = "violated"

    records = changed(read(run), "verdict", turn)
    assert any(not item.missing for item in rederive(copy, records))


def test_a_promotion_without_its_evidence_is_found(run: Path) -> None:
    def drop(payload: dict[str, Any]) -> None:
        payload["rests_on"] = [r for r in payload["rests_on"] if r["kind"] != "evidence"]

    assert rederive(run, changed(read(run), "gate_decision", drop))


def payloads(run: Path) -> list[tuple[str, str]]:
    return [(r.kind, r.payload_digest) for r in read(run) if r.kind in ("verdict", "evidence")]


@pytest.mark.slow
def test_one_and_four_workers_write_the_same_verdicts_and_evidence(tmp_path: Path) -> None:
    from safegym.scenario.registry import find

    found = []
    for workers in (1, 4):
        folder = tmp_path / str(workers)
        spec = find("classic/cartpole-v0")
        setting = make_setting(spec, Gate(plan=GatePlan(cap=80, seed=5)), workers=workers)
        ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=folder / "home")
        assert spec.good is not None
        with AuditLog.create(folder / "run") as log:
            register(log, setting)
            Certifier(setting, ledger, log, folder / "run" / "traces").attempt(spec.good())
            log.close("done")
        found.append(payloads(folder / "run"))
    assert found[0] == found[1]
    assert found[0]


def test_claim_order_and_levels_do_not_open_a_fresh_ledger() -> None:
    from safegym.scenario.registry import find

    spec = find("classic/cartpole-v0")
    plain = make_setting(spec, Gate(plan=GatePlan()))
    turned = make_setting(
        spec, Gate(claims=tuple(reversed(spec.claims)), plan=GatePlan(level=0.04))
    )
    assert plain.claims_digest == turned.claims_digest


def test_the_same_policy_under_other_terms_or_another_root_spends_another_attempt(
    tmp_path: Path,
) -> None:
    numbers = []
    for plan in (GatePlan(), GatePlan(), GatePlan(seed=1), GatePlan(cap=500), GatePlan(lift=0.9)):
        spec = chain_spec(0.0, (1, 2))
        claims = (*spec.claims, Claim(id="chain.always", statement=always(HAZARD < 2)))
        setting = make_setting(spec, Gate(claims=claims, plan=plan))
        ledger = AttemptLedger(spec.digest, setting.claims_digest, folder=tmp_path)
        attempt = Certifier(setting, ledger).attempt(still("one"))
        numbers.append((attempt.number, attempt.replayed))
    assert numbers == [(1, False), (1, True), (2, False), (1, True), (3, False)]
