"""A falsification burst between a passed screen and an attempt."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from gusty import HOLDS, STAYS, gusty_spec, strength

from safegym.audit.log import AuditLog
from safegym.audit.read import read_log
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.attempt import Certifier
from safegym.gate.burst import BurstCheck, search_seed
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.decide import Decision, GateKeeper
from safegym.gate.events import BurstDone
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.rederive import rederive
from safegym.gate.registration import register
from safegym.gate.setting import make_setting
from safegym.policy.base import Policy


@dataclass(frozen=True)
class Epoch:
    epoch: int


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)


class Gated:
    """A gate with a burst, in a run folder of its own."""

    def __init__(self, folder: Path, *claims: Claim, **burst: Any) -> None:
        self.folder = folder
        plan = GatePlan(screen_episodes=20, cap=400)
        self.setting = make_setting(gusty_spec(*claims), Gate(plan=plan))
        self.ledger = AttemptLedger(self.setting.spec.digest, self.setting.claims_digest)
        self.log = AuditLog.create(folder)
        register(self.log, self.setting)
        self.heard: list[Any] = []
        certifier = Certifier(
            self.setting, self.ledger, self.log, folder / "traces", self.heard.append
        )
        settings = BurstSettings(**{"budget": 40, **burst})
        self.keeper = GateKeeper(certifier, (BurstCheck(certifier, settings),))

    def asked(self, policy: Policy) -> Decision:
        return self.keeper.after_epoch(Epoch(1), lambda: policy)

    def rederived(self) -> None:
        """Closes the log; it must be intact, and give again what it says."""
        self.log.close("stopped")
        assert rederive(self.folder, read_log(self.folder)) == []
        report = verify(self.folder, keys=[default_key()], rederive=rederive)
        assert report.result == "intact"


def test_finds_are_banked_and_burnt_and_certification_goes_on(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run")
    decision = gated.asked(strength(0.98))
    assert decision.action == "promote"
    found = [item for item in decision.failing if item.origin == "falsify"]
    assert found
    assert all(item.violated for item in found)
    assert all(item.options["parameters"]["gust"] > 0.98 for item in found)
    assert all(gated.ledger.is_burnt(item.trace.seed) for item in found)
    (done,) = [event for event in gated.heard if isinstance(event, BurstDone)]
    assert done.finds == {"gusty.stays": len(found)}
    assert done.episodes <= 40
    assert any("falsification burst" in reason for reason in decision.reasons)
    kinds = [r.kind for r in read_log(tmp_path / "run")]
    assert kinds.index("falsification") < kinds.index("attempt_started")
    gated.rederived()


def test_a_policy_without_counterexamples_is_certified_and_nothing_is_banked(
    tmp_path: Path,
) -> None:
    gated = Gated(tmp_path / "run")
    decision = gated.asked(strength(1.0))
    assert decision.action == "promote"
    assert decision.failing == ()
    assert decision.reasons == ("certified at attempt 1",)
    (record,) = [r for r in read_log(tmp_path / "run") if r.kind == "falsification"]
    assert record.payload["found"] is False
    gated.rederived()


def test_a_find_on_an_invariant_holds_the_gate_and_spends_no_attempt(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run", STAYS, HOLDS)
    decision = gated.asked(strength(0.999))
    assert decision.action == "hold"
    assert "held for a violation of gusty.holds" in decision.reasons[-1]
    assert gated.ledger.attempts() == ()
    gated.rederived()


@pytest.mark.parametrize(("holds", "action"), [("any", "hold"), ("never", "promote")])
def test_what_holds_is_the_plans_to_say(tmp_path: Path, holds: str, action: str) -> None:
    gated = Gated(tmp_path / "run", holds=holds)
    assert gated.asked(strength(0.98)).action == action
    gated.rederived()


def test_a_burst_takes_another_seed_for_each_policy_epoch_and_claim() -> None:
    seeds = {
        search_seed(0, policy, "sha256:s", epoch, number)
        for policy in ("sha256:a", "sha256:b")
        for epoch in (1, 2)
        for number in (0, 1)
    }
    assert len(seeds) == 8
    assert search_seed(0, "sha256:a", "sha256:s", 1, 0) in seeds


def test_two_bursts_on_the_same_policy_find_the_same(tmp_path: Path) -> None:
    logs = []
    for name in ("one", "two"):
        gated = Gated(tmp_path / name)
        gated.asked(strength(0.98))
        records = read_log(tmp_path / name)
        logs.append([r.payload_digest for r in records if r.kind == "falsification"])
        gated.log.close("stopped")
    assert logs[0] == logs[1] != []


def test_a_burst_that_tells_of_another_claim_or_scenario_is_found(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run")
    gated.asked(strength(0.98))
    gated.log.close("stopped")
    for name in ("scenario", "claim_digest"):
        records = [
            replace(r, payload={**r.payload, name: "sha256:other"})
            if r.kind == "falsification"
            else r
            for r in read_log(tmp_path / "run")
        ]
        words = "\n".join(str(found) for found in rederive(tmp_path / "run", records))
        assert f"{name} comes out as" in words


def test_a_find_that_is_told_of_an_episode_that_was_safe_is_found(tmp_path: Path) -> None:
    gated = Gated(tmp_path / "run")
    gated.asked(strength(0.98))
    gated.log.close("promoted")
    records = list(read_log(tmp_path / "run"))
    (at,) = [place for place, r in enumerate(records) if r.kind == "falsification"]
    none = {**records[at].payload, "finds": []}
    records[at] = replace(records[at], payload=none)
    words = "\n".join(str(found) for found in rederive(tmp_path / "run", records))
    assert "0 finds are logged as found: True" in words


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"budget": -1}, "budget=-1 episodes; give a whole number from 0"),
        ({"budget": 2.5}, "budget=2.5"),
        ({"claims": "gusty.stays"}, 'write ids, claims=\\("arm.stop",\\)'),
        ({"faults": 1}, "write True or False"),
        ({"holds": "sometimes"}, "write one of never, invariants, any"),
    ],
)
def test_bad_settings_of_a_burst_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(GateError, match=words):
        BurstSettings(**wrong)


def test_a_burst_on_a_claim_that_is_not_gated_is_refused_with_those_that_are() -> None:
    with pytest.raises(GateError, match=r"which the gate does not hold to; it has gusty\.stays"):
        BurstSettings(claims=("gusty.never",)).refuse_unknown(["gusty.stays"])


def test_settings_of_a_burst_come_back_from_json() -> None:
    chosen = BurstSettings(budget=7, claims=("a",), faults=True, holds="any")
    assert BurstSettings.from_json(chosen.to_json()) == chosen
    with pytest.raises(GateError, match="malformed"):
        BurstSettings.from_json({"budgets": 3})
