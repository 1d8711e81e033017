"""The live view: everything that matters at any width, drawn from events alone."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from rich.console import Console
from told_events import decided, epoch_ended, rollout, screen, short_run

from safegym.cli.live import LiveRun, watcher
from safegym.cli.live_panels import picture
from safegym.cli.live_state import LiveState
from safegym.cli.progress import RunProgress
from safegym.cli.sparks import BLOCKS, spark
from safegym.gate.events import AttemptStarted, EpisodeJudged, LogResumed
from safegym.gate.trainer.events import RunStarted


def drawn(state, width):
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(picture(state, width))
    return console.file.getvalue()


def state_after(events, clock=None):
    state = LiveState("test/cart -> runs/first", clock=clock or (lambda: 0.0))
    for event in events:
        state.hear(event)
    return state


def test_at_any_width_no_line_is_too_long_and_claim_screen_and_decision_are_there():
    state = state_after([*short_run()[:-1], rollout(3, 500, 2.0)])
    for width in range(44, 141, 4):
        lines = drawn(state, width).splitlines()
        assert max(map(len, lines)) <= width
        text = "\n".join(lines)
        assert "cart.upright" in text
        assert "0 of 100" in text
        assert "epoch 2: promote: because" in text
        assert "★" in text


def test_before_anything_is_known_it_draws_nothing_but_its_title_and_zeros():
    text = drawn(LiveState("test/cart"), 60)
    assert "test/cart" in text
    assert "0 of 0" in text


def test_speed_and_time_left_follow_from_the_steps_of_this_part_of_the_run():
    now = [10.0]
    state = state_after([RunStarted(400, 1000)], clock=lambda: now[0])
    now[0] = 14.0
    state.hear(rollout(1, 600, 1.0))
    assert (state.speed, state.left, state.elapsed) == (50.0, 8.0, 4.0)
    assert "0:00:08 left" in drawn(state, 100)


def test_a_running_stage_shows_how_far_it_is_and_what_would_certify():
    attempt = AttemptStarted(1, "sha256:" + "a" * 64, 2000, 377)
    state = state_after([attempt, EpisodeJudged("certify, attempt 1", 245, 2000, 3, 1)])
    for width in (60, 110):
        text = " ".join(drawn(state, width).split())
        assert "245 of 2000; worst claim 3 violated, 1 undecided" in text
        assert "377 clean episodes would certify" in text


def test_the_gates_line_has_a_sign_for_each_epoch():
    told = [
        *(epoch_ended(1, 100), screen(1, 2, 20), decided(1, "hold")),
        *(epoch_ended(2, 200), screen(2, 0, 20), decided(2, "hold")),
        *(epoch_ended(3, 300), decided(3, "hold", "no screen now")),
        *(epoch_ended(4, 400), decided(4, "rollback")),
        *(epoch_ended(5, 500), screen(5, 0, 20), decided(5, "promote")),
    ]
    line = next(row for row in drawn(state_after(told), 60).splitlines() if "gate" in row)
    assert line.split()[1:] == ["·", "○", "-", "↩", "★"]


def test_claims_are_drawn_on_one_scale():
    told = [
        epoch_ended(1, 100, violations={"a": 20, "b": 2}),
        epoch_ended(2, 200, violations={"a": 20, "b": 2}),
    ]
    rows = drawn(state_after(told), 110).splitlines()
    assert "100% ██" in next(row for row in rows if row.startswith("a "))
    assert "10% ▂▂" in next(row for row in rows if row.startswith("b "))


def test_text_from_outside_cannot_send_control_characters_to_the_terminal():
    state = state_after([decided(1, "hold", "a\x1b[2Jb")])
    assert "\x1b" not in drawn(state, 80)


def test_a_live_run_leaves_its_last_picture_and_says_what_is_not_exact():
    console = Console(width=90, file=io.StringIO(), force_terminal=True)
    with LiveRun("test/cart", console=console) as live:
        live.hear(RunStarted(0, 1000, differences=("numpy 1 instead of 2",)))
        live.hear(replace(epoch_ended(1, 100), inexact=("numpy 1 instead of 2",)))
        for event in short_run()[1:]:
            live.hear(event)
    assert live.began
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    assert text.count("not bit-exact: numpy 1 instead of 2") == 1
    assert "ended: promoted" in "\n".join(text.splitlines()[-8:])


def test_both_views_say_what_a_resumption_set_aside(monkeypatch, capsys):
    told = LogResumed("half a record", 7)
    console = Console(width=200, file=io.StringIO(), force_terminal=True)
    with LiveRun("test/cart", console=console) as live:
        live.hear(told)
    progress = RunProgress()
    monkeypatch.setattr(progress.bars, "start", lambda: None)
    progress.hear(told)
    for text in (console.file.getvalue(), capsys.readouterr().err):
        assert "records of the log set aside: 7" in text
        assert text.count("half a record") == 1


def test_what_was_certified_of_an_earlier_policy_goes_when_another_attempt_begins():
    state = LiveState()
    for event in (*short_run(), AttemptStarted(2, "sha256:" + "b" * 64, 400, 377)):
        state.hear(event)
    assert state.claims["cart.upright"].evidence is None


def test_lines_say_once_why_a_resumed_run_is_not_exact(monkeypatch, capsys):
    progress = RunProgress()
    monkeypatch.setattr(progress.bars, "start", lambda: None)
    progress.hear(RunStarted(0, 1000, differences=("the buffer is gone",)))
    progress.hear(replace(epoch_ended(1, 100), inexact=("the buffer is gone",)))
    assert capsys.readouterr().err.count("the buffer is gone") == 1


def test_without_a_terminal_lines_are_shown_and_with_json_nothing(capsys):
    assert isinstance(watcher("x", live=True, quiet=False), RunProgress)
    assert isinstance(watcher("x", live=True, quiet=True), RunProgress)
    assert isinstance(watcher("x", live=False, quiet=False), RunProgress)


def test_a_spark_goes_from_its_lowest_to_its_highest_value():
    assert spark([0, 1, 2, 3, 4, 5, 6, 7], 20) == BLOCKS
    assert spark([5.0, 5.0], 9) == "▄▄"
    assert spark([0.0, 0.0], 9, low=0.0) == "▁▁"
    assert spark([1.0], 9, low=0.0, high=2.0) in ("▄", "▅")
    assert spark([], 9) == spark([1.0], 0) == ""


def test_a_long_spark_is_drawn_whole_by_means():
    assert spark([0.0] * 50 + [1.0] * 50, 4) == "▁▁██"
    assert len(spark(list(range(1000)), 37)) == 37


@pytest.mark.slow
def test_the_command_draws_on_a_terminal_and_writes_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    words = ["train", "classic/cartpole-v0", "--steps", "2048", "--every", "2048"]
    words += ["--screen", "10", "--cap", "80", "--lift", "0.9", "--out", str(tmp_path / "run")]
    words += ["--live", "--tensorboard", str(tmp_path / "board")]
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "SAFEGYM_HOME": str(tmp_path / "home"),
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "90",
        "TERM": "xterm",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "safegym", *words],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment,
    ) as process:
        os.close(theirs)
        seen: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(ours, seen))
        reader.start()
        status = process.wait(120)
        reader.join(10)
    text = b"".join(seen).decode("utf-8", "replace")
    assert status in (0, 3), text[-3000:]
    assert "2,048 of 2,048" in text
    assert "cartpole.pole" in text
    assert list((tmp_path / "board").glob("events.out.tfevents*"))


def _drain(handle, into):
    while True:
        try:
            piece = os.read(handle, 65536)
        except OSError:
            return
        if not piece:
            return
        into.append(piece)
