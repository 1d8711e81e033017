"""The regression suite before an attempt: it holds the gate, and the log shows that it did."""

import copy
import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gusty import gusty_spec, strength

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.record import AuditRecord
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError, GateError
from safegym.gate.attempt import Certifier
from safegym.gate.decide import Decision, GateKeeper
from safegym.gate.events import SuiteDone
from safegym.gate.freezing import policy_folder
from safegym.gate.keeping import TrainingGate
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.replay import Counterexample
from safegym.gate.setting import make_setting
from safegym.gate.suite import RegressionSuite
from safegym.gate.suite_check import SuiteCheck
from safegym.policy.base import Policy
from safegym.scenario.record import record

TRAINING = {"replay": {"suite": 3}}
Records = list[AuditRecord]


@dataclass(frozen=True)
class Epoch:
    epoch: int


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def suite_of(*gusts: float, capacity: int = 3) -> RegressionSuite:
    """Starts that a policy of less strength does not pass."""
    suite, spec = RegressionSuite(capacity), gusty_spec()
    for seed, gust in enumerate(gusts):
        options = {"parameters": {"gust": gust}}
        trace = record(spec, strength(0.0), seed, options=options)
        suite.add(Counterexample.of(trace, "gusty.stays", -gust, "train", options))
    return suite


class Gated:
    """A gate with a suite, in a run folder of its own."""

    def __init__(self, folder: Path, suite: RegressionSuite) -> None:
        plan = GatePlan(screen_episodes=30, cap=300)
        self.setting = make_setting(gusty_spec(), Gate(plan=plan))
        self.ledger = AttemptLedger(self.setting.spec.digest, self.setting.claims_digest)
        self.log = AuditLog.create(folder)
        register(self.log, self.setting, settings=TRAINING)
        self.heard: list[Any] = []
        certifier = Certifier(
            self.setting, self.ledger, self.log, folder / "traces", self.heard.append
        )
        self.keeper = GateKeeper(certifier, (SuiteCheck(certifier, lambda: suite),))

    def asked(self, epoch: int, policy: Policy) -> Decision:
        return self.keeper.after_epoch(Epoch(epoch), lambda: policy)


