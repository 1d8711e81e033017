"""Ctrl-C while a record is being written: the record is whole, and the log goes on."""

import os
import signal
from pathlib import Path

import pytest

from safegym.audit import durable
from safegym.audit.log import AuditLog
from safegym.audit.sign import default_key
from safegym.audit.verify import verify

WAIVER = {"claim_id": "c", "who": "a", "why": "b", "expiry": "2026-12-31"}


def append_and_seal(log: AuditLog, times: int) -> None:
    for _ in range(times):
        log.append("waiver", WAIVER)
        log.checkpoint()


@pytest.mark.parametrize("moment", range(4))
def test_ctrl_c_inside_an_append_or_a_checkpoint_leaves_a_log_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    real, calls = os.fsync, 0

    def interrupted(descriptor: int) -> None:
        nonlocal calls
        real(descriptor)
        if calls == moment:
            os.kill(os.getpid(), signal.SIGINT)
        calls += 1

    log = AuditLog.create(tmp_path / "run")
    log.append("waiver", WAIVER)
    monkeypatch.setattr(durable.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        append_and_seal(log, times=4)
    monkeypatch.undo()
    log.append("waiver", {**WAIVER, "why": "what a handler writes after Ctrl-C"})
    log.close("interrupted")
    assert verify(tmp_path / "run", keys=[default_key()]).result == "intact"


def test_ctrl_c_reaches_the_handler_that_was_there_once_the_record_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(log.size))
    try:
        log = AuditLog.create(tmp_path / "run")
        real = os.fsync

        def interrupted(descriptor: int) -> None:
            real(descriptor)
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(durable.os, "fsync", interrupted)
        log.append("waiver", WAIVER)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert seen == [1]
    log.close("done")
