"""Frozen recurrent policies: sb3-contrib's own actions, rows that keep apart, refusals."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import RecurrentPPO

from safegym.errors import PolicyError, UnsupportedError
from safegym.policy.base import WIDTH
from safegym.policy.sb3 import SB3Policy, freeze, load_algorithm, load_policy, save_checkpoint
from safegym.policy.sb3.tensors import digest_tensors

torch.set_num_threads(1)
FORMS = [
    {},
    {"n_lstm_layers": 2},
    {"shared_lstm": True, "enable_critic_lstm": False},
    {"enable_critic_lstm": False},
]


class Drift(gym.Env[np.ndarray, np.ndarray]):
    """Two numbers in, two actions out; enough to build policies on."""

    def __init__(self, actions) -> None:
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = actions

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.normal(size=2).astype(np.float32), {}

    def step(self, action):
        return self.reset()[0], 0.0, False, False, {}


BOX = spaces.Box(-2.0, 2.0, (2,), np.float32)
CHOICE = spaces.Discrete(5)


def recurrent(actions=BOX, **network) -> RecurrentPPO:
    model = RecurrentPPO(
        "MlpLstmPolicy",
        Drift(actions),
        n_steps=16,
        batch_size=16,
        n_epochs=2,
        seed=4,
        device="cpu",
        policy_kwargs={"lstm_hidden_size": 8, "net_arch": [8], **network},
    )
    model.learn(32)
    with torch.no_grad():
        for head in model.policy.action_net.weight:  # so that what was seen decides
            head.sub_(head.mean()).div_(head.std())
        model.policy.action_net.bias.zero_()
    return model


def episodes(steps=20, rows=7):
    """Observations (steps, rows, 2) and starts (steps, rows), at different places in each row."""
    draws = np.random.default_rng(3)
    seen = draws.normal(size=(steps, rows, 2)).astype(np.float32)
    starts = draws.random((steps, rows)) < 0.2
    starts[0] = True
    return seen, starts


def acted(policy, seen, starts):
    state, actions = None, []
    for observations, begins in zip(seen, starts, strict=True):
        found, state = policy.act(observations, state, begins)
        actions.append(found)
    return np.array(actions)


@pytest.mark.parametrize("actions", [BOX, CHOICE], ids=["box", "discrete"])
@pytest.mark.parametrize("network", FORMS, ids=lambda form: "-".join(form) or "plain")
def test_actions_over_episodes_are_those_of_the_algorithms_own_predict(actions, network):
    model = recurrent(actions, **network)
    seen, starts = episodes()
    found = acted(freeze(model), seen, starts)
    state = None
    for step in range(len(seen)):
        expected, state = model.predict(
            seen[step], state=state, episode_start=starts[step], deterministic=True
        )
        np.testing.assert_allclose(found[step], expected, atol=1e-5)
        assert found.dtype == expected.dtype
    assert len(np.unique(found)) > 1 or actions is CHOICE


def test_a_rows_actions_are_the_same_bits_whatever_happens_in_the_other_rows():
    policy = freeze(recurrent())
    seen, starts = episodes(rows=WIDTH)
    assert policy.card.width == WIDTH
    together = acted(policy, seen, starts)
    for row in (0, 5, WIDTH - 1):
        alone = acted(policy, seen[:, [row]], starts[:, [row]])
        np.testing.assert_array_equal(alone[:, 0], together[:, row])


def test_what_was_seen_before_matters_until_an_episode_starts():
    policy = freeze(recurrent())
    seen, _ = episodes(rows=1)
    no, yes = np.array([False]), np.array([True])
    first, state = policy.act(seen[0], None, yes)
    kept = state.copy()
    later, _ = policy.act(seen[1], state, no)
    fresh, _ = policy.act(seen[1], state, yes)
    np.testing.assert_array_equal(state, kept)
    np.testing.assert_array_equal(fresh, policy.act(seen[1], None, no)[0])
    assert not np.array_equal(later, fresh)
    assert first.shape == (1, 2)


def test_it_comes_back_from_a_folder_and_from_a_pickle(tmp_path):
    policy = freeze(recurrent(n_lstm_layers=2))
    policy.save(tmp_path / "p")
    seen, starts = episodes()
    for again in (load_policy(tmp_path / "p"), pickle.loads(pickle.dumps(policy))):
        assert again.card == policy.card
        np.testing.assert_array_equal(acted(again, seen, starts), acted(policy, seen, starts))
    assert policy.card.details["memory"] == "LSTM, 2 x 8"
    assert policy.recurrent


@pytest.mark.parametrize("network", FORMS, ids=lambda form: "-".join(form) or "plain")
def test_a_whole_recurrent_algorithm_comes_back_from_a_checkpoint(tmp_path, network):
    model = recurrent(**network)
    save_checkpoint(model, tmp_path / "c")
    again = load_algorithm(tmp_path / "c")
    assert digest_tensors(again.policy.state_dict()) == digest_tensors(model.policy.state_dict())
    torch.testing.assert_close(
        again.policy.optimizer.state_dict(), model.policy.optimizer.state_dict(), rtol=0, atol=0
    )


def test_a_state_of_other_rows_is_refused():
    policy = freeze(recurrent())
    seen, starts = episodes(rows=3)
    _, state = policy.act(seen[0], None, starts[0])
    with pytest.raises(PolicyError, match=r"shape \(3, 2, 1, 8\) came with 2 observations"):
        policy.act(seen[1][:2], state, starts[1][:2])


def test_an_lstm_of_another_form_is_not_frozen():
    model = recurrent()
    model.policy.lstm_kwargs = {"batch_first": True}
    with pytest.raises(PolicyError, match="lstm_kwargs batch_first"):
        freeze(model)


def test_provers_refuse_it_and_say_why():
    from safegym.check.gradient.rollout_policy import actor_of
    from safegym.check.neural.importing import policy_graph

    model = recurrent()
    for source in (model, freeze(model)):
        with pytest.raises(UnsupportedError, match=r"is recurrent: .* hidden state"):
            policy_graph(source)
    with pytest.raises(UnsupportedError, match=r"is recurrent: .* search without gradients"):
        actor_of(freeze(model), None, "test/drift")


def test_a_stored_lstm_of_absurd_size_is_not_built(tmp_path):
    policy = freeze(recurrent())
    described = policy._document()["architecture"]
    described["parameters"]["lstm_hidden_size"] = 1 << 40
    with pytest.raises(PolicyError, match="lstm_hidden_size is 1099511627776; 1 to 65536"):
        SB3Policy(described, policy.weights, name="huge", algorithm="recurrent-ppo")
