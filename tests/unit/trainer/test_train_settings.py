"""Training settings: round trip, digests, refusals with the value that would work."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.gate.penalty import PenaltySettings
from safegym.gate.replay import ReplaySettings
from safegym.gate.trainer.settings import Linear, TrainSettings


def test_settings_come_back_from_json():
    chosen = TrainSettings(
        learning_rate=Linear(1e-3, 1e-4, 0.5),
        target_kl=0.03,
        net_arch=(32,),
        penalty=PenaltySettings(claims={"a.b": 2.0}),
        replay=ReplaySettings(share=0.1),
    )
    again = TrainSettings.from_json(json.loads(canonical_json(chosen.to_json())))
    assert again == chosen
    assert again.digest == chosen.digest
    assert replace(chosen, seed=1).digest != chosen.digest


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"algo": "ars"}, "algo= one of ppo, a2c, trpo"),
        ({"steps": 0}, "steps is 0"),
        ({"n_envs": True}, "n_envs is True"),
        ({"gate_every": 20_000}, "gate_every=20480 is"),
        ({"batch_size": 96}, "batch_size=32 does"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"activation": "step"}, "use tanh, relu or elu"),
        ({"net_arch": (0,)}, "net_arch is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(wrong, message):
    with pytest.raises(GateError, match=message):
        TrainSettings(**wrong)


def test_unknown_or_missing_fields_are_refused():
    data = TrainSettings().to_json()
    with pytest.raises(GateError, match="fields: speed"):
        TrainSettings.from_json({**data, "speed": 1})
    with pytest.raises(GateError, match="fields: steps"):
        TrainSettings.from_json({k: v for k, v in data.items() if k != "steps"})
    with pytest.raises(GateError, match="malformed"):
        TrainSettings.from_json({**data, "learning_rate": {"begin": 1}})


def test_a_linear_schedule_needs_a_share_of_the_run():
    with pytest.raises(GateError, match=r"share in \(0, 1\]"):
        Linear(1.0, 0.0, 0.0)


def test_settings_load_neither_torch_nor_stable_baselines3():
    code = (
        "import sys, safegym.gate.trainer.settings, safegym.gate.trainer.events\n"
        "assert not {'torch', 'stable_baselines3', 'z3', 'mujoco'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_scenario_changes_some_settings_as_plain_data():
    changed = TrainSettings.of(
        {
            "steps": 1000,
            "net_arch": [32],
            "learning_rate": {"start": 1e-3, "end": 0.0, "fraction": 1.0},
            "penalty": {"weight": 9.0},
        }
    )
    assert changed == TrainSettings(
        steps=1000,
        net_arch=(32,),
        learning_rate=Linear(1e-3, 0.0),
        penalty=PenaltySettings(weight=9.0),
    )
    assert TrainSettings.of({}) == TrainSettings()
    assert TrainSettings.of({"learning_rate": Linear(1.0, 0.5)}).learning_rate == Linear(1.0, 0.5)
    with pytest.raises(GateError, match=r"'step' \(did you mean 'steps'\?\); ppo takes"):
        TrainSettings.of({"step": 3})
