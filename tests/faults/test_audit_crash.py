"""Crashes, full disks and second writers leave a log that goes on from its last whole record."""

import errno
import io
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from audit_forge import SCENARIO, Ticking, fill, signer

from safegym.audit import layout
from safegym.audit.durable import AppendFile
from safegym.audit.log import AuditLog
from safegym.audit.sign import public_key
from safegym.audit.verify import verify
from safegym.errors import AuditError, RunFolderError

KEY = public_key(signer())
WAIVER = {"claim_id": "c", "who": "a", "why": "b", "expiry": "2026-12-31"}


def started(folder: Path) -> AuditLog:
    log = AuditLog.create(folder, signer=signer(), clocks=Ticking().clocks())
    log.append("scenario_registered", {"name": "drone/corridor-v0", "digest": SCENARIO})
    return log


def test_a_record_torn_at_any_byte_is_dropped_and_reported(tmp_path):
    log = started(tmp_path / "run")
    log.checkpoint()
    log.append("waiver", WAIVER)
    log.release()
    path = tmp_path / "run" / layout.LOG
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    rng = random.Random(3)
    for cut in [first, first + 1, len(whole) - 1, *rng.sample(range(first, len(whole)), 12)]:
        path.write_bytes(whole[:cut])
        log = AuditLog.open(tmp_path / "run", signer=signer(), clocks=Ticking().clocks())
        record = log.records()[-1]
        log.release()
        assert log.recovered is not None
        assert log.recovered.torn_record == whole[first:cut]
        assert (record.kind, record.index) == ("run_resumed", 1)
        torn = record.payload["torn"]
        assert (torn["bytes"] if torn else 0) == cut - first
        assert bool(log.recovered.message()) is bool(torn)


def test_a_torn_checkpoint_is_dropped_and_the_run_goes_on(tmp_path):
    log = started(tmp_path / "run")
    log.checkpoint()
    log.append("waiver", WAIVER)
    log.checkpoint()
    log.release()
    path = tmp_path / "run" / layout.CHECKPOINTS
    whole = path.read_bytes()
    second = whole.index(b"\n\n", whole.index(b"\n\n") + 2) + 1
    for cut in range(second, len(whole), 17):
        path.write_bytes(whole[:cut])
        log = AuditLog.open(tmp_path / "run", signer=signer(), clocks=Ticking().clocks())
        assert log.recovered is not None
        assert len(log.recovered.checkpoints) == 1
        log.close("done")
        assert verify(tmp_path / "run", keys=[KEY]).result == "intact"
        lines = (tmp_path / "run" / layout.LOG).read_bytes().split(b"\n")[:2]
        (tmp_path / "run" / layout.LOG).write_bytes(b"".join(line + b"\n" for line in lines))


def test_a_first_record_torn_by_a_crash_lets_the_run_start_again(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / layout.LOG).write_bytes(b'{"payload":"abc')
    with pytest.raises(RunFolderError, match=r"holds no whole record.*AuditLog.create"):
        AuditLog.open(folder, signer=signer())
    with AuditLog.create(folder, signer=signer()) as log:
        log.append("waiver", WAIVER)
    assert verify(folder, keys=[KEY]).result == "intact"


def test_a_log_cut_below_its_checkpoint_is_not_resumed_and_left_as_found(tmp_path):
    log = started(tmp_path / "run")
    log.append("waiver", WAIVER)
    log.checkpoint()
    log.release()
    path = tmp_path / "run" / layout.LOG
    path.write_bytes(path.read_bytes()[:-5])
    found = path.read_bytes()
    with pytest.raises(AuditError, match="its end was cut off"):
        AuditLog.open(tmp_path / "run", signer=signer())
    assert path.read_bytes() == found


def test_a_second_writer_is_refused_while_the_first_writes(tmp_path):
    log = started(tmp_path / "run")
    with pytest.raises(RunFolderError, match="in use by another process"):
        AuditLog.open(tmp_path / "run", signer=signer())
    with pytest.raises(RunFolderError, match="in use by another process"):
        AuditLog.create(tmp_path / "run", signer=signer())
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from audit_forge import signer\n"
        "from safegym.audit.log import AuditLog\n"
        "AuditLog.open(sys.argv[1], signer=signer())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run"), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "is in use by another process" in done.stderr
    log.close("done")
    assert verify(tmp_path / "run", keys=[KEY]).result == "intact"


def test_two_writers_past_the_lock_are_detected_by_the_verifier(tmp_path):
    """Whoever goes round the lock makes two records of one number."""
    log = started(tmp_path / "run")
    log.append("waiver", WAIVER)
    path = tmp_path / "run" / layout.LOG
    second = path.read_bytes().split(b"\n")[1]
    with path.open("ab") as file:
        file.write(second + b"\n")
    log.append("waiver", WAIVER)
    log.close("done")
    report = verify(tmp_path / "run", keys=[KEY])
    assert report.broken is not None
    assert report.broken.name == "sequence"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_worker_cannot_append(tmp_path):
    log = started(tmp_path / "run")
    log._process += 1
    with pytest.raises(AuditError, match=r"one writer.*Workers send digests"):
        log.append("waiver", WAIVER)
    log._process -= 1
    log.close("done")


