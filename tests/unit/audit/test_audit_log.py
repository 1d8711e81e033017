"""Writing a log, reading it back, and what the writer refuses."""

import base64
import json
from itertools import pairwise

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope as DsseEnvelope
from securesystemslib.exceptions import VerificationError

from safegym.audit import layout, merkle
from safegym.audit.log import AuditLog
from safegym.audit.note import parse_note
from safegym.audit.read import read_checkpoint_file, read_log
from safegym.audit.record import FIRST_PREVIOUS
from safegym.audit.sign import public_key, public_pem, signer_of
from safegym.audit.verify import verify
from safegym.digest import digest_json
from safegym.errors import AuditError, RunFolderError

D, E = "sha256:" + "1" * 64, "sha256:" + "2" * 64
WAIVER = {"claim_id": "c", "who": "a", "why": "b", "expiry": "2026-12-31"}


@pytest.fixture
def log(tmp_path, signer):
    with AuditLog.create(tmp_path / "run", signer=signer) as fresh:
        yield fresh


def shard(log, name="a.arrow", *, traces=(D,), policy=D):
    (log.folder / "traces").mkdir(exist_ok=True)
    (log.folder / "traces" / name).write_bytes(name.encode())
    return log.append(
        "trace_shard",
        {
            "shard": log.artifact(f"traces/{name}"),
            "traces": list(traces),
            "first_index": 0,
            "stream": "gate",
            "policy": policy,
            "scenario": D,
        },
    )


def verdict(log, on, *, trace=D, status="satisfied"):
    return log.append(
        "verdict",
        {
            "claim_id": "c",
            "claim_digest": D,
            "stream": "gate",
            "verdicts": [{"trace": trace, "status": status}],
            "rests_on": [on.reference()],
        },
    )


def evidence(log, on, **changes):
    return log.append(
        "evidence",
        {
            "claim_id": "c",
            "claim_digest": D,
            "kind": "observed",
            "status": "inconclusive",
            "threshold": None,
            "bound": None,
            "confidence": None,
            "level": None,
            "episodes": 1,
            "violations": 0,
            "undecided": 0,
            "attempt": 0,
            "validity": "exact",
            "method": "count",
            "rests_on": [on.reference()],
            **changes,
        },
    )


def decide(log, on, action="promote", policy=D):
    return log.append(
        "gate_decision",
        {
            "action": action,
            "epoch": 1,
            "policy": policy,
            "reasons": ["because"],
            "rests_on": [record.reference() for record in on],
        },
    )


