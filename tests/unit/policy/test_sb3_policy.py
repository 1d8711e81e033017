"""Frozen stable-baselines3 policies: bits, digests, pickling, refusals."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from safegym.errors import PolicyError
from safegym.policy.base import WIDTH, Policy
from safegym.policy.sb3 import Normaliser, SB3Policy, freeze, inference, load_policy, load_zip
from safegym.policy.sb3 import policy as sb3_policy

torch.set_num_threads(1)
STARTS = np.zeros(500, dtype=bool)


class Plane(gym.Env[np.ndarray, np.ndarray]):
    """Two numbers in, one out; enough to build policies on."""

    def __init__(self, dtype: type = np.float32) -> None:
        self.observation_space = spaces.Box(
            np.array([-np.inf, -2.5], dtype), np.array([np.inf, 1e30], dtype), dtype=dtype
        )
        self.action_space = spaces.Box(-0.3, 0.7, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.normal(size=2).astype(self.observation_space.dtype), {}

    def step(self, action):
        return self.reset()[0], float(action[0]), False, False, {}


def _ppo(env=None, **kwargs) -> PPO:
    return PPO(
        "MlpPolicy", env or Plane(), n_steps=16, batch_size=16, seed=3, device="cpu", **kwargs
    )


def _observations(count: int = 500) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 2)).astype(np.float32)


def test_a_frozen_policy_is_a_policy():
    policy = freeze(_ppo())
    assert isinstance(policy, Policy)
    assert policy.card.kind == "sb3"
    assert policy.card.mode == "deterministic"


def test_actions_agree_with_sb3s_own_predict():
    model = _ppo()
    actions, state = freeze(model).act(_observations(), "kept", STARTS)
    expected, _ = model.predict(_observations(), deterministic=True)
    np.testing.assert_allclose(actions, expected, atol=1e-6)
    assert state == "kept"


def test_discrete_actions_equal_sb3s_own_predict():
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, seed=1, device="cpu")
    observations = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    actions, _ = freeze(model).act(observations, None, STARTS)
    assert np.array_equal(actions, model.predict(observations, deterministic=True)[0])


def test_a_rows_action_is_the_same_bits_at_any_batch_size_and_place():
    policy = freeze(_ppo())
    observations = _observations()
    whole, _ = policy.act(observations, None, STARTS)
    single = np.concatenate([policy.act(o[None], None, STARTS[:1])[0] for o in observations])
    reverse, _ = policy.act(observations[::-1], None, STARTS)
    assert np.array_equal(whole, single)
    assert np.array_equal(whole, reverse[::-1])


def test_the_fallback_computes_each_row_alone_and_has_its_own_digest(monkeypatch):
    fixed = freeze(_ppo())
    monkeypatch.setattr(sb3_policy, "rows_are_independent", lambda *_: False)
    alone = freeze(_ppo())
    assert (fixed.card.width, alone.card.width) == (WIDTH, 1)
    assert fixed.card.digest != alone.card.digest
    observations = _observations()
    np.testing.assert_allclose(
        alone.act(observations, None, STARTS)[0],
        fixed.act(observations, None, STARTS)[0],
        atol=1e-6,
    )
    assert pickle.loads(pickle.dumps(alone)).card == alone.card


def test_the_self_test_notices_a_kernel_that_mixes_rows():
    inputs = _observations(WIDTH)
    assert inference.rows_are_independent(lambda rows: rows * 2, inputs)
    assert not inference.rows_are_independent(lambda rows: rows + 1e-7 * rows.sum(), inputs)
    assert not inference.rows_are_independent(
        lambda rows: rows + np.arange(len(rows), dtype=np.float32)[:, None], inputs
    )


def test_freezing_copies_the_weights():
    model = _ppo()
    policy = freeze(model)
    before, _ = policy.act(_observations(), None, STARTS)
    digest = policy.card.digest
    model.learn(32)
    assert np.array_equal(policy.act(_observations(), None, STARTS)[0], before)
    assert freeze(model).card.digest != digest


def test_freezing_leaves_the_global_generators_alone():
    model = _ppo()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    freeze(model)
    assert torch.equal(torch.rand(3), expected)


def test_a_pickled_policy_has_the_same_card_and_actions():
    policy = freeze(_ppo())
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.card == policy.card
    assert np.array_equal(
        copy.act(_observations(), None, STARTS)[0], policy.act(_observations(), None, STARTS)[0]
    )


def _normalised() -> tuple[PPO, VecNormalize]:
    vec = VecNormalize(DummyVecEnv([lambda: Plane(np.float64)]), clip_obs=1.5)
    model = _ppo(vec)
    model.learn(64)
    return model, vec


def test_the_normaliser_is_bit_equal_to_vec_normalize_and_stays_frozen():
    model, vec = _normalised()
    normaliser = Normaliser.of(vec)
    observations = _observations().astype(np.float64)
    expected = vec.normalize_obs(observations)
    policy = freeze(model)
    before, _ = policy.act(observations, None, STARTS)
    model.learn(64)
    assert normaliser is not None
    assert np.array_equal(normaliser(observations), expected)
    assert np.array_equal(policy.act(observations, None, STARTS)[0], before)
    with pytest.raises(ValueError, match="read-only"):
        normaliser.mean[0] = 1.0


def test_the_digest_covers_the_normaliser():
    model, vec = _normalised()
    first = freeze(model).card.digest
    vec.obs_rms.mean = vec.obs_rms.mean + 1e-12
    assert freeze(model).card.digest != first


def test_a_saved_policy_loads_with_the_same_card(tmp_path):
    policy = freeze(_normalised()[0], name="plane")
    policy.save(tmp_path / "p")
    loaded = load_policy(tmp_path / "p")
    assert loaded.card == policy.card
    assert loaded.observation_space == policy.observation_space
    assert loaded.observation_space.dtype == np.float64
    assert np.array_equal(loaded.observation_space.high, policy.observation_space.high)


def test_weights_that_are_not_finite_are_refused():
    model = _ppo()
    with torch.no_grad():
        model.policy.value_net.bias[0] = float("nan")
    with pytest.raises(PolicyError, match="not finite"):
        freeze(model)


def test_an_observation_that_is_not_finite_is_refused():
    observations = _observations(3)
    observations[2, 1] = np.nan
    with pytest.raises(PolicyError, match="Observation row 2"):
        freeze(_ppo()).act(observations, None, STARTS[:3])


def test_an_observation_of_another_shape_is_refused():
    with pytest.raises(PolicyError, match=r"shape \(B, 2\), found \(5, 3\)"):
        freeze(_ppo()).act(np.zeros((5, 3)), None, STARTS[:5])


def test_spaces_that_do_not_fit_are_refused():
    policy: SB3Policy = freeze(_ppo())
    env = Plane()
    policy.check_fit(env.observation_space, env.action_space)
    with pytest.raises(PolicyError, match="has actions in"):
        policy.check_fit(env.observation_space, spaces.Discrete(2))


def test_an_sb3_zip_is_loaded_only_when_its_pickles_are_trusted(tmp_path):
    model = _ppo()
    model.save(tmp_path / "m.zip")
    with pytest.raises(PolicyError, match="trust_pickle=True"):
        load_zip(tmp_path / "m.zip", algorithm="ppo")
    loaded = load_zip(tmp_path / "m.zip", algorithm="ppo", trust_pickle=True)
    assert loaded.card.digest == freeze(model).card.digest
