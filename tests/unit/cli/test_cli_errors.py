"""Bad input at the command line: words, exit statuses, and JSON on standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from safegym.audit.sign import default_signer
from safegym.cli import console
from safegym.cli.application import run


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace") / "cart.json"
    assert run(["record", "classic/cartpole-v0", "--out", str(path)]) == 0
    return path


CART = "classic/cartpole-v0"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("record drone/coridor-v0", "did you mean drone/corridor-v0"),
        ("scenarios show nope", "There is no scenario 'nope'"),
        (f"record {CART} --policy bad:nope", "ready: good"),
        (f"record {CART} --out /nonexistent/x.json", "No such file or directory"),
        ("check missing.json -f always(x<1)", "safegym record NAME --out F"),
        ("train", "Name a scenario"),
        (f"train {CART}", f"safegym train {CART} --out runs/first"),
        ("train --resume nowhere", "safegym train NAME --out nowhere"),
        ("train --resume nowhere --steps 5 --lift 0.9", "leave out --steps, --lift"),
        (f"train {CART} --lift 0.9 --out OUT --seed {2**60}", "at most 9007199254740991"),
        (f"train {CART} --lift 0.9 --out OUT --cap 20", "Allow at least 74"),
        (f"certify {CART} --policy good --lift 0.9 --budget 5", "--budget 74"),
        (f"certify {CART} --policy good --lift 1.5", "lift=0.99"),
        (f"certify {CART} --policy /etc --lift 0.9", "MANIFEST.json is missing"),
        ("audit verify nowhere", "no run folder or bundle nowhere"),
        ("report nowhere", "nowhere"),
        ("audit export nowhere --out b.zip", "nowhere"),
        ("nope", "No such command 'nope'. See: safegym --help"),
        ("record --nope", "No such option: --nope. See: safegym record --help"),
    ],
)
def test_bad_input_is_answered_in_words_with_status_two_and_as_json(
    line: str, words: str, capsys: pytest.CaptureFixture[str], own_home: Path
) -> None:
    default_signer()
    arguments = line.replace("OUT", str(own_home / "run")).split()
    capsys.readouterr()
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert run([*arguments, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)["error"]
    assert words in told["message"]
    assert told["exit"] == 2


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("always(pole_angl < 1)", "did you mean pole_angle"),
        ("always[0,0.033](pole_angle < 1)", "not a multiple of dt = 0.02 s"),
        ("always(cart_velocity + cart_position < 2)", "measure different things"),
    ],
)
def test_a_formula_that_does_not_fit_is_answered_with_what_would(
    trace: Path, formula: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(trace), "-f", formula, "--scenario", CART]) == 2
    assert words in capsys.readouterr().err


def test_a_truncated_trace_is_refused(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.json"
    cut.write_bytes(trace.read_bytes()[:2000])
    assert run(["check", str(cut), "--scenario", CART]) == 2
    assert "not valid JSON" in capsys.readouterr().err


def test_a_policy_that_does_not_fit_spends_no_attempt(
    own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from stable_baselines3 import PPO

    from safegym.policy.sb3 import freeze

    folder = own_home / "policy"
    freeze(PPO("MlpPolicy", "Pendulum-v1", device="cpu")).save(folder)
    assert run(["certify", CART, "--policy", str(folder), "--lift", "0.9"]) == 2
    assert "observation space" in capsys.readouterr().err
    kept = "".join(path.read_text() for path in (own_home / "attempts").glob("*.jsonl"))
    assert '"kind":"started"' not in kept


def test_an_internal_fault_says_so_and_never_ends_like_a_violated_claim(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError(name)

    monkeypatch.setattr("safegym.scenario.registry.find", broken)
    assert run(["record", CART]) == 2
    assert "--debug" in capsys.readouterr().err
    assert run(["record", CART], debug=True) == 2
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_ends_inconclusive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("safegym.scenario.registry.find", interrupted)
    assert run(["record", CART, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "Interrupted"


@pytest.mark.parametrize("text", ["[red]", "[/x]", "acts [nan nan]", "always[a,b]"])
def test_brackets_in_a_message_are_shown_as_they_are(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from safegym.errors import ScenarioError

    def refused(name: str) -> None:
        raise ScenarioError(text)

    monkeypatch.setattr("safegym.scenario.registry.find", refused)
    assert run(["record", CART]) == 2
    assert f"safegym: {text}" in capsys.readouterr().err


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert (
        console.shown("a\x1b[31mb\x07\nc")
        == "a\N{REPLACEMENT CHARACTER}[31mb\N{REPLACEMENT CHARACTER}\nc"
    )


@pytest.mark.parametrize("line", ["scenarios --json", "train nothere --json"])
def test_output_that_nobody_reads_ends_inconclusive_and_quiet(line: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "safegym", *line.split()]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    "line", ["scenarios", "claims", f"scenarios show {CART}", f"claims check {CART}"]
)
def test_json_is_all_that_standard_output_holds(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
