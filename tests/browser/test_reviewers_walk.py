"""A reviewer's walk: a bundle, the signer's public key, no network, and five questions.

The reviewer has no run folder, no key of their own and nothing of the author's.
"""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from safegym.cli.application import run

pytestmark = pytest.mark.slow
CART, CLAIM = "classic/cartpole-v0", "cartpole.pole"
SINGLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "verify_single.py"
WHO, UNTIL = "A. Author", "2100-01-31"


class Handed(NamedTuple):
    """What the reviewer was given; policy: digest of the one that the author says is released."""

    bundle: Path
    earlier: Path
    key: Path
    policy: str


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Handed:
    """Two certified runs of one scenario, packed; then everything of the author's is deleted."""
    author, to = tmp_path_factory.mktemp("author"), tmp_path_factory.mktemp("reviewer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(author / "home"))
        bundles: list[Path] = []
        for name, budget in (("earlier", "300"), ("now", "400")):
            folder = author / name
            made = ["certify", CART, "--policy", "good", "--budget", budget, "--out", str(folder)]
            assert run(made) == 0
            if name == "now":
                line = ["--claim", CLAIM, "--who", WHO, "--why", "bench only", "--until", UNTIL]
                assert run(["audit", "waive", str(folder), *line]) == 0
            bundles.append(to / f"{name}.zip")
            assert run(["audit", "export", str(folder), "--out", str(bundles[-1])]) == 0
        key = Path(shutil.copy(author / "home" / "audit-key.pub.pem", to / "key.pub.pem"))
    from safegym.audit.read import read_log

    policy = next(r.payload["policy"] for r in read_log(bundles[1]) if r.kind == "promotion")
    shutil.rmtree(author)
    return Handed(bundles[1], bundles[0], key, policy)


@pytest.fixture
def ask(
    handed: Handed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, Any, str]]:
    """Runs a command with --json and without; returns status, value and text."""
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(handed.bundle.parent)

    def refused(*_: object) -> None:
        raise AssertionError("a reviewer's command went to the network")

    monkeypatch.setattr(socket.socket, "connect", refused)

    def told(*words: str) -> tuple[int, Any, str]:
        capsys.readouterr()
        line = [*words, "--key", handed.key.name]
        text_status = run(line)
        text = " ".join(capsys.readouterr().out.split())
        status = run([*line, "--json"])
        assert status == text_status
        return status, json.loads(capsys.readouterr().out), text

    return told


def test_the_bundle_is_intact_and_its_report_is_drawn_from_it_alone(
    handed: Handed, ask: Callable[..., Any], tmp_path: Path
) -> None:
    status, found, text = ask("audit", "verify", handed.bundle.name)
    assert (status, found["result"]) == (0, "intact")
    assert "re-derivation ok" in text
    page = tmp_path / "page.html"
    assert ask("report", handed.bundle.name, "--out", str(page))[0] == 0
    shown = page.read_text()
    assert "CERTIFIED" in shown
    assert handed.policy in shown
    single = [sys.executable, str(SINGLE), str(handed.bundle), "--key", str(handed.key)]
    alone = subprocess.run(single, capture_output=True, text=True, check=True).stdout
    assert found["root"] in alone


def test_1_which_policy_is_released_and_on_what_evidence(
    handed: Handed, ask: Callable[..., Any]
) -> None:
    status, found, text = ask("audit", "released", handed.bundle.name)
    assert status == 0
    assert handed.policy in json.dumps(found)
    assert handed.policy.removeprefix("sha256:")[:12] in text
    for words in (CLAIM, "cartpole.track", "cartpole.settle", "estimated"):
        assert words in text


def test_2_what_changed_since_the_release_before(handed: Handed, ask: Callable[..., Any]) -> None:
    _, found, text = ask("audit", "changed", handed.earlier.name, handed.bundle.name)
    assert "400" in text
    assert "300" in text
    assert "400" in json.dumps(found)


def test_3_which_claims_were_waived_by_whom_until_when(
    handed: Handed, ask: Callable[..., Any]
) -> None:
    _, found, text = ask("audit", "waivers", handed.bundle.name)
    for words in (CLAIM, WHO, UNTIL):
        assert words in text
        assert words in json.dumps(found)
    assert ask("audit", "verify", handed.bundle.name)[1]["result"] == "intact"


def test_4_which_episode_was_the_worst_and_how_to_run_it_again(
    handed: Handed, ask: Callable[..., Any]
) -> None:
    status, found, text = ask("audit", "worst", handed.bundle.name)
    assert status in (0, 1)
    assert "seed" in text
    assert "cartpole." in json.dumps(found)


def test_5_a_verdict_comes_out_again_as_logged(handed: Handed, ask: Callable[..., Any]) -> None:
    status, _, text = ask("audit", "rederive", handed.bundle.name, "--claim", CLAIM)
    assert status == 0
    assert "satisfied" in text
