"""Exploration noise in a checkpoint: the same draws after it was stored and read."""

import json

import numpy as np
import pytest
import stable_baselines3 as sb3
from stable_baselines3.common.noise import (
    ActionNoise,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
    VectorizedActionNoise,
)

from safegym.digest import canonical_json
from safegym.errors import PolicyError
from safegym.policy.sb3 import load_algorithm, save_checkpoint
from safegym.policy.sb3.codec import decode, encode

MEAN, SIGMA = np.array([0.0, 0.1]), np.array([0.3, 1.0 / 3.0])


@pytest.mark.parametrize(
    "noise",
    [
        NormalActionNoise(MEAN, SIGMA),
        OrnsteinUhlenbeckActionNoise(MEAN, SIGMA, theta=0.2, dt=0.05),
        OrnsteinUhlenbeckActionNoise(MEAN, SIGMA, initial_noise=np.array([1.0, -1.0])),
        NormalActionNoise(MEAN.reshape(1, 2), SIGMA.reshape(1, 2), dtype=np.float64),
    ],
)
def test_a_stored_noise_draws_the_same_numbers(noise):
    again = decode(json.loads(canonical_json(encode(noise))))
    assert type(again) is type(noise)
    drawn = []
    for item in (noise, again):
        np.random.seed(5)
        item.reset()
        drawn.append([item() for _ in range(4)])
    np.testing.assert_array_equal(*drawn)
    assert drawn[0][0].dtype == drawn[1][0].dtype
    assert encode(VectorizedActionNoise(noise, 3)) == encode(noise)


def test_a_noise_of_ones_own_is_refused():
    class Mine(ActionNoise):
        def __call__(self):
            return np.zeros(1)

    with pytest.raises(PolicyError, match="Action noise Mine cannot be stored"):
        encode(Mine())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "normal"}, "malformed"),
        ({**encode(NormalActionNoise(MEAN, SIGMA))["$noise"], "kind": "pink"}, "'pink'"),
        ({**encode(NormalActionNoise(MEAN, SIGMA))["$noise"], "shape": [3]}, "malformed"),
    ],
)
def test_a_malformed_noise_is_refused(body, message):
    with pytest.raises(PolicyError, match=message):
        decode({"$noise": body})


def test_an_algorithm_with_noise_and_n_step_returns_comes_back(tmp_path):
    noise = NormalActionNoise(np.zeros(1), np.full(1, 0.1))
    trained = sb3.TD3(
        "MlpPolicy",
        "Pendulum-v1",
        n_steps=3,
        buffer_size=100,
        action_noise=noise,
        policy_kwargs={"net_arch": [4]},
    )
    save_checkpoint(trained, tmp_path / "c")
    again = load_algorithm(tmp_path / "c", trained.get_env())
    assert (again.n_steps, type(again.replay_buffer)) == (3, type(trained.replay_buffer))
    assert again.replay_buffer.n_steps == 3
    np.testing.assert_array_equal(again.action_noise._sigma, [0.1])
