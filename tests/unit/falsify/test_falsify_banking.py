"""Finds in the counterexample bank: honoured by the trainer, refused by certification."""

import json
from dataclasses import replace

import pytest
from falsify_models import idle, over, sum_of_pushes, tank, weighted

from safegym.audit.log import AuditLog
from safegym.check.falsify import falsify as search
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError, GateError, RunFolderError
from safegym.formula.claim import set_digest
from safegym.gate.falsifying import bank_finds, counterexample, falsify
from safegym.gate.replay import Counterexample, ReplayBank, ReplaySettings
from safegym.gate.trainer import events
from safegym.gate.trainer.given import STARTS, give_starts, given_starts
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings

SPEC = tank(weighted, 2.5)


def settings(**changes) -> TrainSettings:
    fields = {
        "steps": 64,
        "gate_every": 64,
        "n_envs": 2,
        "n_steps": 32,
        "batch_size": 32,
        "n_epochs": 1,
        "net_arch": (4,),
        "seed": 3,
        "replay": ReplaySettings(share=0.5),
    }
    return TrainSettings(**{**fields, **changes})


def bank_of(spec=SPEC):
    return ReplayBank(spec.digest, ReplaySettings())


def the_find(spec=SPEC, **more):
    (find,) = search(spec, idle(), budget=100, **more).finds
    return find


def test_a_find_becomes_a_start_with_its_options_and_its_origin():
    find = the_find()
    start = counterexample(find)
    assert (start.origin, start.seed, start.margin) == ("falsify", find.seed, find.margin)
    assert start.options == find.start
    assert start.parameters["push[0]"] == find.options["disturbances"]["push"][0]
    assert Counterexample.from_json(json.loads(json.dumps(start.to_json()))) == start


def test_finds_enter_a_bank_once_and_their_seeds_are_burnt():
    bank = bank_of()
    found = falsify(SPEC, idle(), budget=100, seed=7, bank=bank)
    assert [entry.start.origin for entry in bank.entries] == ["falsify"]
    assert bank_finds(found.finds, bank, SPEC) == 0
    assert ReplayBank.from_json(json.loads(json.dumps(bank.to_json())), SPEC.digest).entries
    ledger = AttemptLedger(SPEC.digest, set_digest((over(9.0),)))  # burnt for any claim set
    assert ledger.is_burnt(found.finds[0].seed)
    with pytest.raises(EvidenceError, match="cannot enter a certificate"):
        ledger.refuse_burnt(found.finds[0].seed)


def test_a_search_without_a_bank_burns_nothing():
    find = the_find(seed=99)
    assert not AttemptLedger(SPEC.digest, set_digest(SPEC.claims)).is_burnt(find.seed)


def test_a_find_of_another_scenario_is_refused():
    with pytest.raises(GateError, match="starts are not carried between scenarios"):
        bank_finds((the_find(),), bank_of(), tank(sum_of_pushes))


def test_a_folder_of_something_else_is_refused_before_anything_is_searched(tmp_path):
    (tmp_path / "letters.txt").write_text("dear", encoding="utf-8")
    heard = []
    with pytest.raises(RunFolderError, match="holds no training run, and is not empty"):
        falsify(SPEC, idle(), bank=tmp_path, listener=heard.append)
    assert not heard


def test_a_run_on_another_scenario_is_refused(tmp_path):
    Trainer(SPEC, settings(), tmp_path / "run", NoGate()).run()
    with pytest.raises(GateError, match="trains on sha256"):
        falsify(tank(sum_of_pushes), idle(), bank=tmp_path / "run")


def test_a_run_that_has_ended_is_refused_before_anything_is_searched(tmp_path):
    out, heard = tmp_path / "run", []
    Trainer(SPEC, settings(), out, NoGate()).run()
    with AuditLog.create(out) as log:
        log.close("finished")
    with pytest.raises(GateError, match=r"has ended \(finished\) and would never replay"):
        falsify(SPEC, idle(), bank=out, listener=heard.append)
    assert not heard


def test_a_run_that_has_not_begun_takes_the_finds_when_it_begins(tmp_path):
    out, heard = tmp_path / "new", []
    (find,) = falsify(SPEC, idle(), budget=100, seed=1, bank=out).finds
    falsify(SPEC, idle(), budget=100, seed=2, bank=out)
    Trainer(SPEC, settings(), out, NoGate(), listener=heard.append).run()
    replayed = [e.start for e in heard if isinstance(e, events.Replayed)]
    assert {start.origin for start in replayed} == {"falsify"}
    assert counterexample(find).key in {e.start.key for e in heard if isinstance(e, events.Banked)}


def test_a_run_replays_banked_finds_with_their_options_when_it_goes_on(tmp_path):
    out, heard = tmp_path / "run", []
    Trainer(SPEC, settings(), out, NoGate()).run()
    found = falsify(SPEC, idle(), budget=100, bank=out)
    (find,) = found.finds
    _longer(out)
    trainer = Trainer.resume(SPEC, out, NoGate(), listener=heard.append)
    trainer.run()
    banked = [e.start for e in heard if isinstance(e, events.Banked)]
    assert [s.key for s in banked if s.origin == "falsify"] == [counterexample(find).key]
    replayed = [e for e in heard if isinstance(e, events.Replayed) and e.start.origin == "falsify"]
    assert replayed
    traces = {e.trace.digest: e.trace for e in heard if isinstance(e, events.ViolationFound)}
    for event in replayed:
        assert event.status == "violated"
        trace = traces[event.trace_digest]
        assert trace.seed == find.seed
        assert dict(trace.parameters) == dict(find.parameters)
        assert event.margin == find.margin
    assert find.seed in trainer.bank.burnt


def test_what_a_run_has_taken_it_does_not_take_again(tmp_path):
    out, heard = tmp_path / "run", []
    Trainer(SPEC, settings(), out, NoGate()).run()
    bank_finds((the_find(),), out, SPEC)
    for _ in range(2):
        _longer(out)
        Trainer.resume(SPEC, out, NoGate(), listener=heard.append).run()
    banked = [e for e in heard if isinstance(e, events.Banked) and e.start.origin == "falsify"]
    assert len(banked) == 1


def test_starts_given_twice_are_held_once_and_a_damaged_file_is_named(tmp_path):
    start = counterexample(the_find())
    other = replace(start, seed=start.seed + 1)
    assert give_starts(tmp_path, [start, start]) == 1
    assert give_starts(tmp_path, [start, other]) == 1
    assert given_starts(tmp_path) == (start, other)
    (tmp_path / STARTS).write_text('{"starts": [{"seed": "x"}]}', encoding="utf-8")
    with pytest.raises(RunFolderError, match="cannot be read"):
        given_starts(tmp_path)


def _longer(out) -> None:
    """Let a run that has used up its steps go on for another epoch."""
    path = out / "training.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["settings"]["steps"] += 64
    path.write_text(json.dumps(document), encoding="utf-8")
    (out / "decision.json").unlink(missing_ok=True)
