"""Bounds hold: at many samples, in rationals at chosen points, for every kind of node."""

from typing import Literal

import numpy as np
import pytest
from random_graphs import KINDS, ROUNDED, anything, bare, network, single
from soundness_battery import CHECKS, Kit, deployed_failures, plain_kit

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import values
from safegym.check.neural.graph import Graph, GraphBuilder

Check = Literal["real", "deployed float32"]


@pytest.fixture(scope="module")
def kit() -> Kit:
    return plain_kit()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_battery_finds_nothing_wrong_with_the_bounds(check, kit: Kit) -> None:  # type: ignore[no-untyped-def]
    assert check(kit) == []


def inside(graph: Graph, seed: int, samples: int, widths: tuple[float, ...]) -> None:
    """All samples of each box are inside every node's interval and the outputs' bounds."""
    random = np.random.default_rng(seed)
    bounds = Bounds(graph, "real")
    for width in widths:
        centre = random.normal(size=graph.inputs)
        low, high = (centre - width)[None], (centre + width)[None]
        linear = bounds.linear(low, high, upper=True)
        assert linear.upper is not None
        x = np.clip(random.uniform(low, high, size=(samples, graph.inputs)), low, high)
        every = values(graph, x)
        slack = [1e-10 * (1.0 + np.abs(each).max()) for each in every]
        for spans in (bounds.interval(low, high), linear.inner):
            for value, span, allowed in zip(every, spans, slack, strict=True):
                assert (value >= span[0] - allowed).all()
                assert (value <= span[1] + allowed).all()
        y, allowed = every[-1], slack[-1]
        assert (y >= linear.lower - allowed).all()
        assert (y <= linear.upper + allowed).all()
        assert (y >= bounds.best(low, high) - allowed).all()
        rows = x @ linear.coefficients[0].T + linear.constants[0]
        sizes = np.abs(x) @ np.abs(linear.coefficients[0]).T + np.abs(linear.constants[0])
        finite = np.isfinite(linear.constants[0])
        assert (y >= rows - 1e-10 * (1.0 + sizes))[:, finite].all()


@pytest.mark.parametrize("seed", range(12))
def test_a_hundred_thousand_samples_of_a_random_graph_are_inside(seed: int) -> None:
    inside(anything(seed), seed, 50_000, (1.0, 0.05))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 72))
