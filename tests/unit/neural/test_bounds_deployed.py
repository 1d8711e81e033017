"""Deployed results: what binary32 gives in any order of its sums lies in the bounds."""

from fractions import Fraction

import numpy as np
import pytest
from random_graphs import anything, network, ordered

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import evaluate, evaluate_deployed
from safegym.check.neural.graph import Graph, GraphBuilder


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "leaky_relu"])
def test_binary32_results_in_any_order_are_inside(activation: str) -> None:
    graph = network((4, 24, 24, 2), activation, seed=9)
    bounds = Bounds(graph, "deployed float32")
    random = np.random.default_rng(1)
    centre = random.normal(size=(50, 4))
    for width in (0.0, 1e-5, 0.05):
        found = bounds.linear(centre - width, centre + width, upper=True)
        assert found.upper is not None
        for _ in range(8):
            x = random.uniform(centre - width, centre + width)
            y = ordered(graph, x, random)
            assert (found.lower <= y).all()
            assert (y <= found.upper).all()


def test_torch_gives_a_result_inside_the_bounds() -> None:
    import torch

    torch.set_num_threads(1)
    graph = network((4, 64, 64, 2), "tanh", seed=3)
    layers = [node for node in graph.nodes if node.kind == "linear"]
    x = np.random.default_rng(0).normal(size=(200, 4))
    h = torch.from_numpy(x).float()
    for at, node in enumerate(layers):
        assert node.bias is not None
        weight, bias = (torch.from_numpy(v.copy()).float() for v in (node.weights[0], node.bias))
        h = torch.nn.functional.linear(h, weight, bias)
        h = torch.tanh(h) if at < len(layers) - 1 else h
    found = Bounds(graph, "deployed float32").linear(x, x, upper=True)
    assert found.upper is not None
    assert (found.lower <= h.double().numpy()).all()
    assert (h.double().numpy() <= found.upper).all()


def sum_of(weights: list[float], x: list[float]) -> tuple[Graph, np.ndarray]:
    builder = GraphBuilder(len(x))
    cast = builder.apply("cast", builder.input(), precision="float32")
    builder.linear([(cast, [weights])], [0.0], precision="float32")
    return builder.graph(), np.array([x])


@pytest.mark.parametrize(
    ("weights", "x"),
    [
        ([1.0, 1.0], [1.0, 2.0**-25]),
        ([1.0, 1.0, 1.0], [16777216.0, 1.0, -16777216.0]),
        ([float(np.float32(0.1))] * 3, [1.0, 1.0, 1.0]),
    ],
)
def test_a_binary32_sum_that_binary64_would_exclude_is_inside(
    weights: list[float], x: list[float]
) -> None:
    graph, point = sum_of(weights, x)
    deployed = np.float32(0.0)
    for weight, value in zip(weights, x, strict=True):
        deployed = np.float32(deployed + np.float32(weight) * np.float32(value))
    exact = sum(Fraction(w) * Fraction(v) for w, v in zip(weights, x, strict=True))
    assert Fraction(float(deployed)) != exact
    real = Bounds(graph, "real").linear(point, point, upper=True)
    wide = Bounds(graph, "deployed float32").linear(point, point, upper=True)
    assert real.upper is not None
    assert wide.upper is not None
    assert not real.lower[0, 0] <= deployed <= real.upper[0, 0]
    assert wide.lower[0, 0] <= deployed <= wide.upper[0, 0]
    assert Fraction(float(real.lower[0, 0])) <= exact <= Fraction(float(real.upper[0, 0]))


def test_a_cast_moves_an_input_over_a_threshold_and_the_bounds_know() -> None:
    builder = GraphBuilder(1)
    cast = builder.apply("cast", builder.input(), precision="float32")
    builder.linear([(cast, [[1.0]])], [-0.1])
    graph, point = builder.graph(), np.array([[0.1]])
    assert evaluate_deployed(graph, point)[0, 0] > 0.0
    assert evaluate(graph, point)[0, 0] == 0.0
    found = Bounds(graph, "deployed float32").linear(point, point, upper=True)
    assert found.upper is not None
    assert found.upper[0, 0] > 1e-9


def test_an_operation_in_binary32_rounds_an_argument_that_is_none() -> None:
    for kind in ("tanh", "exp", "sin", "square", "sigmoid"):
        builder = GraphBuilder(1)
        builder.apply(kind, builder.input(), precision="float32")  # type: ignore[arg-type]
        graph = builder.graph()
        x = np.linspace(-3.0, 3.0, 400)[:, None]
        found = Bounds(graph, "deployed float32").linear(x, x, upper=True)
        y = evaluate_deployed(graph, x)
        assert found.upper is not None
        assert ((found.lower <= y) & (y <= found.upper)).all(), kind


def test_the_error_of_deployment_stays_small() -> None:
    graph = network((4, 64, 64, 2), "relu", seed=3)
    x = np.random.default_rng(0).normal(size=(50, 4))
    wide = Bounds(graph, "deployed float32").linear(x, x, upper=True)
    real = Bounds(graph, "real").linear(x, x, upper=True)
    assert wide.upper is not None
    assert real.upper is not None
    assert (wide.upper - wide.lower < 1e-3).all()
    assert (real.upper - real.lower < 1e-11).all()


def test_real_bounds_lie_inside_deployed_ones() -> None:
    for seed in range(5):
        graph = anything(seed, "float32", 8)
        x = np.random.default_rng(seed).normal(size=(20, 3))
        wide = Bounds(graph, "deployed float32").linear(x - 0.1, x + 0.1)
        real = Bounds(graph, "real").linear(x - 0.1, x + 0.1)
        assert (wide.lower <= real.lower + 1e-6 * (1.0 + np.abs(real.lower))).all()
