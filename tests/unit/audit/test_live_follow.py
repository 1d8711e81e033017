"""A log that is followed while it grows: read once, checked once, never held up."""

import os

import pytest

from safegym.audit import layout
from safegym.audit.live.follow import Follower
from safegym.audit.live.tail import LogTail
from safegym.audit.log import AuditLog
from safegym.audit.sign import KeyRing, public_key, signer_of
from safegym.audit.verify import verify


def claims(log):
    claim = {"id": "a", "text": "always (x > 0)", "digest": "sha256:" + "a" * 64}
    return log.append("spec_registered", {"claims": [claim], "digest": claim["digest"]})


def epoch(log, number):
    return log.append("checkpoint", {"epoch": number, "steps": 100 * number})


@pytest.fixture
def log(tmp_path, signer):
    log = AuditLog.create(tmp_path / "run", signer=signer)
    yield log
    log.release()


@pytest.fixture
def follower(log, key):
    return Follower(log.folder, KeyRing([key]))


def test_each_record_appears_once_it_is_whole(log, follower):
    assert follower.refresh(1).state == "empty"
    for number in range(1, 6):
        epoch(log, number)
        seen = follower.refresh(1)
        assert (seen.state, len(seen.records), seen.root) == ("open", number, log.root)


def test_what_is_followed_agrees_with_the_verifier(log, follower, key):
    claims(log)
    log.checkpoint()
    epoch(log, 1)
    half = follower.refresh(1)
    assert (half.signed, half.checkpoints) == (1, 1)
    log.close("done")
    seen = follower.refresh(1)
    judged = verify(log.folder, keys=[key])
    assert judged.broken is None
    assert (seen.state, seen.root, seen.records) == ("closed", judged.root, judged.records)
    assert (seen.signed, seen.checkpoints) == (3, len(judged.checkpoints))


def test_a_torn_tail_is_open_and_whole_once_the_writer_has_written_on(log, follower):
    epoch(log, 1)
    epoch(log, 2)
    path = log.folder / layout.LOG
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    seen = follower.refresh(1)
    assert (seen.state, len(seen.records), seen.fault) == ("open", 1, "")
    assert seen.torn > 0
    path.write_bytes(whole)
    seen = follower.refresh(1)
    assert (seen.state, len(seen.records), seen.torn) == ("open", 2, 0)


def test_a_resumed_run_is_followed_over_its_resumption(log, follower, signer):
    epoch(log, 1)
    log.checkpoint()
    epoch(log, 2)
    follower.refresh(1)
    log.release()
    with (log.folder / layout.LOG).open("ab") as file:
        file.write(b'{"payload":"eyJ')
    assert follower.refresh(1).torn == 15
    with AuditLog.open(log.folder, signer=signer) as again:
        seen = follower.refresh(1)
        assert (seen.state, sorted(seen.superseded), seen.torn) == ("open", [1], 0)
        epoch(again, 2)
    assert follower.refresh(1).state == "closed"


def test_a_changed_byte_is_broken_with_the_record_named(log, follower):
    epoch(log, 1)
    epoch(log, 2)
    path = log.folder / layout.LOG
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(bytes(data))
    seen = follower.refresh(1)
    assert (seen.state, len(seen.records)) == ("broken", 1)
    assert "Record 1" in seen.fault


def test_a_log_cut_back_below_what_was_seen_is_broken_for_good(log, follower):
    epoch(log, 1)
    lines = (log.folder / layout.LOG).read_bytes()
    epoch(log, 2)
    follower.refresh(1)
    (log.folder / layout.LOG).write_bytes(lines)
    seen = follower.refresh(1)
    assert (seen.state, len(seen.records)) == ("broken", 2)
    assert "cut back or written anew" in seen.fault
    epoch(log, 3)
    assert follower.refresh(1).state == "broken"


def test_another_log_in_its_place_is_broken(log, follower, signer, tmp_path):
    epoch(log, 1)
    follower.refresh(1)
    other = AuditLog.create(tmp_path / "other", signer=signer)
    for number in range(3):
        epoch(other, number)
    other.release()
    os.replace(other.folder / layout.LOG, log.folder / layout.LOG)
    assert "written anew" in follower.refresh(1).fault


def test_a_log_cut_behind_its_checkpoint_is_broken(log, key):
    epoch(log, 1)
    lines = (log.folder / layout.LOG).read_bytes()
    epoch(log, 2)
    log.checkpoint()
    (log.folder / layout.LOG).write_bytes(lines)
    seen = Follower(log.folder, KeyRing([key])).refresh(1)
    assert seen.state == "broken"
    assert "its end was cut off" in seen.fault


def test_checkpoints_taken_away_again_are_noticed(log, follower):
    epoch(log, 1)
    log.checkpoint()
    follower.refresh(1)
    (log.folder / layout.CHECKPOINTS).write_bytes(b"")
    assert "checkpoint file no longer holds" in follower.refresh(1).fault


def test_a_key_that_nobody_trusts_is_broken(log):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    epoch(log, 1)
    other = public_key(signer_of(Ed25519PrivateKey.generate()))
    seen = Follower(log.folder, KeyRing([other])).refresh(1)
    assert seen.state == "broken"
    assert "which you do not trust" in seen.fault


def test_a_link_in_place_of_the_log_is_refused(log, follower):
    epoch(log, 1)
    path = log.folder / layout.LOG
    path.rename(log.folder / "kept")
    path.symlink_to(log.folder / "kept")
    assert "link" in follower.refresh(1).fault


def test_a_long_log_is_read_in_parts_and_says_how_far(log, follower, monkeypatch):
    monkeypatch.setattr("safegym.audit.live.tail.CHUNK", 2000)
    for number in range(30):
        epoch(log, number)
    seen = follower.refresh(0.0)
    assert seen.state == "reading"
    assert 0 < seen.share < 1
    shares = [seen.share]
    while seen.state == "reading":
        seen = follower.refresh(0.0)
        shares.append(seen.share)
    assert shares == sorted(shares)
    assert (seen.state, len(seen.records), seen.root) == ("open", 30, log.root)


def test_a_line_longer_than_a_reading_is_read_whole(log, monkeypatch):
    monkeypatch.setattr("safegym.audit.live.tail.CHUNK", 64)
    record = epoch(log, 1)
    tail = LogTail(log.folder)
    lines = tail.lines()
    assert len(lines) == 1
    assert record.payload_digest.removeprefix("sha256:")
    assert tail.lines() == []
    assert tail.offset == tail.total == len(lines[0]) + 1


def test_following_takes_no_lock_and_writes_nothing(log, follower):
    epoch(log, 1)
    before = {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in log.folder.iterdir()}
    follower.refresh(1)
    after = {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in log.folder.iterdir()}
    assert after == before
    epoch(log, 2)
    assert log.size == 2
