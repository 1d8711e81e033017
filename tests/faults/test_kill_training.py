"""A training killed at random moments resumes, and its audit trail stays intact."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

KILLS = 10
TRAIN = [
    "train",
    "classic/cartpole-v0",
    *("--steps", "32768", "--every", "2048", "--screen", "20", "--cap", "120", "--lift", "0.9"),
]


@dataclass
class Command:
    """A running `safegym`, its output in a file."""

    process: subprocess.Popen[str]
    output: Path

    def ended(self, timeout: float = 300.0) -> tuple[int, str]:
        """Exit status and output, once it ends."""
        return self.process.wait(timeout), self.output.read_text()

    def end(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        return self.ended()


def safegym(home: Path, *words: str) -> Command:
    environment = {**os.environ, "SAFEGYM_HOME": str(home), "OMP_NUM_THREADS": "1"}
    home.mkdir(exist_ok=True)
    output = home / f"output-{time.monotonic_ns()}"
    with output.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "safegym", *words],
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
        )
    return Command(process, output)


def wait_for(path: Path, command: Command) -> None:
    """Until there is something at `path`."""
    deadline = time.monotonic() + 120
    while not path.exists() or (path.is_file() and not path.stat().st_size):
        assert command.process.poll() is None, command.output.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def verified(home: Path, run: Path) -> str:
    """The result of `safegym audit verify`, whose exit status must say the same."""
    status, output = safegym(home, "audit", "verify", str(run), "--json").ended()
    result = str(json.loads(output)["result"])
    assert status == {"intact": 0, "broken": 1, "incomplete": 3}[result], output
    return result if result != "broken" else output


def finished(command: Command) -> bool:
    """Whether a run has come to its end, also if the kill only hit what follows the log's end."""
    if command.process.poll() is None:
        return False
    status, output = command.ended()
    assert status in (0, 3) or (status == 2 and "has ended" in output), output
    return True


@pytest.mark.slow
def test_ten_kills_at_random_moments_leave_runs_that_resume_and_verify(tmp_path: Path) -> None:
    home, chance, kills = tmp_path / "home", random.Random(20260), 0
    runs: list[Path] = []
    while kills < KILLS:
        run = tmp_path / f"run-{len(runs)}"
        runs.append(run)
        assert len(runs) <= KILLS, "runs end before they can be killed; make them longer"
        command = safegym(home, *TRAIN, "--seed", str(len(runs)), "--out", str(run))
        wait_for(run / "last.json", command)
        while kills < KILLS:
            time.sleep(chance.uniform(0.0, 7.0))
            if finished(command):
                break
            kills += 1
            command.end(signal.SIGKILL)
            command = safegym(home, "train", "--resume", str(run))
        command.process.wait(300)
        assert finished(command)
    assert [verified(home, run) for run in runs] == ["intact"] * len(runs)


@pytest.mark.slow
def test_ctrl_c_checkpoints_closes_the_log_and_says_how_to_go_on(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    command = safegym(home, *TRAIN, "--out", str(run))
    wait_for(run / "checkpoints" / "epoch-00001", command)
    status, output = command.end(signal.SIGINT)
    assert status == 3, output
    assert f"safegym train --resume {run}" in output.replace("\n", "")
    assert verified(home, run) == "incomplete"
    status, output = safegym(home, "train", "--resume", str(run)).ended()
    assert status in (0, 3), output
    assert verified(home, run) == "intact"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "ctrl-c"])
def test_a_run_ended_before_its_training_began_goes_on_from_its_registered_plan(
    tmp_path: Path, number: signal.Signals
) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    train = ["train", "drone/corridor-v0", "--steps", "2048", "--every", "2048", "--screen", "60"]
    command = safegym(home, *train, "--out", str(run))
    wait_for(run / "checkpoints.txt", command)
    command.end(number)
    assert not (run / "training.json").exists()
    status, output = safegym(home, *train, "--out", str(run)).ended()
    assert status == 2
    assert f"safegym train --resume {run}" in output.replace("\n", " ")
    status, output = safegym(home, "train", "--resume", str(run)).ended()
    assert status in (0, 3), output
    assert "baseline: guidance alone" in output
    assert verified(home, run) == "intact"
    status, output = safegym(home, "train", "--resume", str(run)).ended()
    assert (status, "has ended" in output) == (2, True)
