"""Suite and burst in a whole training: from failing starts to a certified policy, and resumed."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from gusty import gusty_spec, strength
from typer.testing import CliRunner

from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.references import LeafIndex
from safegym.cli.bank import app
from safegym.errors import GateError, RunFolderError
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.events import BurstDone, SuiteDone
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.replay import ReplaySettings
from safegym.gate.stored_bank import read_bank
from safegym.gate.suite_of_run import check_suite
from safegym.gate.trainer import events
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.training import TrainingRun, resume, train
from safegym.scenario.record import record

SPEC = gusty_spec(effort=3.0)
KINDS = ("regression", "falsification", "gate_decision")
PLAN = GatePlan(gate_every=256, screen_episodes=20, cap=200, attempts=9)
SETTINGS = TrainSettings(
    steps=4096,
    gate_every=256,
    n_envs=2,
    n_steps=64,
    batch_size=64,
    n_epochs=5,
    learning_rate=3e-3,
    net_arch=(8,),
    log_std_init=-1.0,
    seed=1,
    replay=ReplaySettings(share=0.5, retire_after=1, suite=8),
    burst=BurstSettings(budget=30),
)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def trained(out: Path, listener: Callable[[Any], None]) -> TrainingRun:
    gate = Gate(plan=PLAN)
    return train(SPEC, gate=gate, out=out, settings=SETTINGS, listener=listener)


def told(folder: Path) -> list[Any]:
    """What the records in force say of suites, bursts and decisions, apart from file names."""
    records = [r for r in in_force(folder) if r.kind in KINDS]
    fields = ("epoch", "policy", "starts", "passed", "finds", "episodes", "action", "reasons")
    return [
        (r.kind, {name: r.payload[name] for name in fields if name in r.payload}) for r in records
    ]


def in_force(folder: Path) -> tuple[AuditRecord, ...]:
    records = read_log(folder)
    index = LeafIndex()
    for entry in records:
        index.add(entry.kind, entry.payload_digest, entry.payload)
    return tuple(r for r in records if r.index not in index.superseded)


@dataclass(frozen=True)
class Done:
    """A whole run and what was heard of it."""

    folder: Path
    run: TrainingRun
    heard: list[Any]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("gusty")
    heard: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(folder / "home"))
        patch.setattr(os, "fsync", lambda handle: None)
        return Done(folder / "run", trained(folder / "run", heard.append), heard)


def test_a_training_certifies_a_policy_that_passes_what_earlier_ones_failed(done: Done) -> None:
    assert done.run.status == "promoted"
    records = read_log(done.folder)
    assert rederive(done.folder, records) == []
    attempts = [at for at, r in enumerate(records) if r.kind == "attempt_started"]
    assert attempts
    for at in attempts:
        kinds = [r.kind for r in records[:at] if r.payload.get("policy") == policy(records[at])]
        assert kinds[-1] == "falsification"
        assert "regression" in kinds


def test_the_suite_holds_what_the_run_retired(done: Done) -> None:
    suites = [event for event in done.heard if isinstance(event, SuiteDone)]
    assert suites[-1].passed
    retired = {e.start.key for e in done.heard if isinstance(e, events.Replayed) and e.retired}
    stored = read_bank(done.folder)
    suite = [each for each in stored.kept if each.place == "suite"]
    assert {each.start.key for each in suite} <= retired
    assert len(suite) == suites[-1].starts == min(8, len(retired)) > 0
    last = [r for r in read_log(done.folder) if r.kind == "regression"][-1]
    told_of = [(entry["claim_id"], entry["seed"]) for entry in last.payload["starts"]]
    assert told_of == [(each.start.claim_id, str(each.start.seed)) for each in suite]


def test_bank_list_shows_each_start_and_what_stands_where(done: Done) -> None:
    shown = CliRunner().invoke(app, ["list", str(done.folder), "--json"])
    document = json.loads(shown.stdout)
    stored = read_bank(done.folder)
    assert [each["key"] for each in document["starts"]] == [k.start.key for k in stored.kept]
    assert document["burnt"] == len(
        {e.start.seed for e in done.heard if isinstance(e, events.Replayed)}
    )
    told_to_people = CliRunner().invoke(app, ["list", str(done.folder), "--place", "suite"])
    assert told_to_people.exit_code == 0
    assert "must be passed before an attempt" in told_to_people.stdout
    assert "suite" in told_to_people.stdout


def test_bank_show_gives_the_line_that_runs_a_start_again(done: Done) -> None:
    kept = next(each for each in read_bank(done.folder).kept if each.place == "suite")
    shown = CliRunner().invoke(app, ["show", str(done.folder), str(kept.start.seed)])
    assert shown.exit_code == 0
    assert f'safegym.record("test/gusty-v0", policy, seed={kept.start.seed}' in shown.stdout
    again = record(SPEC, strength(0.0), kept.start.seed, options=kept.start.options)
    assert dict(again.parameters) == dict(kept.start.parameters)
    with pytest.raises(GateError, match="No start of this run has the seed or key 'nothing'"):
        read_bank(done.folder).find("nothing")


def test_the_suite_of_a_run_is_run_on_any_policy(done: Done) -> None:
    assert check_suite(done.folder, strength(1.0), scenario=SPEC).passed
    found = check_suite(done.folder, strength(0.0), scenario=SPEC)
    assert not found.passed
    assert "that were passed before are not passed now: gusty.stays from seed" in found.reasons[0]
    other = gusty_spec(effort=4.0)
    with pytest.raises(GateError, match="its code, assets or physics changed"):
        check_suite(done.folder, strength(1.0), scenario=other)


def test_a_folder_without_a_training_holds_no_bank(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError):
        read_bank(tmp_path)


def policy(record: AuditRecord) -> str:
    return str(record.payload["policy"])


@pytest.mark.slow
def test_a_run_broken_off_in_its_suite_or_burst_resumes_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = trained(tmp_path / "straight", lambda event: None)
    for kind in (SuiteDone, BurstDone):
        out = tmp_path / kind.__name__
        monkeypatch.setenv("SAFEGYM_HOME", str(out.with_name(f"home of {kind.__name__}")))

        def cut(event: Any, kind: type = kind) -> None:
            if isinstance(event, kind):
                raise KeyboardInterrupt

        assert trained(out, cut).status == "interrupted"
        again = resume(out, scenario=SPEC)
        assert (again.status, again.policy_digest) == ("promoted", straight.policy_digest)
        assert told(out) == told(tmp_path / "straight")
        assert rederive(out, in_force(out)) == []


def test_a_burst_on_an_unknown_claim_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    settings = replace(SETTINGS, burst=BurstSettings(claims=("gusty.falls",)))
    with pytest.raises(GateError, match=r"is to search gusty\.falls, which the gate does not hold"):
        train(SPEC, gate=Gate(plan=PLAN), out=tmp_path / "run", settings=settings)
    assert not (tmp_path / "run").exists()
