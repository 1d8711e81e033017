"""Problems for the tests of the search."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.problem import Clause, HalfSpace, Positive, Problem, Region, Semantics


def dense(sizes: tuple[int, ...], seed: int, offset: float = 0.0) -> Graph:
    """A relu network in binary32 with binary32 weights; `offset` is added to every output."""
    random = np.random.default_rng(seed)
    builder = GraphBuilder(sizes[0])
    at = builder.input()
    for layer, (fan, size) in enumerate(pairwise(sizes)):
        weights = (random.normal(size=(size, fan)) / np.sqrt(fan)).astype(np.float32)
        bias = (0.3 * random.normal(size=size)).astype(np.float32)
        at = builder.linear([(at, weights)], bias, precision="float32")
        if layer < len(sizes) - 2:
            at = builder.apply("relu", at)
    if offset:
        at = builder.linear([(at, np.eye(sizes[-1]))], np.full(sizes[-1], offset))
    return builder.graph()


def cube(
    size: int, low: float = -1.0, high: float = 1.0, cuts: tuple[HalfSpace, ...] = ()
) -> Region:
    """The same limits for each input."""
    return Region((Fraction(low),) * size, (Fraction(high),) * size, cuts)


def one(
    graph: Graph, region: Region, *, strict: bool = True, semantics: Semantics = "real"
) -> Problem:
    """The first output is positive."""
    return Problem(graph, region, ((Positive(0, strict),),), semantics)


def any_of(graph: Graph, region: Region, semantics: Semantics = "real") -> Problem:
    """Some output is positive."""
    clause: Clause = tuple(Positive(at) for at in range(graph.outputs))
    return Problem(graph, region, (clause,), semantics)


def dip(size: int, centre: np.ndarray, radius: float, depth: float) -> Graph:
    """1 everywhere but in a ball of the maximum norm around `centre`, where it falls to -depth."""
    builder = GraphBuilder(size)
    x = builder.input()
    moved = builder.linear([(x, np.eye(size))], -centre)
    distance = builder.select(away := builder.apply("abs", moved), [0])
    for at in range(1, size):
        distance = builder.pair("max", distance, builder.select(away, [at]))
    slope = (1.0 + depth) / radius
    inside = builder.apply("relu", builder.linear([(distance, [[-slope]])], [1.0 + depth]))
    builder.linear([(inside, [[-1.0]])], [1.0])
    return builder.graph()


def raised(sizes: tuple[int, ...], seed: int, region: Region, margin: float) -> Graph:
    """A network whose greatest output is about `margin` at the least of many points."""
    low, high = region.outward()
    points = low + (high - low) * np.random.default_rng(0).random((20_000, len(low)))
    return dense(
        sizes, seed, margin - float(evaluate(dense(sizes, seed), points).max(axis=1).min())
    )


def twins(size: int = 6, width: int = 30, margin: float = 1e-6) -> Problem:
    """A network less itself, plus a margin: true, and far beyond bounds that see two networks."""
    graph = dense((size, width, width, 1), 3)
    builder = GraphBuilder(size)
    x = builder.input()
    both = [(builder.append(graph, x), [[sign]]) for sign in (1.0, -1.0)]
    builder.linear(both, [margin])
    return one(builder.graph(), cube(size))
