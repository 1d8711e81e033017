"""What hangs on a network's objects and not on their classes is not lost silently on freezing."""

import gymnasium as gym
import pytest
import torch
from stable_baselines3 import PPO
from torch import nn

from safegym.errors import PolicyError
from safegym.policy.sb3 import freeze

torch.set_num_threads(1)


def _ppo() -> PPO:
    return PPO(
        "MlpPolicy", gym.make("Pendulum-v1"), n_steps=16, batch_size=16, seed=3, device="cpu"
    )


def _hook(model):
    model.policy.action_net.register_forward_hook(lambda module, given, found: -found)


def _exchange(model):
    model.policy.mlp_extractor.policy_net[1] = nn.ReLU()


def _replace(model):
    model.policy._predict = lambda rows, deterministic=False: torch.zeros(len(rows), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_hook, "Policy ppo cannot be frozen: PPO, layer action_net: Linear has a hook"),
        (_exchange, r"its part mlp_extractor\.policy_net\.1 is no longer what its policy_kwargs"),
        (_replace, "ActorCriticPolicy has its own _predict in place of its class's"),
    ],
)
def test_a_network_that_freezing_would_lose_a_part_of_is_refused(change, message):
    model = _ppo()
    freeze(model)
    change(model)
    with pytest.raises(PolicyError, match=message):
        freeze(model)
