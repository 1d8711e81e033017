"""Random graphs of every kind of node, for the tests of bounds."""

from itertools import pairwise

import numpy as np

from safegym.check.neural.evaluate import deployed_node
from safegym.check.neural.graph import Graph, GraphBuilder, Precision

KINDS = (
    *("relu", "leaky_relu", "tanh", "sigmoid", "clip", "divide", "abs", "square", "sqrt", "exp"),
    *("sin", "cos", "product", "max", "min"),
)
ROUNDED = (
    *("cast", "leaky_relu", "divide", "square", "sqrt", "exp", "sin", "cos", "tanh", "sigmoid"),
)
"""Operations on entries that a deployed program rounds."""
SAFE = ("relu", "leaky_relu", "tanh", "sigmoid", "abs", "square", "sin", "cos", "clip", "divide")


def network(
    sizes: tuple[int, ...],
    activation: str = "relu",
    precision: Precision = "float32",
    seed: int = 0,
) -> Graph:
    """A dense network with weights that binary32 holds."""
    random = np.random.default_rng(seed)
    builder = GraphBuilder(sizes[0])
    at = builder.input()
    if precision != "exact":
        at = builder.apply("cast", at, precision=precision)
    for layer, (fan, size) in enumerate(pairwise(sizes)):
        weight = (random.normal(size=(size, fan)) * np.sqrt(2.0 / fan)).astype(np.float32)
        bias = (random.normal(size=size) * 0.1).astype(np.float32)
        at = builder.linear([(at, weight)], bias, precision=precision)
        if layer < len(sizes) - 2:
            at = builder.apply(activation, at, slope=0.125, precision=precision)  # type: ignore[arg-type]
    return builder.graph()


def anything(seed: int, precision: Precision = "exact", operations: int = 12) -> Graph:
    """A graph of three inputs in which random operations read random earlier nodes."""
    random = np.random.default_rng(seed)
    builder = GraphBuilder(3)
    nodes = [builder.input(), builder.input(1, 1)]
    if precision != "exact":
        nodes = [builder.apply("cast", node, precision=precision) for node in nodes]
    for _ in range(operations):
        nodes.append(_one_more(builder, nodes, random, precision))
    last = nodes[-2:]
    parts = [(node, _matrix(random, 2, builder.nodes[node].size)) for node in last]
    builder.linear(parts, random.normal(size=2), precision=precision)
    return builder.graph()


