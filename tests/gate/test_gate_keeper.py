"""What the gate decides, on policies whose failure probability is known exactly."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chain import acted_spec, failing

from safegym.audit.log import AuditLog
from safegym.audit.sign import default_key
from safegym.audit.verify import verify
from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError, GateError
from safegym.gate.attempt import Certifier
from safegym.gate.decide import Decision, GateKeeper
from safegym.gate.freezing import record_frozen
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


def gate(home: Path, log: AuditLog | None = None, **plan: Any) -> GateKeeper:
    """A gate over `acted_spec`; plan: what differs from a small default plan."""
    chosen = GatePlan(**{"screen_episodes": 100, "cap": 700, "attempts": 3, "patience": 2, **plan})
    setting = make_setting(acted_spec(), Gate(plan=chosen))
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest, folder=home)
    folder = None if log is None else log.folder / "traces"
    return GateKeeper(Certifier(setting, ledger, log, folder))


def asked(keeper: GateKeeper, epoch: int, policy: Policy) -> Decision:
    return keeper.after_epoch(Epoch(epoch), lambda: policy)


GOOD, POOR, BAD = failing("good", 0.0), failing("poor", 0.03), failing("bad", 0.6)


def test_a_clean_policy_is_promoted_on_its_own_evidence(tmp_path: Path) -> None:
    keeper = gate(tmp_path)
    decision = asked(keeper, 1, GOOD)
    assert decision.action == "promote"
    assert decision.policy_digest == keeper.promoted == GOOD.card.digest
    assert [item.status for item in decision.evidence] == ["satisfied"]


def test_a_poor_policy_is_held_and_its_failures_are_banked(tmp_path: Path) -> None:
    keeper = gate(tmp_path)
    decision = asked(keeper, 1, POOR)
    assert decision.action == "hold"
    assert decision.failing
    assert all(judged.violated for judged in decision.failing)
    assert not keeper.tried


def test_nothing_rolls_back_before_a_screen_has_passed(tmp_path: Path) -> None:
    keeper = gate(tmp_path)
    assert [asked(keeper, epoch, BAD).action for epoch in (1, 2, 3)] == ["hold"] * 3


def lucky() -> Policy:
    """Above the threshold, passes its screen of 10 and fails to certify."""
    return failing("lucky", 0.02)


def test_after_a_passed_screen_a_degraded_one_rolls_back_to_it_and_patience_stops(
    tmp_path: Path,
) -> None:
    keeper = gate(tmp_path, screen_episodes=10)
    assert asked(keeper, 1, lucky()).action == "hold"
    assert [item.outcome for item in keeper.tried] == ["futile"]
    back = asked(keeper, 2, BAD)
    assert (back.action, back.policy_digest) == ("rollback", lucky().card.digest)
    assert keeper.keeps() == (lucky().card.digest,)
    stopped = asked(keeper, 3, BAD)
    assert stopped.action == "stop"
    assert "2 screens in a row" in stopped.reasons[0]


def test_a_screen_that_does_not_degrade_ends_the_row_of_degraded_ones(tmp_path: Path) -> None:
    keeper = gate(tmp_path, screen_episodes=10)
    asked(keeper, 1, lucky())
    actions = [
        asked(keeper, 2, BAD),
        asked(keeper, 3, failing("so so", 0.05)),
        asked(keeper, 4, BAD),
    ]
    assert [item.action for item in actions] == ["rollback", "hold", "rollback"]


def test_used_up_attempts_stop_the_run_and_spend_nothing_more(tmp_path: Path) -> None:
    keeper = gate(tmp_path, screen_episodes=10, attempts=1)
    asked(keeper, 1, lucky())
    decision = asked(keeper, 2, GOOD)
    assert decision.action == "stop"
    assert "all 1 attempts" in decision.reasons[0]
    assert len(keeper.certifier.ledger.attempts()) == 1


def test_a_policy_that_did_not_change_is_not_certified_a_second_time(tmp_path: Path) -> None:
    keeper = gate(tmp_path, screen_episodes=10)
    asked(keeper, 1, lucky())
    decision = asked(keeper, 3, lucky())
    assert decision.action == "hold"
    assert len(keeper.tried) == 1


def test_the_end_certifies_the_kept_policies_best_first_and_no_more_than_planned(
    tmp_path: Path,
) -> None:
    keeper = gate(tmp_path, attempts=2, keep_best=3)
    third, second, best = (failing(name, p) for name, p in (("c", 1.0), ("b", 0.2), ("a", 0.03)))
    for epoch, policy in enumerate((third, best, second), start=1):
        assert asked(keeper, epoch, policy).action == "hold"
    decision = keeper.at_end(Epoch(3))
    assert decision.action == "stop"
    assert "no policy certified" in decision.reasons[0]
    tried = [best.card.digest, second.card.digest]
    assert [item.policy_digest for item in keeper.tried] == tried


def test_the_end_of_a_run_that_promoted_keeps_what_it_released(tmp_path: Path) -> None:
    keeper = gate(tmp_path)
    asked(keeper, 1, GOOD)
    asked(keeper, 2, POOR)
    end = keeper.at_end(Epoch(3))
    assert (end.action, end.policy_digest) == ("stop", GOOD.card.digest)
    assert [item.status for item in end.evidence] == ["satisfied"]


def test_state_and_restore_give_the_same_gate(tmp_path: Path) -> None:
    keeper = gate(tmp_path, screen_episodes=10)
    asked(keeper, 1, lucky())
    asked(keeper, 2, BAD)
    policies = {policy.card.digest: policy for policy in (lucky(), BAD, GOOD)}
    again = gate(tmp_path, screen_episodes=10)
    again.restore(keeper.state(), policies.__getitem__)
    assert again.state() == keeper.state()
    assert again.evidence == keeper.evidence
    assert again.keeps() == keeper.keeps()
    assert asked(again, 3, BAD).action == "stop"


def test_another_registry_in_the_middle_of_a_run_is_refused(tmp_path: Path) -> None:
    """Else a second policy would be certified at the level of attempt 1 too."""
    keeper = gate(tmp_path / "one", screen_episodes=10)
    asked(keeper, 1, lucky())
    moved = gate(tmp_path / "two", screen_episodes=10)
    moved.restore(keeper.state(), {lucky().card.digest: lucky()}.__getitem__)
    with pytest.raises(GateError, match="SAFEGYM_HOME as it was"):
        asked(moved, 2, GOOD)


def test_a_policy_tried_in_another_run_keeps_its_number_after_its_failures_were_replayed(
    tmp_path: Path,
) -> None:
    """Replay burns the seeds of its failing episodes; the attempt itself may draw them again."""
    first = gate(tmp_path, screen_episodes=10)
    decision = asked(first, 1, lucky())
    ledger = first.certifier.ledger
    ledger.burn([judged.trace.seed for judged in decision.failing])
    second = gate(tmp_path, screen_episodes=10)
    assert asked(second, 1, lucky()).reasons == decision.reasons
    assert len(ledger.attempts()) == 1


def test_seeds_burnt_before_a_policy_was_first_tried_are_refused(tmp_path: Path) -> None:
    keeper = gate(tmp_path, screen_episodes=10)
    certifier = keeper.certifier
    seed_of = certifier.setting.seeds(GOOD.card.digest, "certify", 1)
    certifier.ledger.burn([seed_of(3)])
    with pytest.raises(EvidenceError, match="replayed in training"):
        asked(keeper, 1, GOOD)


def test_a_certified_policy_replays_under_a_smaller_cap_without_a_false_alarm(
    tmp_path: Path,
) -> None:
    assert asked(gate(tmp_path), 1, GOOD).action == "promote"
    short = gate(tmp_path, cap=50).certifier.attempt(GOOD)
    assert (short.replayed, short.outcome) == (True, "futile")
    whole = gate(tmp_path).certifier.attempt(GOOD)
    assert (whole.replayed, whole.outcome) == (True, "certified")


def test_a_replay_that_ends_elsewhere_is_refused(tmp_path: Path) -> None:
    certifier = gate(tmp_path).certifier
    certifier.attempt(failing("changed", 0.0))
    with pytest.raises(EvidenceError, match="nothing is certified"):
        certifier.attempt(failing("changed", 0.9))


def test_the_log_of_a_gate_that_held_rolled_back_and_promoted_derives_again(
    tmp_path: Path,
) -> None:
    with AuditLog.create(tmp_path / "run") as log:
        keeper = gate(tmp_path / "home", log, screen_episodes=10)
        register(log, keeper.certifier.setting)
        actions = [
            asked(keeper, epoch, policy).action
            for epoch, policy in enumerate((lucky(), BAD, lucky(), GOOD), start=1)
        ]
        keeper.at_end(Epoch(5))
        log.close("promoted")
    assert actions == ["hold", "rollback", "hold", "promote"]
    report = verify(tmp_path / "run", keys=[default_key()], rederive=rederive)
    assert report.result == "intact", report.steps


def test_one_frozen_policy_certified_in_two_run_folders_gives_two_intact_trails(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        with AuditLog.create(tmp_path / name) as log:
            certifier = gate(tmp_path / "home", log).certifier
            register(log, certifier.setting)
            record_frozen(log, GOOD, 0)
            assert certifier.attempt(GOOD).number == 1
            log.close("certified")
        report = verify(tmp_path / name, keys=[default_key()], rederive=rederive)
        assert report.result == "intact", report.steps


def test_an_attempt_that_no_clean_run_could_pass_is_not_begun_and_stops_the_run(
    tmp_path: Path,
) -> None:
    keeper = gate(tmp_path, cap=400, screen_episodes=10)
    assert asked(keeper, 1, lucky()).action == "hold"
    decision = asked(keeper, 2, GOOD)
    assert decision.action == "stop"
    assert decision.reasons[0].startswith("At most 400 episodes cannot certify: attempt 2 takes")
    assert [item.number for item in keeper.tried] == [1]
    assert len(keeper.certifier.ledger.attempts()) == 1
    assert keeper.at_end(Epoch(3)).action == "stop"
    assert len(keeper.certifier.ledger.attempts()) == 1


def test_evidence_in_a_line_rounds_its_limit_outward(tmp_path: Path) -> None:
    (item,) = asked(gate(tmp_path), 1, GOOD).evidence
    assert str(item) == (
        "chain.safe: satisfied, estimated at confidence 0.9696, at most 0.009992; 0 violated and "
        "0 undecided of 377 episodes"
    )


def test_a_screen_that_comes_due_while_screens_have_taken_their_share_is_left_out(
    tmp_path: Path,
) -> None:
    keeper = gate(tmp_path, gate_every=4, screen_share=0.2)
    first = asked(keeper, 1, BAD)
    assert keeper.screened > 0.2 * 2 * 4
    waits = asked(keeper, 2, GOOD)
    assert waits.action == "hold"
    assert (
        f"screens have taken {keeper.screened:,} steps, more than 0.2 of the 8 "
        in (waits.reasons[0])
    )
    assert not first.evidence
    later = -(-keeper.screened * 5 // 4)
    assert asked(keeper, later, GOOD).action == "promote"


def test_the_steps_of_screens_are_counted_on_after_a_restore(tmp_path: Path) -> None:
    keeper = gate(tmp_path, gate_every=100)
    asked(keeper, 1, BAD)
    again = gate(tmp_path, gate_every=100)
    again.restore(keeper.state(), lambda digest: BAD)
    assert again.screened == keeper.screened > 0
