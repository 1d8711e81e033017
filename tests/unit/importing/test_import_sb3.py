"""SB3 policies as graphs: the graph's own interval always holds what predict gives."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import nn

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.importing import policy_graph
from safegym.errors import PolicyError, UnsupportedError
from safegym.policy.base import as_policy
from safegym.policy.sb3 import freeze

BOX = spaces.Box(np.array([-2.0, -0.1], np.float32), np.array([1.0, 0.3], np.float32))
FOUR = spaces.Discrete(4)
EVERY = [
    ("PPO", BOX),
    ("A2C", BOX),
    ("SAC", BOX),
    ("TD3", BOX),
    ("DDPG", BOX),
    ("PPO", FOUR),
    ("A2C", FOUR),
    ("DQN", FOUR),
]
USUAL = ([0.5, -1.0, 0.0, 3.0, 100.0], [1.0, 4.0, 0.01, 1e-4, 1e4])
HUGE = ([1e3, 0.0, -1e-3, 2.0, 1e6], [1e12, 1e-12, 1e-8, 1e6, 1e-2], 5.0)


def contains_predict(graph, rows):
    """Whether each action lies in the interval that the graph allows at its observation."""
    low, high = Bounds(graph.graph, "deployed float32").interval(rows, rows)[-1]
    given = np.asarray(graph.predict(rows))
    if graph.kind == "discrete":
        return bool((high[np.arange(len(rows)), given] >= low.max(axis=1)).all())
    return bool(((low <= given) & (given <= high)).all())


@pytest.mark.parametrize(("kind", "action"), EVERY)
@pytest.mark.parametrize("statistics", [None, USUAL, HUGE], ids=["plain", "normalised", "huge"])
def test_every_algorithm_is_imported_with_and_without_a_normaliser(
    algorithm, kind, action, statistics
):
    model = algorithm(kind, action, statistics=statistics)
    graph = policy_graph(model)
    assert graph.kind == ("box" if action is BOX else "discrete")
    assert graph.equivalence.samples == 1000
    assert graph.digest == freeze(model).card.digest
    generator = np.random.default_rng(7)
    mean, spread = (0.0, 1.0) if statistics is None else (statistics[0], np.sqrt(statistics[1]))
    for reach in (0.1, 1.0, 30.0, 1e4):
        rows = mean + reach * spread * generator.standard_normal((300, 5))
        rows = rows.astype(np.float32).astype(np.float64)
        assert contains_predict(graph, rows)
        if graph.kind == "box" and reach <= 1.0:
            assert np.allclose(evaluate(graph.graph, rows), graph.predict(rows), atol=2e-3)


def test_the_action_of_a_box_policy_is_clipped_to_its_limits(algorithm):
    graph = policy_graph(algorithm("PPO", gain=300.0))
    rows = np.random.default_rng(0).standard_normal((2000, 5)).astype(np.float32)
    actions, values = graph.predict(rows), evaluate(graph.graph, rows)
    for entry, limits in enumerate(((-2.0, 1.0), (np.float32(-0.1), np.float32(0.3)))):
        for limit in limits:
            reached = actions[:, entry] == np.float32(limit)
            assert reached.sum() > 20
            assert (values[reached, entry] == float(limit)).mean() > 0.99


def test_the_clip_of_the_normaliser_is_in_the_graph(algorithm):
    graph = policy_graph(algorithm("PPO", statistics=(np.zeros(5), np.ones(5), 2.0)))
    far = np.random.default_rng(0).standard_normal((50, 5)) * 1e6
    near = np.clip(far, -2.0, 2.0)
    assert np.array_equal(graph.predict(far), graph.predict(near))
    assert np.allclose(evaluate(graph.graph, far), evaluate(graph.graph, near), atol=1e-7)
    assert contains_predict(graph, far)


def test_squashing_and_unscaling_are_in_the_graph_as_sb3_does_them(algorithm):
    low, high = np.array([-7.3, 0.1], np.float32), np.array([-0.2, 123.4], np.float32)
    graph = policy_graph(algorithm("SAC", spaces.Box(low, high), gain=30.0))
    rows = np.random.default_rng(0).standard_normal((500, 5)).astype(np.float32)
    assert contains_predict(graph, rows)
    actions = graph.predict(rows)
    assert (np.isclose(actions, low) | np.isclose(actions, high)).mean() > 0.5


@pytest.mark.parametrize("kind", [nn.ReLU, nn.Tanh, nn.LeakyReLU, nn.Sigmoid])
def test_every_activation_that_has_bounds_is_imported(algorithm, kind):
    graph = policy_graph(algorithm("PPO", policy_kwargs={"activation_fn": kind}))
    assert contains_predict(graph, np.random.default_rng(3).standard_normal((500, 5)))


@pytest.mark.parametrize("kind", [nn.ELU, nn.GELU, nn.SiLU, nn.Mish, nn.Softplus])
def test_an_activation_without_bounds_is_refused_by_name(algorithm, kind):
    model = algorithm("PPO", policy_kwargs={"activation_fn": kind})
    message = f"ppo, layer 1: {kind.__name__} has no bound here; supported: Linear, ReLU"
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(model)


def test_a_stacked_frame_is_a_longer_observation(algorithm):
    for statistics in (None, (np.arange(15.0), np.arange(1.0, 16.0))):
        graph = policy_graph(algorithm("PPO", frames=3, statistics=statistics))
        assert graph.graph.inputs == 15
        assert contains_predict(graph, np.random.default_rng(1).standard_normal((200, 15)) * 9)


@pytest.mark.parametrize("kind", ["PPO", "SAC"])
@pytest.mark.parametrize("statistics", [None, USUAL], ids=["plain", "normalised"])
def test_spaces_of_doubles_keep_their_precision(algorithm, kind, statistics):
    observation = spaces.Box(-np.inf, np.inf, (5,), np.float64)
    action = spaces.Box(np.array([-0.1, 1 / 3]), np.array([0.7, 5.1]), dtype=np.float64)
    graph = policy_graph(algorithm(kind, action, observation, statistics=statistics, gain=6.0))
    assert contains_predict(graph, np.random.default_rng(2).standard_normal((500, 5)) * 10)


def test_a_matrix_observation_is_flattened_and_limits_are_kept(algorithm):
    observation = spaces.Box(-1.0, np.array([[1, 2], [3, 4]], np.float32), (2, 2), np.float32)
    graph = policy_graph(algorithm("PPO", observation=observation))
    assert graph.observation_high.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert contains_predict(graph, np.random.default_rng(2).uniform(-1, 1, (100, 4)))


def test_a_linear_policy_without_hidden_layers_is_imported(algorithm):
    graph = policy_graph(algorithm("PPO", policy_kwargs={"net_arch": []}))
    assert [node.kind for node in graph.graph.nodes] == ["input", "cast", "linear", "clip"]


REFUSED = [
    ("MultiDiscrete", {"action": spaces.MultiDiscrete([2, 3])}, "several choices at once"),
    ("MultiBinary", {"action": spaces.MultiBinary(3)}, "several choices at once"),
    ("one-hot", {"observation": spaces.Discrete(4)}, "turns into one-hot vectors; supported is"),
    ("many-hot", {"observation": spaces.MultiDiscrete([2, 3])}, "one-hot vectors; supported is"),
    ("whole numbers", {"observation": spaces.Box(0, 9, (5,), np.int64)}, "takes int64 observ"),
    ("noise", {"use_sde": True}, "uses gSDE noise .* train with use_sde=False"),
]


@pytest.mark.parametrize(("given", "message"), [each[1:] for each in REFUSED])
def test_a_policy_outside_what_is_supported_is_refused_with_the_reason(algorithm, given, message):
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(algorithm("PPO", gain=1.0, **given))


def test_images_and_dictionaries_are_refused_with_the_reason(algorithm):
    vector = spaces.Box(-1.0, 1.0, (2,), np.float32)
    model = algorithm("PPO")
    for space, message in (
        (spaces.Dict({"a": vector}), "Dict observations, .*FlattenObservation"),
        (spaces.Box(0, 255, (36, 36, 3), np.uint8), "takes images .shape .36, 36, 3."),
    ):
        model.policy.observation_space = space
        with pytest.raises(UnsupportedError, match=message):
            policy_graph(model)


class RecurrentPPO(pytest.importorskip("stable_baselines3").PPO):
    """A name that sb3-contrib uses."""


def test_a_recurrent_policy_is_refused_with_the_reason(algorithm):
    model = algorithm("PPO")
    model.__class__ = RecurrentPPO
    with pytest.raises(UnsupportedError, match=r"hidden state .*VecFrameStack"):
        policy_graph(model)


class Own(ActorCriticPolicy):
    """A policy class of the user's own."""