def test_a_record_is_a_dsse_line_around_an_in_toto_statement(log, key):
    record = log.append("scenario_registered", {"name": "x", "digest": D, "subjects": {"code": E}})
    line = (log.folder / layout.LOG).read_bytes().removesuffix(b"\n")
    envelope = DsseEnvelope.from_dict(json.loads(line))
    assert envelope.verify([key], 1) == {key.keyid: key}
    statement = json.loads(envelope.payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert statement["subject"] == [
        {"name": "payload", "digest": {"sha256": record.payload_digest[7:]}},
        {"name": "code", "digest": {"sha256": E[7:]}},
    ]
    assert record.digest == "sha256:" + merkle.leaf_hash(line).hex()
    envelope.payload += b" "
    with pytest.raises(VerificationError):
        envelope.verify([key], 1)


def test_records_chain_and_read_back_equal(log):
    written = [log.append("waiver", {**WAIVER, "n": i}) for i in range(5)]
    assert log.records() == tuple(written)
    assert [record.index for record in written] == list(range(5))
    assert written[0].previous == FIRST_PREVIOUS
    for before, record in pairwise(written):
        assert record.previous == before.digest
    leaves = [bytes.fromhex(record.digest[7:]) for record in written]
    assert log.root == "sha256:" + merkle.root(leaves).hex()
    assert log.size == 5


def test_payload_digests_leave_out_clock_run_and_actor(tmp_path, signer, log):
    other_signer = signer_of(Ed25519PrivateKey.generate())
    with AuditLog.create(tmp_path / "other", signer=other_signer) as other:
        first, second = log.append("waiver", WAIVER), other.append("waiver", WAIVER)
    assert first.payload_digest == second.payload_digest == digest_json(WAIVER)
    assert first.digest != second.digest


def test_payload_digests_of_decisions_survive_a_resumption(tmp_path, signer):
    found = []
    for name, kill in (("straight", False), ("resumed", True)):
        run = AuditLog.create(tmp_path / name, signer=signer)
        run.append("waiver", WAIVER)
        run.checkpoint()
        if kill:
            verdict(run, shard(run))
            run.release()
            run = AuditLog.open(tmp_path / name, signer=signer)
        last = decide(run, [evidence(run, verdict(run, shard(run)))])
        run.close("done")
        found.append(last)
    assert found[0].payload_digest == found[1].payload_digest
    assert (found[0].index, found[1].index) == (4, 7)
    assert (found[0].leaves, found[1].leaves) == ((3,), (6,))


def test_the_payload_is_a_copy_that_the_caller_cannot_change(log):
    payload = {**WAIVER, "list": [1]}
    record = log.append("waiver", payload)
    payload["list"].append(2)
    assert record.payload["list"] == [1]
    assert log.records()[0].payload["list"] == [1]


def test_a_record_may_not_name_one_that_is_not_there(log):
    held = shard(log)
    verdict(log, held)
    with pytest.raises(AuditError, match="no live record before it") as caught:
        log.append(
            "verdict",
            {
                "claim_id": "c",
                "claim_digest": D,
                "stream": "gate",
                "verdicts": [{"trace": D, "status": "satisfied"}],
                "rests_on": [{"kind": "trace_shard", "record": E}],
            },
        )
    assert caught.value.step == "references"
    assert log.size == 2


def test_a_verdict_on_a_trace_outside_its_shard_is_refused(log):
    with pytest.raises(AuditError, match="which the shards it names do not hold"):
        verdict(log, shard(log), trace=E)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "violated"}, "cannot rest on evidence that is violated"),
        ({"kind": "estimated"}, "cannot rest on evidence that is inconclusive"),
    ],
)
def test_a_promotion_on_failed_evidence_is_refused(log, changes, words):
    found = evidence(log, verdict(log, shard(log)), **changes)
    with pytest.raises(AuditError, match=words):
        decide(log, [found])
    decide(log, [found], "hold")


def test_a_promotion_of_another_policy_than_the_evidence_is_refused(log):
    found = evidence(log, verdict(log, shard(log, policy=E)))
    with pytest.raises(AuditError, match="but rests on record 0 about"):
        decide(log, [found])
    decision = decide(log, [found], policy=E)
    with pytest.raises(AuditError, match="a decision about another policy"):
        log.append("promotion", {"policy": D, "rests_on": [decision.reference()]})
    log.append("promotion", {"policy": E, "rests_on": [decision.reference()]})
    held = decide(log, [found], "hold", policy=E)
    with pytest.raises(AuditError, match="a decision to hold, not to promote"):
        log.append("promotion", {"policy": E, "rests_on": [held.reference()]})


def test_superseded_records_can_no_longer_be_named(tmp_path, signer):
    run = AuditLog.create(tmp_path / "run", signer=signer)
    run.append("waiver", WAIVER)
    run.checkpoint()
    old = shard(run)
    run.release()
    run = AuditLog.open(tmp_path / "run", signer=signer)
    with pytest.raises(AuditError, match="no live record before it"):
        verdict(run, old)
    assert verdict(run, shard(run)).leaves == (3,)
    run.close("done")


def test_resuming_from_a_chosen_record_or_from_the_end(tmp_path, signer):
    for start, gone in ((2, {2, 3}), ("end", set()), (4, set())):
        folder = tmp_path / str(start)
        run = AuditLog.create(folder, signer=signer)
        for number in range(4):
            run.append("waiver", {**WAIVER, "n": number})
        run.release()
        run = AuditLog.open(folder, signer=signer, resume_from=start)
        assert run.superseded == gone
        run.close("done")
    with pytest.raises(AuditError, match="Asked to resume after 9 records; the log has 6"):
        AuditLog.open(tmp_path / "end", signer=signer, resume_from=9)
    AuditLog.open(tmp_path / "end", signer=signer).close("done")


