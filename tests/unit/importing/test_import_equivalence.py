"""A graph that is not the policy is refused, with the largest difference; near ties are covered."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import CategoricalDistribution

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import evaluate, values
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing import onnx_graph, policy_graph, surround, write_onnx
from safegym.check.neural.importing.equivalence import compared
from safegym.check.neural.importing.plain import network_graph
from safegym.check.neural.importing.sampling import Sampled, observations
from safegym.check.neural.importing.sb3 import sb3_graph
from safegym.check.neural.importing.surround import chosen_by_probability, loosened
from safegym.errors import PolicyError, UnsupportedError
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer
from safegym.policy.sb3 import freeze


@pytest.mark.parametrize("amount", [1e-3, 1.0])
def test_a_patched_weight_is_refused_with_the_largest_difference(algorithm, amount):
    policy = freeze(algorithm("PPO"))
    imported = sb3_graph(policy)
    compared(imported)
    with torch.no_grad():
        policy._policy.action_net.weight[1, 2] += amount
    message = r"disagree on \d+ of 1000 observations\. The largest difference is [0-9.e-]+: at \["
    with pytest.raises(PolicyError, match=message):
        compared(imported)


def test_a_patched_normaliser_is_refused(algorithm):
    policy = freeze(algorithm("PPO", statistics=(np.zeros(5), np.ones(5))))
    imported = sb3_graph(policy)
    policy._normaliser = replace(policy._normaliser, clip=9.0)
    with pytest.raises(PolicyError, match="largest difference"):
        compared(imported)
    policy._normaliser = replace(policy._normaliser, clip=10.0, var=np.full(5, 1.01))
    with pytest.raises(PolicyError, match="largest difference"):
        compared(imported)


def test_a_patched_value_or_choice_of_a_discrete_policy_is_refused(network):
    policy = network(action=spaces.Discrete(3), widths=(4, 7, 3))
    imported = network_graph(policy)
    other = network_graph(network(seed=1, action=spaces.Discrete(3), widths=(4, 7, 3)))
    with pytest.raises(PolicyError, match="largest difference is"):
        compared(replace(imported, values=other.values))
    with pytest.raises(PolicyError, match=r"the policy chooses \d, the graph \d; the largest diff"):
        compared(replace(imported, predict=lambda rows: (policy.act(rows, 0, 0)[0] + 1) % 3))
    with pytest.raises(PolicyError, match="gives 2 numbers, its graph 3"):
        compared(replace(imported, values=lambda rows: imported.values(rows)[:, :2]))
    with pytest.raises(PolicyError, match="value that is not finite at observation"):
        compared(replace(imported, values=lambda rows: imported.values(rows) * np.nan))


def without_clip(builder, node, action):
    return node


def stretched_only(builder, node, low, high):
    return builder.linear([(node, np.diag(0.5 * (high - low)))], low, precision="float32")


def unbounded(builder, observation, normaliser):
    return surround.observed(builder, observation, replace(normaliser, clip=np.inf))


def in_other_order(builder, observation, normaliser):
    scaled = replace(normaliser, mean=normaliser.mean / normaliser.divisor)
    return surround.observed(builder, observation, scaled)


def not_normalised(builder, observation, normaliser):
    return surround.observed(builder, observation, None)


@pytest.mark.parametrize(
    ("kind", "name", "wrong"),
    [
        ("PPO", "clipped", without_clip),
        ("SAC", "unscaled", stretched_only),
        ("PPO", "observed", unbounded),
        ("PPO", "observed", in_other_order),
        ("PPO", "observed", not_normalised),
    ],
)
def test_an_importer_that_forgets_a_step_is_found_out(algorithm, kind, name, wrong, monkeypatch):
    model = algorithm(kind, statistics=(np.ones(5), np.full(5, 4.0), 3.0), gain=100.0)
    policy_graph(model)
    monkeypatch.setattr(f"safegym.check.neural.importing.sb3.{name}", wrong)
    with pytest.raises(PolicyError, match="largest difference"):
        policy_graph(model)


def test_the_deployed_policy_travels_to_worker_processes(algorithm, network, tmp_path):
    write_onnx(network(), tmp_path / "p.onnx")
    rows = np.random.default_rng(0).standard_normal((10, 4))
    for graph in (policy_graph(network()), onnx_graph(tmp_path / "p.onnx")):
        again = pickle.loads(pickle.dumps(graph.predict))
        assert np.array_equal(again(rows), graph.predict(rows))
    graph = policy_graph(algorithm("SAC"))
    rows = np.random.default_rng(0).standard_normal((10, 5))
    again = pickle.loads(pickle.dumps(graph.predict))
    assert np.array_equal(again(rows), graph.predict(rows))


def test_fewer_than_a_thousand_samples_are_refused(network):
    with pytest.raises(UnsupportedError, match=r"comparison of 999 samples .* 1000 is the least"):
        policy_graph(network(), samples=999)


def test_samples_lie_in_the_space_on_its_corners_far_out_and_at_kinks(network):
    space = spaces.Box(
        np.array([-1, -np.inf, -3e38, 0], np.float32), np.array([2, np.inf, 3e38, 9], np.float32)
    )
    imported = network_graph(network(observation=space, normalised=True))
    sampled = Sampled(
        imported.graph,
        *(imported.observation.low, imported.observation.high, "float32"),
        imported.centre,
        imported.spread,
    )
    rows = observations(sampled, 1200, seed=3)
    assert rows.shape == (1200, 4)
    assert ((rows >= space.low) & (rows <= space.high)).all()
    assert (rows[:, 0] == -1.0).sum() > 50
    assert (rows[:, 3] == 9.0).sum() > 50
    away = np.abs(rows[:, 1] - imported.centre[1]) / imported.spread[1]
    assert (away > 50.0).sum() > 50
    before = np.concatenate(
        [
            values(imported.graph, rows)[n.inputs[0]]
            for n in imported.graph.nodes
            if n.kind == "relu"
        ],
        axis=1,
    )
    assert (np.abs(before).min(axis=1) < 1e-6).sum() > 50
    assert np.array_equal(rows, observations(sampled, 1200, seed=3))


def test_loosening_covers_its_amount_and_is_the_identity_in_real_numbers():
    for amount in (2.0**-126, 1e-6, 0.3):
        builder = GraphBuilder(2)
        builder.linear([(builder.input(), np.eye(2) * 3.0)])
        graph = builder.graph(loosened(builder, 1, amount))
        rows = np.random.default_rng(0).standard_normal((100, 2))
        low, high = Bounds(graph, "deployed float32").interval(rows, rows)[-1]
        assert (low <= 3.0 * rows - amount).all()
        assert (high >= 3.0 * rows + amount).all()
        assert np.allclose(evaluate(graph, rows), 3.0 * rows, rtol=0, atol=1e-8 + 1e-7 * amount)


def test_the_choice_by_rounded_probabilities_is_always_one_that_the_graph_allows():
    """Logits some units in the last place apart: softmax in binary32 makes ties of them."""
    generator = np.random.default_rng(5)
    surprises = 0
    for size in (2, 3, 17, 200):
        builder = GraphBuilder(size)
        graph = builder.graph(chosen_by_probability(builder, builder.input()))
        bounds = Bounds(graph, "deployed float32")
        for reach in (0.0, 1.0, 30.0, 1000.0):
            base = reach * generator.standard_normal((2000, 1))
            steps = generator.integers(-6, 7, (2000, size)) * 2.0 ** -generator.integers(20, 26)
            logits = (base + steps).astype(np.float32)
            chosen = (
                CategoricalDistribution(size)
                .proba_distribution(torch.from_numpy(logits))
                .get_actions(deterministic=True)
                .numpy()
            )
            low, high = bounds.interval(logits, logits)[-1]
            rows = np.arange(2000)
            assert (high[rows, chosen] >= low.max(axis=1)).all()
            surprises += int((logits[rows, chosen] < logits.max(axis=1)).sum())
    assert surprises > 100  # without the loosening these would be false proofs


@pytest.mark.slow
def test_ten_thousand_random_policies_lie_in_their_own_intervals(network):
    generator = np.random.default_rng(11)
    for seed in range(10_000):
        widths = (int(generator.integers(1, 5)), *generator.integers(1, 9, seed % 3), 2)
        kinds = ("relu", "leaky_relu", "tanh", "sigmoid")
        squash = seed % 5 == 0
        policy = network(
            seed,
            tuple(int(each) for each in widths),
            kinds[seed % 4],
            "tanh" if squash else "identity",
            squash=squash,
            normalised=seed % 2 == 0,
            action=spaces.Discrete(2) if seed % 5 == 1 else None,
            scale=float(10.0 ** generator.uniform(-2, 2)),
        )
        imported = network_graph(policy)
        rows = imported.centre + imported.spread * generator.standard_normal(
            (12, widths[0])
        ) * 10.0 ** generator.uniform(-3, 4, (12, 1))
        low, high = Bounds(imported.graph, "deployed float32").interval(rows, rows)[-1]
        found = np.asarray(imported.values(rows), np.float64)
        assert ((low <= found) & (found <= high)).all(), seed


def _own_act(policy):
    usual = policy.act
    policy.act = lambda *given: usual(*given)
    return policy


class _Other(NetworkPolicy):
    """Does something else where nobody looks."""

    def values(self, observations):
        return super().values(observations) + 100.0 * (np.abs(observations[:, :1] - 0.7) < 1e-7)


class _OtherLayer(Layer):
    """The same in a layer."""

    def __call__(self, rows):
        return super().__call__(rows) + 100.0 * (np.abs(rows[:, :1] - 0.7) < 1e-7)


def _made(kind, policy, layer=None):
    layers = policy.layers
    if layer is not None:
        layers = [layer(each.weight, each.bias) for each in layers]
    return kind(
        layers, observation_space=policy.observation_space, action_space=policy.action_space
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda policy: _made(_Other, policy), "has a _Other where only a NetworkPolicy"),
        (lambda policy: _made(NetworkPolicy, policy, _OtherLayer), "has a _OtherLayer where only"),
        (_own_act, "has its own act where only a NetworkPolicy"),
    ],
)
def test_a_policy_of_another_class_is_not_believed_by_its_name(network, change, message):
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(change(network()))


def test_a_frozen_policy_with_its_own_act_is_refused(algorithm):
    with pytest.raises(UnsupportedError, match="has its own act where only a SB3Policy"):
        policy_graph(_own_act(freeze(algorithm("TD3"))))
