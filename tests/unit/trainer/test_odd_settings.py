"""Settings that few use: with nothing failing, weights are still those of the plain algorithm."""

import gymnasium as gym
import numpy as np
import pytest
from cart_training import ANGLE, cart_spec, make_cart

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.learner import make_learner
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.settings import TrainSettings
from safegym.gate.trainer.vector import make_envs
from safegym.policy.sb3 import load_algorithm
from safegym.policy.sb3.tensors import digest_tensors

EXISTS = Claim("cart.exists", always(abs(ANGLE) < 1e6))


class Push(gym.ActionWrapper):
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def action(self, action):
        return int(action[0] > 0.0)


class Switches(gym.ActionWrapper):
    action_space = gym.spaces.MultiDiscrete([2, 3])

    def action(self, action):
        return int(action[0])


@pytest.mark.parametrize(
    ("wrap", "changes"),
    [
        (None, {"steps": 100, "n_envs": 3, "n_steps": 7, "batch_size": 21, "gate_every": 42}),
        (None, {"target_kl": 1e-4}),
        (None, {"clip_range_vf": 0.1, "normalise": True, "normalise_reward": True}),
        (Push, {"use_sde": True, "sde_sample_freq": 4}),
        (Switches, {}),
        (Switches, {"algo": "recurrent-ppo", "lstm_hidden_size": 8}),
    ],
)
def test_odd_settings_train_as_the_plain_algorithm_does(tmp_path, wrap, changes):
    few = {"steps": 128, "gate_every": 64, "n_envs": 2, "n_steps": 32, "batch_size": 32, "seed": 7}
    settings = TrainSettings.of({**few, "n_epochs": 2, "net_arch": [8], **changes})
    spec = cart_spec() if wrap is None else cart_spec(make_env=lambda: wrap(make_cart()))
    outcome = Trainer(spec, settings, tmp_path / "r", NoGate(), claims=(EXISTS,)).run()
    plain = make_learner(settings, make_envs(spec, settings, (EXISTS,)).env)
    plain.learn(settings.steps)
    ours = load_algorithm(outcome.checkpoint)
    assert ours.num_timesteps == plain.num_timesteps
    assert digest_tensors(ours.policy.state_dict()) == digest_tensors(plain.policy.state_dict())
