"""Evaluation and gradients of graphs against exact values, torch and differences."""

from fractions import Fraction

import numpy as np
import pytest
from random_graphs import KINDS, anything, network, single

from safegym.check.neural.evaluate import evaluate, evaluate_deployed, gradient, values
from safegym.check.neural.exact import evaluate_exact
from safegym.errors import UnsupportedError


@pytest.mark.parametrize("seed", range(8))
def test_binary64_values_agree_with_exact_ones(seed: int) -> None:
    graph = anything(seed, operations=8)
    x = np.random.default_rng(seed).normal(size=(3, 3))
    for point, value in zip(x, evaluate(graph, x), strict=True):
        exact = evaluate_exact(graph, [Fraction(float(each)) for each in point])
        assert value == pytest.approx([float(low) for low, _ in exact], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_agree_with_differences(kind: str) -> None:
    graph = single(kind)
    x = np.random.default_rng(3).normal(size=(20, 2))
    weights = np.array([0.75, -1.25])
    outputs, slopes = gradient(graph, x, weights)
    assert np.array_equal(outputs, evaluate(graph, x))
    step = 1e-6
    for axis in range(2):
        moved = np.zeros(2)
        moved[axis] = step
        rise = (evaluate(graph, x + moved) - evaluate(graph, x - moved)) @ weights / (2.0 * step)
        assert slopes[:, axis] == pytest.approx(rise, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_gradients_of_random_graphs_agree_with_differences(seed: int) -> None:
    graph = anything(seed, operations=8)
    x = np.random.default_rng(seed).normal(size=(10, 3))
    each = np.random.default_rng(seed).normal(size=(10, graph.outputs))
    _, slopes = gradient(graph, x, each)
    for axis in range(3):
        moved = np.zeros(3)
        moved[axis] = 1e-6
        rise = (evaluate(graph, x + moved) - evaluate(graph, x - moved)) / 2e-6
        assert slopes[:, axis] == pytest.approx((rise * each).sum(axis=1), rel=1e-3, abs=1e-4)


def test_deployed_values_are_what_torch_gives_up_to_the_order_of_sums() -> None:
    import torch

    torch.set_num_threads(1)
    graph = network((4, 32, 2), "relu", seed=3)
    first, last = (node for node in graph.nodes if node.kind == "linear")
    x = np.random.default_rng(0).normal(size=(50, 4))
    h = torch.from_numpy(x).float()
    for node in (first, last):
        assert node.bias is not None
        weight, bias = (torch.from_numpy(v.copy()).float() for v in (node.weights[0], node.bias))
        h = torch.nn.functional.linear(h, weight, bias)
        h = torch.relu(h) if node is first else h
    y = evaluate_deployed(graph, x)
    assert y == pytest.approx(h.double().numpy(), abs=2e-6)
    assert (y == y.astype(np.float32)).all()
    assert (y != evaluate(graph, x)).any()


def test_values_come_for_every_node_and_one_point_is_a_batch_of_one() -> None:
    graph = network((3, 5, 2), "tanh", "exact")
    found = values(graph, [0.1, 0.2, 0.3])
    assert [each.shape for each in found] == [(1, node.size) for node in graph.nodes]


def test_points_of_another_size_are_refused() -> None:
    with pytest.raises(
        UnsupportedError, match=r"do not fit a graph of 3 inputs; pass shape \(B, 3\)"
    ):
        evaluate(network((3, 5, 2)), [[1.0, 2.0]])
