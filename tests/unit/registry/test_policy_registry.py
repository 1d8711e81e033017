"""What counts as released follows from the signed log, and from nothing else."""

import json
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gated_run import BAD, BETTER, GOOD, begin, ended_run, epochs, keeper_of

from safegym.audit.log import AuditLog
from safegym.audit.report import write_report
from safegym.audit.sign import default_key, public_key, signer_of
from safegym.audit.verify import verify
from safegym.errors import AuditError, GateError, RunFolderError
from safegym.gate.rederive import rederive
from safegym.gate.registry import read_registry, withdraw
from safegym.gate.training import ended_with


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run that promoted GOOD and then BETTER, and the home whose key signed it."""
    place = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(place / "home"))
        ended_run(place / "run", BAD, GOOD, BAD, BETTER)
    return place


@pytest.fixture
def run(kept, tmp_path):
    """A copy of that run, under its own key."""
    shutil.copytree(kept / "home", tmp_path / "home")
    return shutil.copytree(kept / "run", tmp_path / "run")


def verified(run):
    return verify(run, keys=[default_key()], rederive=rederive)


def test_policies_are_listed_as_they_were_frozen_with_what_was_found(run):
    registry = read_registry(run, rederive=True)
    assert [(entry.name, entry.status) for entry in registry.policies] == [
        ("bad", "not promoted"),
        ("good", "promoted"),
        ("better", "promoted"),
    ]
    assert [[trial.words for trial in entry.trials] for entry in registry.policies] == [
        ["screen of epoch 1 failed", "screen of epoch 3 degraded"],
        ["screen of epoch 2 passed", "attempt 1 certified"],
        ["screen of epoch 4 passed", "attempt 2 certified"],
    ]
    bad, good, better = registry.policies
    assert (bad.parent, good.parent, better.parent) == ("", bad.digest, good.digest)
    assert registry.verification == "intact"


def test_the_released_policy_is_the_latest_promoted_one(run):
    registry = read_registry(run)
    assert registry.current == registry.find(BETTER.card.digest)
    assert [entry.name for entry in registry.released] == ["better", "good"]


def test_a_withdrawal_names_the_release_before_and_the_run_stays_ended_and_intact(run):
    before = ended_with(run)
    done = withdraw(run, why="drifts in gusts", who="Ada")
    assert done.policy.digest == BETTER.card.digest
    assert done.instead is not None
    assert done.instead.digest == GOOD.card.digest
    assert (done.policy.withdrawn.who, done.policy.withdrawn.why) == ("Ada", "drifts in gusts")
    assert done.policy.withdrawn.instead == GOOD.card.digest
    assert verified(run).result == "intact"
    assert ended_with(run) == before == "promoted"


def test_after_the_last_withdrawal_nothing_is_released(run):
    withdraw(run, why="first")
    assert withdraw(run, why="second").instead is None
    assert read_registry(run, rederive=True).current is None
    with pytest.raises(GateError, match="no released policy to withdraw"):
        withdraw(run, why="third")


def test_the_report_of_a_withdrawn_policy_does_not_say_certified(run, tmp_path):
    withdraw(run, why="first")
    withdraw(run, why="drifts <b>again</b>")
    page = write_report(run, tmp_path / "r.html", keys=[default_key()], rederive=rederive)
    text = page.read_text("utf-8")
    assert "WITHDRAWN" in text
    assert ">CERTIFIED" not in text
    assert "drifts &lt;b&gt;again" in text


def test_a_withdrawal_stands_where_a_resumed_run_sets_it_aside(tmp_path):
    log, keeper = begin(tmp_path / "run")
    epochs(log, keeper, GOOD)
    size = log.size
    log.release()
    withdraw(tmp_path / "run", why="a person saw it drift")
    with AuditLog.open(tmp_path / "run", resume_from=size) as again:
        again.close("promoted")
    registry = read_registry(tmp_path / "run", rederive=True)
    assert [entry.status for entry in registry.policies] == ["withdrawn"]
    assert registry.current is None


def test_a_withdrawn_policy_that_a_resumed_run_promotes_again_stays_withdrawn(tmp_path):
    run = tmp_path / "run"
    log, keeper = begin(run)
    size = log.size
    epochs(log, keeper, GOOD)
    log.release()
    withdraw(run, why="a person saw it drift")
    with AuditLog.open(run, resume_from=size) as again:
        epochs(again, keeper_of(again), GOOD)
        again.close("promoted")
    registry = read_registry(run, rederive=True)
    assert [entry.status for entry in registry.policies] == ["withdrawn"]
    page = write_report(run, tmp_path / "r.html", keys=[default_key()], rederive=rederive)
    text = page.read_text("utf-8")
    assert "WITHDRAWN" in text
    assert "a person saw it drift" in text
    assert ">CERTIFIED" not in text


def test_a_promotion_on_a_screen_alone_releases_nothing_even_under_the_own_key(run):
    records = verified(run).records
    with AuditLog.open(run, resume_from="end") as log:
        promote_on_its_screen(log, records, BAD.card.digest)
        log.close("promoted")
    with pytest.raises(AuditError, match="without a certified attempt that satisfied every claim"):
        read_registry(run)


def promote_on_its_screen(log, records, policy):
    screen = next(r for r in records if r.kind == "evidence" and r.payload["policy"] == policy)
    payload = {"action": "promote", "epoch": 4, "policy": policy, "reasons": ["because"]}
    decision = log.append("gate_decision", {**payload, "rests_on": [screen.reference()]})
    log.append("promotion", {"policy": policy, "rests_on": [decision.reference()]})


def test_a_promotion_that_no_checkpoint_covers_does_not_count_yet(tmp_path):
    log, keeper = begin(tmp_path / "run")
    epochs(log, keeper, BAD)
    keeper.after_epoch(type("Epoch", (), {"epoch": 2})(), lambda: GOOD)
    log.release()
    registry = read_registry(tmp_path / "run")
    assert registry.find(GOOD.card.digest).status == "not promoted"
    assert registry.verification == "incomplete"


def test_no_file_beside_the_log_promotes(run):
    withdraw(run, why="first")
    withdraw(run, why="second")
    forged = {"policies": [{"digest": BAD.card.digest, "status": "promoted"}]}
    for name in ("registry.json", "decision.json", "last.json"):
        (run / name).write_text(json.dumps(forged), encoding="utf-8")
    assert read_registry(run).current is None


def test_a_changed_log_releases_nothing(run):
    path = run / "log.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[-1], lines[3]
    path.write_bytes(b"".join(lines))
    with pytest.raises(AuditError, match="Nothing that it says of policies counts"):
        read_registry(run)


def test_a_log_cut_back_to_before_a_withdrawal_is_found_by_a_pinned_checkpoint(run):
    saved = {name: (run / name).read_bytes() for name in ("log.jsonl", "checkpoints.txt")}
    withdraw(run, why="drifts")
    pinned = verified(run).checkpoints[-1]
    for name, data in saved.items():
        (run / name).write_bytes(data)
    assert read_registry(run).current.digest == BETTER.card.digest
    with pytest.raises(AuditError, match="its end was cut off"):
        read_registry(run, pinned=pinned)


def test_a_log_under_another_key_releases_nothing(run):
    other = signer_of(Ed25519PrivateKey.generate())
    with pytest.raises(AuditError, match="broken at step 3, signatures"):
        read_registry(run, keys=[public_key(other)])
    before = (run / "log.jsonl").read_bytes()
    with pytest.raises(AuditError):
        withdraw(run, why="not mine", signer=other)
    assert (run / "log.jsonl").read_bytes() == before


def test_a_withdrawal_torn_anywhere_is_taken_up_again(run, tmp_path):
    saved = {name: (run / name).read_bytes() for name in ("log.jsonl", "checkpoints.txt")}
    withdraw(run, why="drifts")
    whole, start = (run / "log.jsonl").read_bytes(), len(saved["log.jsonl"])
    ends = [start + i + 1 for i, byte in enumerate(whole[start:]) if byte == 10]
    for cut in (start + 40, ends[0] + 99, ends[1], ends[2]):
        (run / "log.jsonl").write_bytes(whole[:cut])
        (run / "checkpoints.txt").write_bytes(saved["checkpoints.txt"])
        standing = read_registry(run).find(BETTER.card.digest).status
        assert standing == ("promoted" if cut < ends[1] else "withdrawn")
        done = withdraw(run, GOOD.card.digest if cut >= ends[1] else None, why="again")
        assert done.policy.status == "withdrawn"
        assert verified(run).result == "intact"
        assert ended_with(run) == "promoted"


def test_nothing_is_withdrawn_while_another_process_writes_the_log(tmp_path):
    log, keeper = begin(tmp_path / "run")
    epochs(log, keeper, GOOD)
    with pytest.raises(RunFolderError, match="in use by another process"):
        withdraw(tmp_path / "run", why="now")
    log.release()


def test_what_cannot_be_withdrawn_is_refused_in_words(run):
    with pytest.raises(GateError, match="was never promoted"):
        withdraw(run, BAD.card.digest, why="x")
    with pytest.raises(GateError, match="Say why"):
        withdraw(run, why=" ")
    with pytest.raises(GateError, match="it has none that begins so"):
        withdraw(run, "ffffffffffff", why="x")
    withdraw(run, BETTER.card.digest[7:19], why="x", who="Ada")
    with pytest.raises(GateError, match=r"was withdrawn before, on .* by Ada: x"):
        withdraw(run, BETTER.card.digest, why="y")


def test_a_withdrawal_that_names_an_unreleased_policy_is_found_by_deriving_again(run):
    promotion = next(r for r in verified(run).records if r.kind == "promotion")
    with AuditLog.open(run, resume_from="end") as log:
        log.append(
            "withdrawal",
            {
                "policy": promotion.payload["policy"],
                "who": "x",
                "why": "y",
                "instead": BAD.card.digest,
                "rests_on": [promotion.reference()],
            },
        )
        log.close("promoted")
    assert verified(run).result == "broken"
    with pytest.raises(AuditError, match="re-derivation"):
        read_registry(run, rederive=True)


def test_parents_are_found_through_epochs_that_were_not_frozen_and_through_rollbacks(tmp_path):
    log, keeper = begin(tmp_path / "run")
    epochs(log, keeper, BAD)
    passing = "sha256:" + "1" * 64
    log.append("checkpoint", {"epoch": 2, "steps": 200, "policy": passing})
    epochs(log, keeper, GOOD, first=3)
    decision = log.append(
        "gate_decision",
        {
            "action": "rollback",
            "epoch": 4,
            "policy": passing,
            "reasons": ["degraded"],
            "rests_on": [next(r for r in log.records() if r.kind == "evidence").reference()],
        },
    )
    moved = {"epoch": 4, "from": passing, "to": BAD.card.digest}
    log.append("rollback", {**moved, "rests_on": [decision.reference()]})
    epochs(log, keeper, BETTER, first=5)
    log.close("promoted")
    bad, good, better = read_registry(tmp_path / "run").policies
    assert (good.parent, better.parent) == (bad.digest, bad.digest)