def test_what_is_no_known_policy_is_refused_with_what_is_supported(algorithm):
    model = algorithm("PPO")
    with pytest.raises(UnsupportedError, match=r"pass the algorithm, or safegym\.freeze"):
        policy_graph(model.policy)
    model.policy.__class__ = Own
    with pytest.raises(UnsupportedError, match=r"cannot be frozen: Class .*Own"):
        policy_graph(model)
    with pytest.raises(
        UnsupportedError, match=r"A PredictPolicy hides its network; pass the model"
    ):
        policy_graph(as_policy(algorithm("PPO")))
    with pytest.raises(UnsupportedError, match="A float has no graph; supported is an SB3Policy"):
        policy_graph(1.0)


def test_a_tree_is_sent_to_z3():
    from safegym.policy.tree import TreePolicy

    tree = TreePolicy(
        "t", inputs=1, feature=[-1], threshold=[0.0], below=[-1], above=[-1], value=[[1.0]]
    )
    with pytest.raises(UnsupportedError, match=r"use z3 \(safegym\.check\.symbolic\)"):
        policy_graph(tree)


def test_a_policy_that_draws_its_actions_is_refused(network):
    policy = network()
    object.__setattr__(policy.card, "mode", "sampled")
    with pytest.raises(UnsupportedError, match=r"draws its actions .mode 'sampled'."):
        policy_graph(policy)