def test_checkpoints_are_signed_once_a_size_and_never_over_nothing(log):
    with pytest.raises(AuditError, match="no record to sign"):
        log.checkpoint()
    log.append("waiver", WAIVER)
    first = log.checkpoint()
    assert log.checkpoint() is first
    log.append("waiver", WAIVER)
    second = log.checkpoint()
    assert read_checkpoint_file(log.folder) == (first, second)
    assert parse_note(second.note(), what="It").size == 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "completed"), (ValueError, "failed"), (KeyboardInterrupt, "interrupted")],
)
def test_leaving_the_context_closes_the_run_and_says_how(tmp_path, signer, key, error, outcome):
    def work() -> None:
        with AuditLog.create(tmp_path / "run", signer=signer) as run:
            run.append("waiver", WAIVER)
            if error is not None:
                raise error

    if error is None:
        work()
    else:
        with pytest.raises(error):
            work()
    last = read_log(tmp_path / "run")[-1]
    assert (last.kind, last.payload["outcome"]) == ("run_closed", outcome)
    assert verify(tmp_path / "run", keys=[key]).result == "intact"


def test_a_closed_log_takes_no_record_until_it_is_opened_again(log, signer, key):
    log.append("waiver", WAIVER)
    log.close("done", episodes=3)
    assert log.closed
    with pytest.raises(AuditError, match=r"is closed; go on with AuditLog.open"):
        log.append("waiver", WAIVER)
    with pytest.raises(RunFolderError, match="already holds a run's log"):
        AuditLog.create(log.folder, signer=signer)
    with AuditLog.open(log.folder, signer=signer, reason="waiver") as again:
        assert again.superseded == frozenset()
        again.append("waiver", WAIVER)
    assert verify(log.folder, keys=[key]).result == "intact"


def test_another_key_cannot_resume_a_log(log):
    log.append("waiver", WAIVER)
    log.close("done")
    stranger = signer_of(Ed25519PrivateKey.generate())
    with pytest.raises(AuditError, match=r"signed by the key .* which you do not trust"):
        AuditLog.open(log.folder, signer=stranger)


def test_a_tampered_log_cannot_be_resumed(log, signer):
    log.append("waiver", WAIVER)
    log.append("waiver", WAIVER)
    log.close("done")
    path = log.folder / layout.LOG
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[1], lines[0], *lines[2:]]))
    with pytest.raises(AuditError, match="says that it is record 1"):
        AuditLog.open(log.folder, signer=signer)


def test_epoch_durability_is_stated_and_still_forces_what_must_count(tmp_path, signer):
    with AuditLog.create(tmp_path / "run", signer=signer, durability="epoch") as run:
        plain = run.append("waiver", WAIVER)
        attempt = {"attempt": 1, "policy": D, "scenario": D, "claims": D, "levels": {"c": 0.05}}
        forced = run.append("attempt_started", attempt)
    assert (plain.durability, forced.durability) == ("epoch", "record")


def test_artifacts_are_plain_files_inside_the_run_folder(log, tmp_path):
    (log.folder / "a.json").write_bytes(b"{}")
    expected = {"artifact": "a.json", "digest": digest_json({}), "size": 2}
    assert log.artifact("a.json") == expected
    assert log.artifact(log.folder / "a.json") == expected
    (tmp_path / "outside").write_bytes(b"x")
    (log.folder / "link").symlink_to(tmp_path / "outside")
    (log.folder / "folder").mkdir()
    for path, words in [
        (tmp_path / "outside", "climbs out"),
        ("link", "goes through a link"),
        ("folder", "is not a regular file"),
        ("none", "cannot be read"),
        ("log.jsonl", "is a part of the log itself"),
    ]:
        with pytest.raises(AuditError, match=words):
            log.artifact(path)


def test_the_public_key_lies_beside_the_log_as_information(log, key):
    assert (log.folder / layout.PUBLIC_KEY).read_bytes() == public_pem(key)


def test_the_default_key_signs_when_none_is_given(tmp_path, caplog):
    with AuditLog.create(tmp_path / "run") as run:
        run.append("waiver", WAIVER)
    from safegym.audit.sign import default_key

    own = default_key()
    assert own is not None
    assert verify(tmp_path / "run", keys=[own]).result == "intact"
    assert run.records()[0].actor == own.keyid
    assert own == public_key(run._signer)


def test_base64_lines_decode_to_canonical_statements(log):
    log.append("waiver", {**WAIVER, "z": 1, "a": [1.5, "inf"]})
    line = (log.folder / layout.LOG).read_bytes().split(b"\n")[0]
    payload = base64.b64decode(json.loads(line)["payload"])
    text = json.dumps(json.loads(payload), separators=(",", ":"), sort_keys=True)
    assert text.encode() == payload
