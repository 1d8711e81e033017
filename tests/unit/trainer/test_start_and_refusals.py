"""Training that starts from a policy, and what is refused before a run folder is made."""

import json

import gymnasium as gym
import numpy as np
import pytest
import torch
from cart_training import cart_spec, make_cart, small_settings

from safegym.errors import GateError, PolicyError, RunFolderError
from safegym.gate.plan import Gate, GatePlan
from safegym.gate.trainer import events
from safegym.gate.trainer.choosing import chosen_settings
from safegym.gate.trainer.fitting import policy_to_start_from
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.identity import RunIdentity
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import make_envs
from safegym.gate.trainer.warm import START
from safegym.gate.training import resume, train
from safegym.policy.sb3 import freeze, load_policy, optimisers, read_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

PLAN = GatePlan(gate_every=64, screen_episodes=1, cap=80, lift=0.5)


def settings(**changes) -> TrainSettings:
    return small_settings(steps=64, **changes)


def trained(out, chosen, **kwargs):
    return train(cart_spec(), settings=chosen, gate=Gate(plan=PLAN), out=out, **kwargs)


class First:
    """Hears what the first checkpoint froze: the gate deletes it an epoch later."""

    def __call__(self, event):
        if isinstance(event, events.CheckpointWritten) and event.epoch == 0:
            self.policy = load_policy(event.path)
            self.document = read_checkpoint(event.path).document["algorithm"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A policy that was trained with normalised observations, and its folder."""
    chosen = settings(normalise=True)
    envs = make_envs(cart_spec(), chosen, cart_spec().claims)
    model = make_learner(chosen, envs.env)
    model.learn(64)
    place = tmp_path_factory.mktemp("source") / "policy"
    policy = freeze(model)
    policy.save(place)
    return policy, place


def test_a_run_starts_from_the_weights_and_the_normaliser_of_a_policy(tmp_path, source):
    policy, place = source
    first = First()
    chosen = settings(normalise=True, seed=3)
    run = trained(tmp_path / "r", chosen, start_from=place, listener=first)
    assert digest_tensors(first.policy.weights) == digest_tensors(policy.weights)
    # the two observations of the first resets are added to the 64 that it stands for
    moved = first.policy.normaliser.mean - policy.normaliser.mean
    assert 0.0 < np.abs(moved).max() < 0.1
    stored = json.loads((run.folder / "training.json").read_bytes())
    assert stored["settings"]["start_policy"] == policy.card.digest
    assert float.fromhex(first.document["normalise"]["obs_count"]) == 66.0


def test_a_checkpoint_is_started_from_by_another_algorithm_of_its_policy_class(tmp_path):
    begun = trained(tmp_path / "a", settings())
    place = begun.folder / "checkpoints" / "epoch-00001"
    first = First()
    changes = {"n_steps": 32}
    trained(
        tmp_path / "b", settings(), algo="a2c", changes=changes, start_from=place, listener=first
    )
    assert digest_tensors(first.policy.weights) == digest_tensors(load_policy(place).weights)


def test_a_run_broken_off_before_its_first_checkpoint_starts_from_the_policy_again(
    tmp_path, source
):
    policy, place = source

    def cut(event):
        if isinstance(event, events.RunStarted):
            raise KeyboardInterrupt

    run = trained(tmp_path / "r", settings(normalise=True), start_from=place, listener=cut)
    assert run.status == "interrupted"
    first = First()
    resume(tmp_path / "r", scenario=cart_spec(), listener=first)
    assert digest_tensors(first.policy.weights) == digest_tensors(policy.weights)


def test_the_starting_policy_of_a_run_cannot_be_exchanged(tmp_path, source):
    policy, _ = source
    chosen = chosen_settings(settings(), None, {"start_policy": policy.card.digest})
    trainer = Trainer(cart_spec(), chosen, tmp_path / "r", NoGate())
    with pytest.raises(GateError, match=r"start cannot be read: .*start_from=FOLDER"):
        trainer.run()
    other = freeze(make_learner(settings(), make_envs(cart_spec(), settings(), ()).env))
    other.save(tmp_path / "r" / START)
    with pytest.raises(GateError, match="holds sha256:"):
        trainer.run()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"normalise": False}, "has a normaliser, and the run has normalise=False"),
        ({"net_arch": [16]}, "set net_arch as the policy has it"),
        ({"critic_arch": [4]}, "set critic_arch as the policy has it"),
        ({"activation": "relu"}, "Tanh, the run's network has .*ReLU, .* set activation as the"),
        (
            {"algo": "recurrent-ppo", "n_steps": 32, "batch_size": 32},
            "RecurrentPPO trains a RecurrentActorCriticPolicy",
        ),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path, source, changes, words
):
    _, place = source
    base = settings(normalise=True)
    changes = dict(changes)
    algo = changes.pop("algo", None)
    with pytest.raises(PolicyError, match=words):
        trained(tmp_path / "r", base, algo=algo, changes=changes, start_from=place)
    assert not (tmp_path / "r").exists()


def test_looking_at_a_policy_to_start_from_draws_no_random_number(source):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    policy_to_start_from(source[1], cart_spec(), settings(normalise=True))
    assert torch.equal(torch.get_rng_state(), before)


def test_an_algorithm_for_other_actions_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(GateError, match=r"algo='sac' takes Box actions, .*Discrete\(2\)"):
        trained(tmp_path / "r", settings(), algo="sac", changes={"batch_size": 32})
    assert not (tmp_path / "r").exists()


def test_settings_that_another_version_stored_are_refused_with_both_versions():
    now = RunIdentity.of(cart_spec(), cart_spec().claims, settings()).to_json()
    del now["settings"]["start_policy"]
    older = {**now, "versions": {**now["versions"], "safegym": "0.0.1"}}
    with pytest.raises(
        GateError, match=r"begun with safegym 0\.0\.1.*pip install safegym==0\.0\.1"
    ):
        RunIdentity.from_json(older)
    with pytest.raises(GateError, match="missing fields: start_policy"):
        RunIdentity.from_json(now)


def test_a_manifest_of_another_format_is_refused_by_name(tmp_path, source):
    policy, _ = source
    policy.save(tmp_path / "p")
    manifest = tmp_path / "p" / "MANIFEST.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"checkpoint-1", b"checkpoint-9"))
    with pytest.raises(PolicyError, match=r"'safegym-checkpoint-9'; this version of safegym reads"):
        load_policy(tmp_path / "p")


def test_an_optimiser_state_of_other_shapes_is_refused(source):
    chosen = settings()
    model = make_learner(chosen, make_envs(cart_spec(), chosen, ()).env)
    model.learn(64)
    document, tensors = optimisers.capture(model)
    optimisers.restore(model, document, tensors)
    name = next(key for key in tensors if key.endswith("0/exp_avg"))
    with pytest.raises(PolicyError, match=r"exp_avg of shape \(3, 3\) for parameter 0, which has"):
        optimisers.restore(model, document, {**tensors, name: torch.zeros(3, 3)})
    extra = {"optimiser.policy.optimizer/99/exp_avg": torch.zeros(1)}
    with pytest.raises(PolicyError, match="for 100 parameters or more"):
        optimisers.restore(model, document, {**tensors, **extra})


def test_two_trainers_cannot_share_a_run_folder(tmp_path):
    seen: list[str] = []

    def second(event):
        if isinstance(event, events.RunStarted):
            with pytest.raises(RunFolderError, match="in use"):
                resume(tmp_path / "r", scenario=cart_spec())
            seen.append("refused")

    trained(tmp_path / "r", settings(), listener=second)
    assert seen == ["refused"]


def test_a_reward_that_is_not_a_number_stops_every_algorithm_and_keeps_the_checkpoint(tmp_path):
    class Broken(gym.Wrapper):
        def step(self, action):
            observation, _, terminated, truncated, info = self.env.step(action)
            return observation, float("nan"), terminated, truncated, info

    spec = cart_spec(name="test/broken", make_env=lambda: Broken(make_cart()))
    for algo in ("a2c", "recurrent-ppo"):
        batch = {} if algo == "a2c" else {"batch_size": 32}
        chosen = chosen_settings(settings(), algo, {"n_steps": 32, **batch})
        out = tmp_path / algo
        with pytest.raises(GateError, match=r"reward is not finite .*last checkpoint is kept"):
            Trainer(spec, chosen, out, NoGate()).run()
        assert read_checkpoint(out / "checkpoints" / "epoch-00000").extra["epoch"] == 0


@pytest.mark.parametrize(
    ("algo", "changes", "message"),
    [
        (None, {"learning_rate": -1}, "ppo does not take these settings .*learning rate: -1"),
        (None, {"use_sde": True}, "ppo does not take these settings .*continuous actions"),
        ("recurrent-ppo", {"shared_lstm": True}, "recurrent-ppo does not take these settings"),
        (None, {"penalty": 4}, "penalty is 4; give fields of it by name: weight, cap"),
        (None, {"net_arch": 64}, r"net_arch is 64; give a list of widths: \[64, 64\]"),
        ("a2c", {"algo": "ppo"}, "algo is given as 'a2c' and as 'ppo'"),
        (None, {"seed": 3}, r"seed is 0 by seed \(--seed\) and 3 in the changes"),
        (None, {"penalty": {"claims": {"cart.no": 2}}}, "Penalty weights are given for cart.no"),
    ],
)
def test_settings_that_nothing_can_train_with_leave_no_folder(tmp_path, algo, changes, message):
    out = tmp_path / "run"
    gate = Gate(plan=GatePlan(lift=0.9))
    with pytest.raises(GateError, match=message):
        train(cart_spec(), algo=algo, changes=changes, seed=0, out=out, gate=gate)
    assert not out.exists()


def test_an_algorithm_among_the_changes_takes_its_own_defaults():
    base = small_settings(n_epochs=3).to_json()
    assert chosen_settings(base, None, {"algo": "dqn"}) == chosen_settings(base, "dqn")
