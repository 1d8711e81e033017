"""Hyperparameters on the command line: what an assignment says, and what is refused."""

from pathlib import Path

import pytest

from safegym.cli.application import run
from safegym.cli.assignments import assigned
from safegym.errors import GateError


def test_assignments_are_plain_data():
    texts = [
        "tau=0.01",
        "net_arch=[64, 32]",
        "target_kl=null",
        "normalise=true",
        "noise=normal",
        'learning_rate={"start": 3e-4, "end": 0}',
        "penalty.weight=4",
        "penalty.claims.cart.upright=2",
    ]
    nested = {"weight": 4, "claims": {"cart.upright": 2}}
    assert assigned(texts) == {
        "tau": 0.01,
        "net_arch": [64, 32],
        "target_kl": None,
        "normalise": True,
        "noise": "normal",
        "learning_rate": {"start": 3e-4, "end": 0},
        "penalty": nested,
    }
    assert assigned([]) == {}


@pytest.mark.parametrize("text", ["tau", "=3", "penalty.=3", ".weight=3"])
def test_what_is_no_assignment_is_refused_with_one_that_is(text):
    with pytest.raises(GateError, match="write --set NAME=VALUE"):
        assigned([text])


@pytest.mark.parametrize(
    "texts", [["tau=1", "tau=2"], ["penalty=1", "penalty.weight=2"], ["a.b=1", "a.b.c=1"]]
)
def test_a_value_given_twice_is_refused(texts):
    with pytest.raises(GateError, match="given before"):
        assigned(texts)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--algo sac", "takes Box actions, the scenario has Discrete(2)"),
        ("--algo ars", "no buffer to write penalties into"),
        ("--algo dqn --set tua=1", "did you mean 'tau'?"),
        ("--algo dqn --set tau=much", "tau is 'much'; give a number in [0, 1]"),
        ("--set n_steps=300", "gate_every="),
        ("--start-from nowhere", "nowhere"),
    ],
)
def test_a_training_that_cannot_be_is_refused_without_a_run_folder(line, words, tmp_path, capsys):
    out = tmp_path / "run"
    status = run(["train", "classic/cartpole-v0", *line.split(), "--out", str(out)])
    assert status == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_a_resumed_run_takes_no_hyperparameters(tmp_path, capsys):
    assert run(["train", "--resume", str(tmp_path), "--set", "tau=1", "--algo", "sac"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "leave out --algo, --set" in said
    assert not list(Path(tmp_path).iterdir())