def test_weights_that_are_not_finite_are_refused(algorithm):
    model = algorithm("PPO")
    with torch.no_grad():
        model.policy.action_net.weight[0, 0] = np.nan
    with pytest.raises(UnsupportedError, match=r"action_net\.weight' has values that are not fin"):
        policy_graph(model)


def test_reduced_precision_is_refused(algorithm):
    model = algorithm("PPO")
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(UnsupportedError, match="multiplies in reduced precision"):
            policy_graph(model)
    finally:
        torch.set_float32_matmul_precision("highest")


def _hooked(model):
    model.policy.action_net.register_forward_hook(lambda module, given, found: -found)


def _another_activation(model):
    model.policy.mlp_extractor.policy_net[1] = nn.ReLU()


def _its_own_predict(model):
    usual = model.predict
    model.predict = lambda *given, **more: (-usual(*given, **more)[0], None)


def _its_own_choice(model):
    usual = model.policy._predict
    model.policy._predict = lambda rows, deterministic=False: -usual(rows, deterministic)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_hooked, "PPO, layer action_net: Linear has a hook"),
        (_another_activation, r"its part mlp_extractor\.policy_net\.1 is no longer what its"),
        (_its_own_predict, "PPO has its own predict in place of its class's"),
        (_its_own_choice, "ActorCriticPolicy has its own _predict in place of its class's"),
    ],
)
def test_a_change_that_freezing_would_lose_is_refused(algorithm, change, message):
    model = algorithm("PPO")
    change(model)
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(model)


@pytest.mark.parametrize("action", [BOX, FOUR], ids=str)
def test_the_algorithm_itself_has_to_do_what_its_frozen_copy_does(algorithm, action, monkeypatch):
    model = algorithm("A2C", action)
    usual = type(model).predict
    monkeypatch.setattr(
        type(model), "predict", lambda *given, **more: (usual(*given, **more)[0][::-1], None)
    )
    with pytest.raises(PolicyError, match="and its graph disagree"):
        policy_graph(model)


def test_an_action_space_too_wide_to_stretch_to_is_refused(network):
    wide = spaces.Box(np.float32([-3e38, 0.0]), np.float32([3e38, 1.0]))
    with pytest.raises(UnsupportedError, match="so wide that high - low overflows"):
        policy_graph(network(last="tanh", squash=True, action=wide))