def test_a_hundred_thousand_samples_of_many_random_graphs_are_inside(seed: int) -> None:
    inside(anything(seed, operations=20), seed, 33_334, (2.0, 0.3, 1e-3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_samples_of_each_operation_are_inside(kind: str) -> None:
    inside(single(kind), 3, 25_000, (8.0, 1.0, 0.1, 1e-6))


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "leaky_relu"])
def test_a_hundred_thousand_samples_of_a_network_are_inside(activation: str) -> None:
    inside(network((4, 32, 32, 2), activation, "exact", seed=5), 1, 33_334, (1.0, 0.1, 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_deployed_results_of_many_random_graphs_are_inside(seed: int, kit: Kit) -> None:
    assert deployed_failures(kit, anything(seed, "float32", 10), seed) == []
    for kind in ROUNDED:
        assert deployed_failures(kit, bare(kind, "float32"), seed) == []


def test_linear_bounds_are_at_least_as_tight_as_intervals() -> None:
    graph = network((4, 32, 32, 2), "relu", "exact", seed=2)
    bounds = Bounds(graph, "real")
    low, high = -0.2 * np.ones((3, 4)), 0.2 * np.ones((3, 4))
    linear, spans = bounds.linear(low, high, upper=True), bounds.interval(low, high)
    assert linear.upper is not None
    assert (linear.lower >= spans[-1][0]).all()
    assert (linear.upper <= spans[-1][1]).all()
    assert (linear.lower >= bounds.best(low, high) - 1e-9).all()


def test_narrow_boxes_give_narrow_bounds() -> None:
    for kind in KINDS:
        graph = single(kind)
        centre = np.array([[0.3, -0.7]])
        linear = Bounds(graph, "real").linear(centre - 1e-6, centre + 1e-6, upper=True)
        assert linear.upper is not None
        assert (linear.upper - linear.lower < 3e-5).all(), kind


def test_a_batch_gives_what_its_boxes_give_alone() -> None:
    graph = network((3, 40, 40, 2), "relu", seed=4)
    bounds = Bounds(graph, "deployed float32")
    random = np.random.default_rng(0)
    centre = random.normal(size=(7, 3))
    together = bounds.linear(centre - 0.1, centre + 0.1)
    for at in range(7):
        alone = bounds.linear(centre[at : at + 1] - 0.1, centre[at : at + 1] + 0.1)
        assert np.allclose(alone.lower[0], together.lower[at], rtol=0, atol=1e-9)
        assert alone.unstable[0] == together.unstable[at]


def test_outputs_are_given_in_the_order_asked_for() -> None:
    graph = network((3, 10, 4), "relu", seed=4)
    bounds = Bounds(graph, "real")
    low, high = -np.ones((2, 3)), np.ones((2, 3))
    every, some = bounds.linear(low, high), bounds.linear(low, high, outputs=[3, 1])
    assert np.allclose(some.lower, every.lower[:, [3, 1]])
    assert some.coefficients.shape == (2, 2, 3)


def test_unstable_counts_the_relus_that_bend_in_the_box() -> None:
    builder = GraphBuilder(2)
    at = builder.linear([(builder.input(), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])], [0.0, 5.0, 0.0])
    builder.apply("relu", at)
    found = Bounds(builder.graph(), "real").linear([[-1.0, -1.0]], [[1.0, 1.0]])
    assert found.unstable.tolist() == [2]


def test_climbing_only_ever_raises_the_lower_bounds() -> None:
    graph = network((3, 30, 30, 30, 3), "relu", seed=6)
    bounds = Bounds(graph, "deployed float32")
    centre = np.random.default_rng(0).normal(size=(60, 3))
    low, high = centre - 0.4, centre + 0.4
    plain, climbed = bounds.linear(low, high), bounds.linear(low, high, climb=3)
    assert (climbed.lower >= plain.lower).all()
    assert (climbed.lower > plain.lower + 1e-6).any()
    assert np.array_equal(climbed.coefficients, plain.coefficients)
    x = np.random.default_rng(1).uniform(low, high, size=(2000, 60, 3))
    y = values(graph, x.reshape(-1, 3))[-1].reshape(2000, 60, 3)
    assert (y.min(axis=0) >= climbed.lower - 1e-5).all()


def test_climbing_leaves_positive_bounds_and_smooth_graphs_alone() -> None:
    graph = network((3, 10, 2), "tanh", seed=6)
    low, high = -np.ones((4, 3)), np.ones((4, 3))
    bounds = Bounds(graph, "real")
    assert np.array_equal(bounds.linear(low, high, climb=2).lower, bounds.linear(low, high).lower)


def test_many_boxes_are_done_in_batches_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = network((3, 20, 20, 2), "relu", seed=6)
    bounds = Bounds(graph, "real")
    centre = np.random.default_rng(0).normal(size=(50, 3))
    low, high = centre - 0.1, centre + 0.1
    whole, cheap, spans = (
        bounds.linear(low, high, upper=True),
        bounds.best(low, high),
        bounds.interval(low, high),
    )
    monkeypatch.setattr("safegym.check.neural.bounds.engine._AT_ONCE", 12_000)
    parts = bounds.linear(low, high, upper=True)
    assert parts.upper is not None
    assert whole.upper is not None
    assert np.allclose(parts.lower, whole.lower, rtol=0, atol=1e-10)
    assert np.allclose(parts.upper, whole.upper, rtol=0, atol=1e-10)
    assert np.array_equal(parts.unstable, whole.unstable)
    assert len(parts.inner) == len(graph.nodes)
    assert np.allclose(bounds.best(low, high), cheap, rtol=0, atol=1e-10)
    for one, other in zip(bounds.interval(low, high), spans, strict=True):
        assert np.allclose(one, other, rtol=0, atol=1e-10)


def test_the_better_of_the_two_planes_of_a_product_is_kept() -> None:
    builder = GraphBuilder(2)
    builder.pair("product", builder.input(0, 1), builder.input(1, 1))
    builder.linear([(2, [[1.0]]), (0, [[1.0]]), (1, [[1.0]])])
    found = Bounds(builder.graph(), "real").linear([[0.0, 0.0]], [[1.0, 1.0]])
    assert found.lower[0, 0] == pytest.approx(0.0, abs=1e-9)
    turned = GraphBuilder(2)
    turned.pair("product", turned.input(0, 1), turned.input(1, 1))
    turned.linear([(2, [[1.0]]), (0, [[-1.0]]), (1, [[-1.0]])])
    found = Bounds(turned.graph(), "real").linear([[0.0, 0.0]], [[1.0, 1.0]])
    assert found.lower[0, 0] == pytest.approx(-1.0, abs=1e-9)
