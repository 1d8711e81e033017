"""A run folder in which something was changed after it was broken off."""

import json
import shutil

import gymnasium as gym
import pytest
import safetensors.torch
import torch
from cart_training import cart_spec, make_cart, small_settings

from safegym.digest import canonical_json, digest_bytes
from safegym.errors import GateError, PolicyError, RunFolderError
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.trainer import events
from safegym.gate.trainer.fitting import refuse_untrainable
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.training import resume, train

PLAN = GatePlan(gate_every=64, screen_episodes=1, cap=80, lift=0.5)


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory):
    """A run that was interrupted in its second epoch."""

    def cut(event):
        if isinstance(event, events.RolloutEnded) and event.epoch == 2:
            raise KeyboardInterrupt

    out = tmp_path_factory.mktemp("run") / "r"
    settings = small_settings(steps=128, burst=BurstSettings(budget=0))
    train(cart_spec(), settings=settings, gate=Gate(plan=PLAN), out=out, listener=cut)
    return out


@pytest.fixture
def folder(tmp_path, broken_off):
    shutil.copytree(broken_off, tmp_path / "r")
    return tmp_path / "r"


def rewritten(path, change):
    document = json.loads(path.read_bytes())
    change(document)
    path.write_bytes(canonical_json(document))


def sealed_again(checkpoint):
    """Digests of the manifest made to match, as somebody does who knows the format."""
    rewritten(
        checkpoint / "MANIFEST.json",
        lambda manifest: [
            entry.update(digest=digest_bytes((checkpoint / name).read_bytes()))
            for name, entry in manifest["files"].items()
        ],
    )


def go_on(folder):
    return resume(folder, scenario=cart_spec())


def test_a_promotion_that_the_log_does_not_tell_is_no_release(folder):
    digest = json.loads((folder / "last.json").read_bytes())["policies"]["1"]
    rewritten(folder / "decision.json", lambda d: d.update(action="promote", policy_digest=digest))
    with pytest.raises(GateError, match="its log holds no such promotion"):
        go_on(folder)


def test_a_run_keeps_the_settings_that_its_log_registered(folder):
    rewritten(folder / "training.json", lambda d: d["settings"].update(seed=99))
    with pytest.raises(GateError, match=r"registered with seed=7, and its folder says seed=99"):
        go_on(folder)


def test_a_gate_that_lost_its_state_does_not_forget_spent_attempts(folder):
    rewritten(folder / "decision.json", lambda d: d.update(gate={}))
    with pytest.raises(GateError, match="spent attempts would be forgotten"):
        go_on(folder)


@pytest.mark.parametrize(
    ("name", "change", "error", "message"),
    [
        ("last.json", lambda d: d.pop("epoch"), RunFolderError, "last.json is malformed"),
        ("last.json", lambda d: d.update(policies=[]), RunFolderError, "last.json is malformed"),
        ("last.json", lambda d: d["report"].pop("steps"), RunFolderError, "missing 1 required"),
        ("last.json", lambda d: d["report"].update(steps=32), PolicyError, "after 64 steps"),
        ("decision.json", lambda d: d["gate"].pop("log_size"), GateError, "state of the gate"),
    ],
)
def test_a_malformed_file_of_a_run_is_named(folder, name, change, error, message):
    rewritten(folder / name, change)
    with pytest.raises(error, match=message):
        go_on(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["extra"].pop("bank"), r"epoch-00001 is malformed: KeyError\('bank'\)"),
        (lambda d: d["extra"].update(given="x"), "epoch-00001 is malformed: ValueError"),
        (lambda d: d["extra"]["slots"][0].update(stage=5), "is malformed: IndexError"),
        (lambda d: d["algorithm"].pop("counters"), "is malformed: KeyError"),
        (lambda d: d.update(algorithm=[]), "is malformed: AttributeError"),
        (lambda d: d["algorithm"]["counters"].update(num_timesteps=13), "after 13 steps"),
    ],
)
def test_a_malformed_checkpoint_is_named(folder, change, message):
    checkpoint = folder / "checkpoints" / "epoch-00001"
    rewritten(checkpoint / "training.json", change)
    sealed_again(checkpoint)
    with pytest.raises(PolicyError, match=message):
        go_on(folder)


def without(tensors, ending):
    for name in [name for name in tensors if name.endswith(ending)]:
        del tensors[name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.update({"extra.last_observations": torch.zeros(2, 3)}),
            r"last observations have shape \(2, 3\), the run's have \(2, 4\)",
        ),
        (
            lambda t: t.update({"extra.last_observations": torch.full((2, 4), torch.nan)}),
            "last observations are not finite",
        ),
        (
            lambda t: t.update({"extra.last_starts": torch.zeros(5, dtype=torch.bool)}),
            r"last starts have shape \(5,\)",
        ),
        (lambda t: without(t, "/exp_avg"), "lacks exp_avg of parameter"),
        (
            lambda t: t.update({k: v * torch.nan for k, v in t.items() if k.endswith("/exp_avg")}),
            "exp_avg' has values that are not finite",
        ),
    ],
)
def test_tensors_that_cannot_be_gone_on_from_are_refused(folder, change, message):
    checkpoint = folder / "checkpoints" / "epoch-00001"
    state = checkpoint / "training.safetensors"
    tensors = safetensors.torch.load(state.read_bytes())
    change(tensors)
    state.write_bytes(safetensors.torch.save(tensors))
    sealed_again(checkpoint)
    with pytest.raises(PolicyError, match=message):
        go_on(folder)


class Sides(gym.ObservationWrapper):
    """Left or right of the middle."""

    observation_space = gym.spaces.Discrete(2)

    def observation(self, observation):
        return int(observation[0] > 0.0)


class Switches(gym.ActionWrapper):
    action_space = gym.spaces.MultiBinary(3)

    def action(self, action):
        return int(action[0])


def test_statistics_of_observations_that_are_no_numbers_are_refused():
    spec = cart_spec(make_env=lambda: Sides(make_cart()))
    with pytest.raises(GateError, match=r"Discrete\(2\) observations; train it with normalise=F"):
        refuse_untrainable(spec, small_settings(normalise=True))
    refuse_untrainable(spec, small_settings())


def test_switches_are_not_for_a_recurrent_policy():
    spec = cart_spec(make_env=lambda: Switches(make_cart()))
    settings = TrainSettings.of({"algo": "recurrent-ppo", "gate_every": 1024})
    with pytest.raises(GateError, match=r"MultiBinary\(3\)\. These take them: ppo, a2c, trpo\."):
        refuse_untrainable(spec, settings)
