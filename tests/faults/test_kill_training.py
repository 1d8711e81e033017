"""A training killed at random moments resumes, and its audit trail stays intact."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = 10
TRAIN = [
    "train",
    "classic/cartpole-v0",
    *("--steps", "16384", "--every", "2048", "--screen", "20", "--cap", "120", "--lift", "0.9"),
]


def safegym(home: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "SAFEGYM_HOME": str(home), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "safegym", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_ten_kills_at_random_moments_leave_a_run_that_resumes_and_verifies(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    chance = random.Random(20260)
    process = safegym(home, *TRAIN, "--out", str(run))
    wait_for(run / "last.json", process)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.0, 9.0))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        process = safegym(home, "train", "--resume", str(run))
    output = process.communicate(timeout=300)[0]
    assert process.returncode in (0, 3), output
    verified = safegym(home, "audit", "verify", str(run), "--json")
    report = json.loads(verified.communicate(timeout=300)[0])
    assert report["result"] == "intact", report
    assert verified.returncode == 0


@pytest.mark.slow
def test_ctrl_c_checkpoints_closes_the_log_and_says_how_to_go_on(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    process = safegym(home, *TRAIN, "--out", str(run))
    wait_for(run / "checkpoints" / "epoch-00001", process)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 3, output
    assert f"safegym train --resume {run}" in output.replace("\n", "")
    verified = safegym(home, "audit", "verify", str(run), "--json")
    report = json.loads(verified.communicate(timeout=120)[0])
    assert report["result"] in ("intact", "incomplete"), report
    process = safegym(home, "train", "--resume", str(run))
    output = process.communicate(timeout=300)[0]
    assert process.returncode in (0, 3), output
