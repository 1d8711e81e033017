"""Lower bounds of small relu nets against their true minima, by every activation pattern."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from random_graphs import network
from scipy.optimize import linprog

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import Graph


def pieces(graph: Graph, pattern: tuple[int, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The affine function of each linear node where relus are on as the pattern says."""
    matrix, offset, at = np.eye(graph.inputs), np.zeros(graph.inputs), 0
    for node in graph.nodes:
        if node.kind == "linear":
            matrix, offset = node.weights[0] @ matrix, node.weights[0] @ offset + node.bias
            yield matrix, offset
        elif node.kind == "relu":
            on = np.array(pattern[at : at + node.size], dtype=float)
            matrix, offset, at = on[:, None] * matrix, on * offset, at + node.size


def true_minimum(graph: Graph, low: np.ndarray, high: np.ndarray) -> float:
    """The least first output on a box: a linear programme for each activation pattern."""
    relus = sum(node.size for node in graph.nodes if node.kind == "relu")
    best = np.inf
    for pattern in itertools.product((0, 1), repeat=relus):
        *hidden, (matrix, offset) = pieces(graph, pattern)
        on = np.array(pattern, dtype=bool)
        above = np.concatenate([each for each, _ in hidden])
        level = np.concatenate([each for _, each in hidden])
        signs = np.where(on, -1.0, 1.0)
        found = linprog(
            matrix[0],
            A_ub=signs[:, None] * above,
            b_ub=-signs * level,
            bounds=list(zip(low, high, strict=True)),
        )
        if found.status == 0:
            best = min(best, found.fun + offset[0])
    return float(best)


def compared(seed: int, width: float) -> tuple[float, float, float]:
    """The true minimum, its lower bound by linear bounds, and the plain interval bound."""
    graph = network((2, 4, 3, 1), "relu", "exact", seed=seed)
    centre = np.random.default_rng(seed).normal(size=2)
    low, high = centre - width, centre + width
    exact = true_minimum(graph, low, high)
    found = Bounds(graph, "real").linear(low[None], high[None])
    return exact, float(found.lower[0, 0]), plain(graph, low, high)


def plain(graph: Graph, low: np.ndarray, high: np.ndarray) -> float:
    """The least first output by interval arithmetic alone."""
    for node in graph.nodes:
        if node.kind == "linear":
            plus, minus = np.maximum(node.weights[0], 0.0), np.minimum(node.weights[0], 0.0)
            low, high = plus @ low + minus @ high, plus @ high + minus @ low
            low, high = low + node.bias, high + node.bias
        elif node.kind == "relu":
            low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    return float(low[0])


@pytest.mark.parametrize("width", [1.0, 0.1])
def test_lower_bounds_are_below_the_true_minimum_and_closer_than_intervals(width: float) -> None:
    gaps, rough = [], []
    for seed in range(6):
        exact, lower, interval = compared(seed, width)
        assert lower <= exact + 1e-7
        gaps.append(exact - lower)
        rough.append(exact - interval)
    assert sum(gaps) < 0.5 * sum(rough)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 46))
def test_the_lower_bounds_of_many_small_nets_are_below_their_true_minima(seed: int) -> None:
    exact, lower, _ = compared(seed, 0.5)
    assert lower <= exact + 1e-7


def test_without_unstable_relus_the_bound_is_the_minimum() -> None:
    for seed in range(3):
        exact, lower, _ = compared(seed, 1e-4)
        assert lower == pytest.approx(exact, abs=1e-6)