def test_a_start_that_is_not_passed_any_more_holds_the_gate_and_is_named(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run", suite_of(0.5, 0.99, 0.6))
    decision = gated.asked(1, strength(0.98))
    assert decision.action == "hold"
    assert "1 of 3 starts that were passed before" in decision.reasons[0]
    assert "gusty.stays from seed 1" in decision.reasons[0]
    named = policy_folder(Path("RUN"), strength(0.98).card.digest)
    assert "safegym bank show RUN 1" in decision.reasons[1]
    assert f"--start-from {named} --set replay.suite=0" in decision.reasons[1]
    assert gated.ledger.attempts() == ()
    again = [item for item in decision.failing if item.origin == "suite"]
    assert [(item.trace.seed, item.options) for item in again] == [
        (1, {"parameters": {"gust": 0.99}})
    ]
    (done,) = [event for event in gated.heard if isinstance(event, SuiteDone)]
    assert (done.starts, [start.seed for start in done.failed]) == (3, [1])
    gated.log.close("stopped")
    assert rederive(tmp_path / "run", read_log(tmp_path / "run")) == []


def test_a_policy_held_by_the_suite_is_not_promoted_at_the_end_either(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run", suite_of(0.99))
    assert gated.asked(1, strength(0.98)).action == "hold"
    decision = gated.keeper.at_end(Epoch(1))
    assert decision.action == "stop"
    assert decision.reasons[0] == "training steps used up; no policy certified"
    assert "1 of 1 starts that were passed before" in decision.reasons[1]
    assert gated.ledger.attempts() == ()
    gated.log.close("finished")
    assert rederive(tmp_path / "run", read_log(tmp_path / "run")) == []


def test_a_policy_that_passes_the_suite_is_certified_on_seeds_outside_of_it(
    tmp_path: Path,
) -> None:
    gated = Gated(tmp_path / "run", suite_of(0.5, 0.9))
    decision = gated.asked(1, strength(1.0))
    assert decision.action == "promote"
    gated.log.close("promoted")
    records = read_log(tmp_path / "run")
    assert rederive(tmp_path / "run", records) == []
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact"
    order = [r.kind for r in records if r.kind in ("regression", "attempt_started", "promotion")]
    assert order == ["regression", "attempt_started", "promotion"]
    streams = {r.payload["stream"] for r in records if r.kind == "trace_shard"}
    assert streams == {"gate", "suite", "certify"}
    assert gated.ledger.is_burnt(0)
    assert gated.ledger.is_burnt(1)


def test_a_seed_of_the_suite_cannot_certify(tmp_path: Path) -> None:
    suite, policy = suite_of(0.5), strength(1.0)
    gated = Gated(tmp_path / "run", suite)
    drawn = gated.setting.seeds(policy.card.digest, "certify", 1)(40)
    suite.add(dataclasses.replace(suite.starts[0], seed=drawn))
    with pytest.raises(EvidenceError, match=f"Seed {drawn} was replayed in training"):
        gated.asked(1, policy)
    gated.log.close("stopped")


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Records]:
    folder = tmp_path_factory.mktemp("suite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(folder / "home"))
        gated = Gated(folder / "run", suite_of(0.5, 0.9))
        gated.asked(1, strength(1.0))
        gated.log.close("promoted")
    return folder / "run", list(read_log(folder / "run"))


def changed(records: Records, change: Callable[[dict[str, Any]], object]) -> Records:
    found: Records = []
    for entry in records:
        payload = copy.deepcopy(dict(entry.payload))
        if entry.kind == "regression":
            change(payload)
        found.append(dataclasses.replace(entry, payload=payload))
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.update(passed=False), "comes out as passed: True"),
        (lambda p: p["starts"].pop(), "ran other episodes than its starts name"),
        (lambda p: p["starts"][0].update(status="violated"), "comes out as satisfied, logged"),
        (lambda p: p["starts"][0].update(seed="17"), "is not the one from seed 17"),
        (lambda p: p.update(joined=3), "1 starts left a regression suite that was not full"),
        (lambda p: p.update(scenario="sha256:other"), "logged 'sha256:other'"),
        (lambda p: p["starts"][0]["options"]["parameters"].update(gust=0.4), "was begun with gust"),
    ],
)
def test_a_suite_that_is_told_otherwise_than_it_ran_is_found(
    promoted: tuple[Path, Records], change: Callable[[dict[str, Any]], object], words: str
) -> None:
    folder, records = promoted
    assert words in "\n".join(str(found) for found in rederive(folder, changed(records, change)))


def test_an_attempt_without_the_suite_that_the_plan_asks_for_is_found(
    promoted: tuple[Path, Records],
) -> None:
    folder, records = promoted
    without = [entry for entry in records if entry.kind != "regression"]
    words = "\n".join(str(found) for found in rederive(folder, without))
    assert "an attempt on a policy that was not run on the regression suite" in words


def test_an_open_verdict_holds_the_gate_as_a_violation_does(tmp_path: Path) -> None:
    suite, spec = suite_of(0.5), gusty_spec()
    trace = record(spec, strength(0.0), 9)
    suite.add(Counterexample.of(trace, "gusty.unknown", -1.0, "train"))
    gated = Gated(tmp_path / "run", suite)
    decision = gated.asked(1, strength(1.0))
    assert decision.action == "hold"
    assert "gusty.unknown from seed 9" in decision.reasons[0]
    gated.log.close("stopped")


def test_a_start_that_left_a_full_suite_and_joins_again_gives_no_false_alarm(
    tmp_path: Path,
) -> None:
    suite = suite_of(0.5, 0.6, 0.99)
    first, last = suite.starts[0], suite.starts[2]
    gated = Gated(tmp_path / "run", suite)
    assert gated.asked(1, strength(0.98)).action == "hold"
    suite.add(dataclasses.replace(last, seed=7))
    suite.add(first)
    assert gated.asked(2, strength(1.0)).action == "promote"
    done = [event for event in gated.heard if isinstance(event, SuiteDone)]
    assert [len(event.failed) for event in done] == [1, 0]
    gated.log.close("promoted")
    assert rederive(tmp_path / "run", read_log(tmp_path / "run")) == []


def test_a_gate_with_a_suite_and_no_bank_is_refused(tmp_path: Path) -> None:
    setting = make_setting(gusty_spec(), Gate(plan=GatePlan(screen_episodes=30, cap=300)))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    gate = TrainingGate(setting, ledger, tmp_path / "run", suite=3)
    with pytest.raises(GateError, match=r"set gate\.bank = lambda: trainer\.bank"):
        gate._suite()
