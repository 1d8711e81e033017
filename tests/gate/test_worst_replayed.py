"""The worst episode of a certification is run again from the bundle, with its kept weights."""

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from safegym.audit.bundle import export
from safegym.cli.application import run as safegym
from safegym.gate.certify import certify
from safegym.policy.network import Layer, NetworkPolicy

pytestmark = pytest.mark.slow
CART = "classic/cartpole-v0"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of a certification of a linear network; its key lies beside it."""
    place = tmp_path_factory.mktemp("replay")
    env = gym.make("CartPole-v1")
    observed, acted = env.observation_space, env.action_space
    env.close()
    assert isinstance(observed, spaces.Box)
    assert isinstance(acted, spaces.Discrete)
    push = np.array([0.3, 0.6, 6.0, 1.6], np.float32)
    layer = Layer(np.stack([-push, push]), np.zeros(2, np.float32))
    policy = NetworkPolicy((layer,), observation_space=observed, action_space=acted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEGYM_HOME", str(place / "home"))
        certify(CART, policy, budget=120, out=place / "run")
        return export(place / "run", place / "a.zip")


def asked(bundle: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    capsys.readouterr()
    key = str(bundle.parent / "home" / "audit-key.pub.pem")
    line = ["audit", "worst", str(bundle), "--key", key, "--fast", "--json", *words]
    status = safegym(line)
    return status, json.loads(capsys.readouterr().out)


def test_the_kept_weights_give_the_same_episode_again(bundle, capsys):
    status, told = asked(bundle, capsys, "--replay")
    first, again = told["episodes"][0], told["replay"]
    assert again["same"], again
    assert again["trace"] == first["trace"]
    assert again["scenario_here"] == again["scenario_logged"]
    assert again["finding"]["lo"] == first["lo"]
    assert status == (1 if first["status"] == "violated" else 0)


def test_other_weights_under_the_same_name_are_refused(bundle, tmp_path, capsys):
    import zipfile

    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "run")
    weights = next((tmp_path / "run").rglob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    capsys.readouterr()
    key = str(bundle.parent / "home" / "audit-key.pub.pem")
    status = safegym(["audit", "worst", str(tmp_path / "run"), "--key", key, "--replay"])
    assert status == 1
    assert "broken at step 6, artifacts" in capsys.readouterr().err