class FullDisk(io.FileIO):
    """A file on a disk with `room` bytes left: writes what fits, then fails as a disk does."""

    room = 0
    broken_too = False

    def write(self, data, /):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        piece = bytes(data)[: self.room]
        self.room -= len(piece)
        return super().write(piece)

    def truncate(self, size=None, /):
        if self.broken_too:
            raise OSError(errno.EIO, "Input/output error")
        return super().truncate(size)


def on_full_disk(log: AuditLog, room: int, *, broken_too: bool = False) -> None:
    raw = FullDisk(str(log.folder / layout.LOG), "ab")
    raw.room, raw.broken_too = room, broken_too
    log._file.close()
    log._file = AppendFile(log.folder / layout.LOG, raw=raw)


@pytest.mark.parametrize("room", [0, 1, 500])
@pytest.mark.parametrize("broken_too", [False, True])
def test_a_full_disk_stops_with_the_last_whole_record_intact(room, broken_too, tmp_path):
    log = started(tmp_path / "run")
    whole = (tmp_path / "run" / layout.LOG).read_bytes()
    on_full_disk(log, room, broken_too=broken_too)
    with pytest.raises(AuditError, match=r"No space left on device.*resume the run"):
        log.append("waiver", WAIVER)
    with pytest.raises(AuditError, match="takes no more records since No space left"):
        log.append("waiver", WAIVER)
    assert log.size == 1
    log.release()
    left = (tmp_path / "run" / layout.LOG).read_bytes()
    assert left.startswith(whole)
    assert len(left) == len(whole) + (room if broken_too else 0)
    log = AuditLog.open(tmp_path / "run", signer=signer())
    log.append("waiver", WAIVER)
    log.close("done")
    assert verify(tmp_path / "run", keys=[KEY]).result == "intact"


def test_leaving_the_context_after_a_full_disk_releases_without_another_error(tmp_path):
    log = started(tmp_path / "run")
    on_full_disk(log, 10)
    with pytest.raises(AuditError, match="No space left"), log:
        log.append("waiver", WAIVER)
    assert verify(tmp_path / "run", keys=[KEY]).result == "incomplete"
    AuditLog.open(tmp_path / "run", signer=signer()).close("done")


def test_an_unwritable_run_folder_is_refused_in_words(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RunFolderError, match="cannot be used"):
        AuditLog.create(tmp_path / "file", signer=signer())
    with pytest.raises(RunFolderError, match=r"holds no log.jsonl"):
        AuditLog.open(tmp_path / "nothing", signer=signer())
    assert not (tmp_path / "nothing").exists()


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from audit_forge import signer, fill
from safegym.audit.log import AuditLog
from pathlib import Path
folder = Path(sys.argv[1])
if (folder / "log.jsonl").exists() and b"\\n" in (folder / "log.jsonl").read_bytes():
    log = AuditLog.open(folder, signer=signer(), durability=sys.argv[3])
else:
    log = AuditLog.create(folder, signer=signer(), durability=sys.argv[3])
print("ready", flush=True)
epoch = 0
while True:
    epoch += 1
    log.append("checkpoint", {"epoch": epoch, "steps": epoch})
    print(log.size, flush=True)
    if epoch % 7 == 0:
        log.checkpoint()
"""


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["record", "epoch"])
def test_kill_minus_nine_at_random_moments_resumes_and_verifies(durability, tmp_path):
    folder, rng, acknowledged = tmp_path / "run", random.Random(durability), 0
    for _ in range(10):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent), durability],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 0.25))
        child.send_signal(signal.SIGKILL)
        sizes = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        acknowledged = int(sizes[-1]) if sizes else acknowledged
        kept = (folder / layout.LOG).read_bytes().count(b"\n")
        assert kept >= acknowledged
    log = AuditLog.open(folder, signer=signer())
    log.close("done")
    report = verify(folder, keys=[KEY])
    assert report.result == "intact", report.steps
    assert sum(record.kind == "run_resumed" for record in report.records) == 10


def test_resumed_runs_number_on_and_supersede_what_came_after_the_checkpoint(tmp_path):
    log = AuditLog.create(tmp_path / "run", signer=signer())
    fill(log)
    log.checkpoint()
    size, root = log.size, log.root
    log.append("checkpoint", {"epoch": 9, "steps": 9})
    log.release()
    log = AuditLog.open(tmp_path / "run", signer=signer(), reason="killed")
    assert log.superseded == {size}
    assert len(log.live_records()) == log.size - 1
    resumed = log.records()[-1]
    assert resumed.payload["from"] == {"size": size, "root": root}
    assert (resumed.payload["superseded"], resumed.payload["reason"]) == (1, "killed")
    log.close("done")
    report = verify(tmp_path / "run", keys=[KEY])
    assert report.result == "intact"
    assert any("set aside 1 records" in warning for warning in report.warnings)
