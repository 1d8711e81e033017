"""Tiny policies of every kind, with random weights."""

import gymnasium as gym
import numpy as np
import pytest
import stable_baselines3 as sb3
import torch
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

from safegym.policy.network import NetworkPolicy, Normalisation
from safegym.policy.network_layers import Layer

torch.set_num_threads(1)
OBSERVATION = spaces.Box(-np.inf, np.inf, (5,), np.float32)
BOX = spaces.Box(np.array([-2.0, -0.1], np.float32), np.array([1.0, 0.3], np.float32))
OFF = ("DQN", "SAC", "TD3", "DDPG")


class Anything(gym.Env):
    """An environment of the given spaces in which nothing happens."""

    def __init__(self, observation, action):
        self.observation_space, self.action_space = observation, action

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


@pytest.fixture
def algorithm():
    """An algorithm with random weights, `gain` times as large as usual."""

    def make(
        kind, action=BOX, observation=OBSERVATION, *, statistics=None, frames=0, gain=3.0, **more
    ):
        env = DummyVecEnv([lambda: Anything(observation, action)])
        if frames:
            env = VecFrameStack(env, frames)
        if statistics is not None:
            env = VecNormalize(env)
            env.obs_rms.mean, env.obs_rms.var = map(np.array, statistics[:2])
            env.clip_obs = statistics[2] if len(statistics) > 2 else 10.0
        sizes = {"buffer_size": 10} if kind in OFF else {}
        keywords = {"net_arch": [8, 8], **more.pop("policy_kwargs", {})}
        model = getattr(sb3, kind)(
            "MlpPolicy", env, seed=1, device="cpu", policy_kwargs=keywords, **sizes, **more
        )
        with torch.no_grad():
            for parameter in model.policy.parameters():
                parameter.mul_(gain).add_(0.05)
        return model

    return make


@pytest.fixture
def network():
    """A NetworkPolicy with random weights."""

    def make(
        seed=0,
        widths=(4, 6, 2),
        activation="relu",
        last="identity",
        *,
        action=None,
        normalised=False,
        squash=False,
        observation=None,
        name="network",
        scale=1.0,
        clip=10.0,
    ):
        generator = np.random.default_rng(seed)
        kinds = [activation] * (len(widths) - 2) + [last]
        layers = [
            Layer(
                scale * generator.normal(size=(after, before)),
                scale * generator.normal(size=after),
                kind,
                0.2,
            )
            for before, after, kind in zip(widths, widths[1:], kinds, strict=False)
        ]
        size = widths[0]
        if observation is None:
            observation = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        if action is None:
            action = spaces.Box(-1.5, 0.7, (widths[-1],), np.float32)
        normalisation = None
        if normalised:
            mean = 10.0 * generator.normal(size=observation.shape)
            spread = 10.0 ** generator.uniform(-2, 2, size=observation.shape)
            normalisation = Normalisation(mean, spread, clip)
        return NetworkPolicy(
            layers,
            observation_space=observation,
            action_space=action,
            normalisation=normalisation,
            squash=squash,
            name=name,
        )

    return make
