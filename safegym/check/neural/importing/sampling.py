"""Observations on which a graph is compared with its policy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.evaluate import values
from safegym.check.neural.graph import Graph, Node
from safegym.check.neural.importing.imported import Vector

LARGE = 1e10
"""A limit further out than this is no limit to sample up to."""
_FAR = 3.0
"""Far samples lie up to 10^3 times the spread away."""
_HALVINGS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A graph, its observation space (n,), and where observations usually lie (n,)."""

    graph: Graph
    low: Vector
    high: Vector
    dtype: str
    centre: Vector
    spread: Vector


def observations(sampled: Sampled, samples: int, seed: int) -> NDArray[np.float64]:
    """Observations (samples, n) inside the space, most of them rounded to its float type.

    A third lies evenly between the limits (normally where there are none), a sixth normally about
    the normaliser's mean, a sixth on limits and corners, a sixth far out, a sixth at kinks of the
    network (a ReLU or a clip changes its piece there).
    """
    generator = np.random.default_rng(seed)
    sixth = samples // 6
    rows = [
        _even(sampled, generator, samples - 4 * sixth),
        _usual(sampled, generator, sixth),
        _cornered(sampled, generator, sixth),
        _far(sampled, generator, sixth),
    ]
    inside = [_within(sampled, part) for part in rows]
    kinks = _kinks(sampled.graph, np.concatenate(inside), generator, sixth)
    found = np.concatenate([*inside, _within(sampled, kinks)])
    if sampled.dtype == "float32":
        rounded = generator.random(len(found)) < 0.9
        found = np.where(rounded[:, None], found.astype(np.float32).astype(np.float64), found)
    return found


def _limits(sampled: Sampled) -> tuple[Vector, Vector]:
    low, high = sampled.low, sampled.high
    return np.where(low < -LARGE, -np.inf, low), np.where(high > LARGE, np.inf, high)


def _within(sampled: Sampled, rows: NDArray[Any]) -> NDArray[np.float64]:
    low, high = _limits(sampled)
    inside: NDArray[np.float64] = np.minimum(np.maximum(rows, low), high)
    return inside


def _even(sampled: Sampled, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    low, high = _limits(sampled)
    bounded = np.isfinite(low) & np.isfinite(high)
    shape = (count, low.size)
    width = np.where(bounded, high, 1.0) - np.where(bounded, low, 0.0)
    even = np.where(bounded, low, 0.0) + generator.random(shape) * width
    return np.where(bounded, even, _usual(sampled, generator, count))


def _usual(sampled: Sampled, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    size = sampled.centre.size
    return sampled.centre + sampled.spread * generator.standard_normal((count, size))


def _cornered(sampled: Sampled, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    low, high = _limits(sampled)
    pick = generator.random((count, low.size))
    rows = _even(sampled, generator, count)
    rows = np.where((pick < 0.4) & np.isfinite(low), low, rows)
    rows = np.where((pick > 0.6) & np.isfinite(high), high, rows)
    return np.where((pick > 0.48) & (pick < 0.52), 0.0, rows)


def _far(sampled: Sampled, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    size = sampled.centre.size
    reach = 10.0 ** generator.uniform(0.0, _FAR, (count, 1))
    return sampled.centre + reach * sampled.spread * generator.standard_normal((count, size))


def _kinks(
    graph: Graph, rows: NDArray[np.float64], generator: np.random.Generator, count: int
) -> NDArray[np.float64]:
    """Points between two rows at which one entry of one node reaches a kink, by halving."""
    below = rows[generator.integers(0, len(rows), count)]
    above = rows[generator.integers(0, len(rows), count)]
    before, after = _distances(graph, below), _distances(graph, above)
    if before.shape[1] == 0:
        return below
    crossed = (before < 0.0) != (after < 0.0)
    entry = np.where(crossed, generator.random(crossed.shape), -1.0).argmax(axis=1)
    everyone = np.arange(count)
    sign = before[everyone, entry] < 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (below + above)
        same = (_distances(graph, middle)[everyone, entry] < 0.0) == sign
        below = np.where(same[:, None], middle, below)
        above = np.where(same[:, None], above, middle)
    return above


def _distances(graph: Graph, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each node's input lies from each of its kinks, (B, kinks)."""
    found = values(graph, rows)
    parts = [np.zeros((len(rows), 0))]
    for node in graph.nodes:
        if node.kind in ("relu", "leaky_relu", "clip", "abs"):
            parts.extend(found[node.inputs[0]] - kink for kink in _at(node))
    return np.concatenate(parts, axis=1)


def _at(node: Node) -> list[Any]:
    if node.kind != "clip" or node.low is None or node.high is None:
        return [0.0]
    return [np.clip(limit, -LARGE, LARGE) for limit in (node.low, node.high)]