def _matrix(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return (random.normal(size=(rows, columns)) / np.sqrt(columns)).astype(np.float32)


def _one_more(
    builder: GraphBuilder, nodes: list[int], random: np.random.Generator, precision: Precision
) -> int:
    chosen = int(random.choice(nodes))
    other = int(random.choice(nodes))
    draw = random.uniform()
    if draw < 0.35:
        size = int(random.integers(1, 5))
        parts = [
            (each, _matrix(random, size, builder.nodes[each].size)) for each in (chosen, other)
        ]
        bias = random.normal(size=size).astype(np.float32)
        return builder.linear(parts, bias, precision=precision)
    if draw < 0.55:
        same = [n for n in nodes if builder.nodes[n].size == builder.nodes[chosen].size]
        kind = ("product", "max", "min")[int(random.integers(3))]
        return builder.pair(kind, chosen, int(random.choice(same)))  # type: ignore[arg-type]
    kind = SAFE[int(random.integers(len(SAFE)))]
    size = builder.nodes[chosen].size
    if kind == "clip":
        low = random.normal(size=size).astype(np.float32)
        return builder.clip(chosen, low - 1.0, low + 1.0)
    if kind == "divide":
        divisor = random.uniform(0.5, 3.0, size=size).astype(np.float32)
        return builder.divide(chosen, divisor, precision=precision)
    slope = float(np.float32(random.normal()))
    if draw > 0.95:  # the root of a square plus one, and an exp of something bounded
        square = builder.apply("square", chosen, precision=precision)
        return builder.apply("sqrt", square, precision=precision)
    if draw > 0.9:
        return builder.apply("exp", builder.apply("sin", chosen, precision=precision))
    return builder.apply(kind, chosen, slope=slope, precision=precision)  # type: ignore[arg-type]


def single(kind: str, precision: Precision = "exact") -> Graph:
    """One operation on both entries of a mixed input, read by one more linear layer."""
    builder = GraphBuilder(2)
    x = builder.input()
    if precision != "exact":
        x = builder.apply("cast", x, precision=precision)
    mixed = builder.linear([(x, [[1.0, 0.5], [-0.5, 1.25]])], [0.125, -0.25], precision=precision)
    if kind in ("product", "max", "min"):
        done = builder.pair(kind, mixed, builder.select(mixed, [1, 0]))  # type: ignore[arg-type]
    elif kind == "clip":
        done = builder.clip(mixed, [-0.5, -np.inf], [0.75, 0.5])
    elif kind == "divide":
        done = builder.divide(mixed, [3.0, 0.75], precision=precision)
    elif kind == "sqrt":
        square = builder.apply("square", mixed, precision=precision)
        done = builder.apply("sqrt", square, precision=precision)
    else:
        done = builder.apply(kind, mixed, slope=-0.5, precision=precision)  # type: ignore[arg-type]
    builder.linear(
        [(done, [[1.0, -1.0], [0.5, 0.75]]), (mixed, [[0.25, 0.0], [0.0, -0.5]])], [0, 1]
    )
    return builder.graph()


def bare(kind: str, precision: Precision = "exact") -> Graph:
    """One operation alone, its result the output: nothing else's errors can cover for its own."""
    builder = GraphBuilder(2)
    if kind in ("product", "max", "min"):
        builder.pair(kind, builder.input(0, 1), builder.input(1, 1))  # type: ignore[arg-type]
    elif kind == "divide":
        builder.divide(builder.input(), [3.0, 0.75], precision=precision)
    elif kind == "clip":
        builder.clip(builder.input(), [-0.5, -np.inf], [0.75, 0.5])
    else:
        x = builder.input()
        x = builder.apply("abs", x) if kind == "sqrt" else x
        builder.apply(kind, x, slope=-0.3, precision=precision)  # type: ignore[arg-type]
    return builder.graph()


def cancelling(activation: str | None) -> Graph:
    """64 large rows whose inputs cancel at (1, 1) and whose sum nearly cancels everywhere."""
    random = np.random.default_rng(17)
    large = random.normal(size=64) * 1e8
    first = np.stack([large, -large], axis=1) + random.normal(size=(64, 2))
    second = random.normal(size=64)
    second[-1] = -float(second[:-1] @ first[:-1, 0]) / first[-1, 0]
    builder = GraphBuilder(2)
    at = builder.linear([(builder.input(), first)], np.full(64, 3.0))
    if activation is not None:
        at = builder.apply(activation, at)  # type: ignore[arg-type]
    builder.linear([(at, np.stack([second, -second]))], [0.5, 0.25])
    return builder.graph()


def ordered(graph: Graph, points: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A deployed result whose sums are taken one product after the other in a random order."""
    permuted = []
    for node in graph.nodes:
        permuted.append([random.permutation(matrix.shape[1]) for matrix in node.weights])
    found: list[np.ndarray] = []
    for node, orders in zip(graph.nodes, permuted, strict=True):
        inputs = [found[each] for each in node.inputs]
        if node.kind != "linear" or node.precision == "exact" or node.bias is None:
            found.append(deployed_node(node, np.asarray(points), inputs))
            continue
        kind = np.float32 if node.precision == "float32" else np.float64
        total = np.zeros((len(points), node.size), dtype=kind) + node.bias.astype(kind)
        for value, matrix, order in zip(inputs, node.weights, orders, strict=True):
            for column in order:
                product = value[:, column : column + 1].astype(kind) * matrix[:, column].astype(
                    kind
                )
                total = (total + product).astype(kind)
        found.append(total.astype(np.float64))
    return found[-1]
