"""Attempts that were killed with SIGKILL, at any point, and what the ledger makes of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import killed_child
import pytest
from chain import still

from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import EvidenceError
from safegym.gate.attempt import Attempt, Certifier

CHILD = Path(__file__).parent / "killed_child.py"


def killed(home: Path, where: str) -> None:
    """Run the child until it says that it is there, then SIGKILL it."""
    code = "import sys, pathlib, killed_child as k; k.main(pathlib.Path(sys.argv[1]), sys.argv[2])"
    command = [sys.executable, "-c", code, str(home), where]
    environment = {**os.environ, "PYTHONPATH": str(CHILD.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "now\n"
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL


def whole(home: Path, name: str = "killed") -> Attempt:
    made = killed_child.setting()
    return Certifier(made, killed_child.ledger(home)).attempt(still(name))


def told(home: Path) -> AttemptLedger:
    return killed_child.ledger(home)


@pytest.mark.parametrize("where", ["started", "at 1", "at 99", "at 100", "at 250"])
def test_a_killed_attempt_keeps_its_number_and_ends_as_if_nothing_had_happened(
    tmp_path: Path, where: str
) -> None:
    expected = whole(tmp_path / "calm")
    killed(tmp_path / "home", where)
    (open_,) = told(tmp_path / "home").attempts()
    assert (open_.number, open_.outcome) == (1, None)
    assert open_.next_index == {"at 100": 100, "at 250": 200}.get(where, 0)
    again = whole(tmp_path / "home")
    assert (again.number, again.outcome, again.replayed) == (1, "certified", False)
    assert again.evidence == expected.evidence
    (closed,) = told(tmp_path / "home").attempts()
    assert (closed.outcome, closed.starts) == ("certified", 2)


def test_a_killed_attempt_counts_although_it_never_ended(tmp_path: Path) -> None:
    killed(tmp_path, "at 1")
    other = whole(tmp_path, "another policy")
    assert other.number == 2
    assert other.evidence[0].level is not None
    first = whole(tmp_path).evidence[0].level
    assert first is not None
    assert other.evidence[0].level < first / 3


def test_episodes_that_come_out_otherwise_after_a_kill_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(tmp_path, "at 250")
    monkeypatch.setenv("SCALE", "5")
    with pytest.raises(EvidenceError, match=r"first 200 episodes now come out otherwise"):
        whole(tmp_path)
    (entry,) = told(tmp_path).attempts()
    assert entry.outcome == "abandoned"
    monkeypatch.delenv("SCALE")
    assert whole(tmp_path).outcome == "certified"


def test_an_attempt_is_run_again_from_its_first_episode_so_that_its_evidence_is_whole(
    tmp_path: Path,
) -> None:
    """Why it is not continued at its index: docs/decisions/0011."""
    killed(tmp_path / "home", "at 250")
    seen: list[int] = []
    made = killed_child.setting()
    certifier = Certifier(made, killed_child.ledger(tmp_path / "home"), listener=_numbers(seen))
    attempt = certifier.attempt(still("killed"))
    assert seen == list(range(1, attempt.episodes + 1))


def _numbers(seen: list[int]):  # type: ignore[no-untyped-def]
    from safegym.gate.events import EpisodeJudged, GateEvent

    def hear(event: GateEvent) -> None:
        if isinstance(event, EpisodeJudged):
            seen.append(event.number)

    return hear
