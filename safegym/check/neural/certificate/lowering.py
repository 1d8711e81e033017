"""A graph as the few kinds of node that a certificate's network is made of.

leaky_relu, clip, abs, max, min and product become sums of relu and square; a division becomes a sum
of one term. Each is the same function, and its deployed results are among those that the new nodes
may give.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, Node
from safegym.errors import UnsupportedError

Record = dict[str, Any]
PLAIN = ("relu", "square", "tanh", "sigmoid", "sin", "cos")
MOST = 4000
"""Bits of a node's scale; Python reads integers of up to 4300 digits."""
LARGEST = 2.0**120
"""Of a divisor that a deployed program rounds; binary32 would hold the next ones as infinite."""


@dataclass(slots=True)
class Network:
    """Nodes of a certificate's network, each as the object that network.json holds.

    Value 0 is the input, and value k what node k - 1 gives; the methods return a value's number.
    """

    inputs: int
    nodes: list[Record] = field(default_factory=list[Record])
    sizes: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.sizes.append(self.inputs)

    def document(self) -> Record:
        """What network.json holds."""
        return {"inputs": self.inputs, "nodes": self.nodes}

    def apply(self, kind: str, value: int, precision: str) -> int:
        """An operation on each entry."""
        return self._add(kind, self.sizes[value], [value], precision)

    def linear(
        self,
        parts: list[tuple[int, list[list[Fraction]]]],
        bias: list[Fraction],
        precision: str = "exact",
    ) -> int:
        """The sum of matrix times value over `parts`, plus bias."""
        numbers = [x for _, matrix in parts for row in matrix for x in row]
        scale = lcm(*(x.denominator for x in numbers), *(x.denominator for x in bias))
        if scale.bit_length() > MOST:
            raise UnsupportedError(f"A certificate has no form for a scale of over {MOST} bits.")
        rows = [[[int(x * scale) for x in row] for row in matrix] for _, matrix in parts]
        inputs, constants = [value for value, _ in parts], [int(x * scale) for x in bias]
        return self._add("linear", len(bias), inputs, precision, constants, scale, rows)

    def scaled(
        self,
        parts: list[tuple[int, list[Fraction]]],
        bias: list[Fraction] | None = None,
        precision: str = "exact",
    ) -> int:
        """The sum of nodes of one size, each entry times its own factor, plus bias."""
        size = self.sizes[parts[0][0]]
        return self.linear(
            [(node, _diagonal(factors)) for node, factors in parts],
            bias or [Fraction(0)] * size,
            precision,
        )

    def _add(
        self,
        kind: str,
        size: int,
        inputs: list[int],
        precision: str,
        bias: list[int] | None = None,
        scale: int = 1,
        weights: list[list[list[int]]] | None = None,
    ) -> int:
        record = {"kind": kind, "inputs": inputs, "precision": precision, "scale": scale}
        self.nodes.append(record | {"bias": bias or [], "weights": weights or []})
        self.sizes.append(size)
        return len(self.nodes)


def lowered(graph: Graph) -> Network:
    """The network of a graph. Raises UnsupportedError for a node that it has no form for."""
    network = Network(graph.inputs)
    placed: list[int] = []
    for node in graph.nodes:
        placed.append(_placed(node, network, [placed[each] for each in node.inputs]))
    last = placed[-1]
    if last != len(network.nodes) or last == 0:  # the checker reads the outputs off the last node
        network.scaled([(last, _ones(graph.outputs))])
    return network


def _placed(node: Node, network: Network, came: list[int]) -> int:
    exact, one = node.precision == "exact", _ones(node.size)
    match node.kind:
        case "input":
            return _chosen(network, node)
        case "linear":
            parts = [(at, _fractions(w)) for at, w in zip(came, node.weights, strict=True)]
            bias = [Fraction(0)] * node.size if node.bias is None else _entries(node.bias)
            return network.linear(parts, bias, node.precision)
        case "relu":
            return network.apply("relu", came[0], "exact")
        case "leaky_relu":
            above, slope = network.apply("relu", came[0], "exact"), Fraction(node.slope)
            both = [(came[0], [slope] * node.size), (above, [1 - slope] * node.size)]
            return network.scaled(both, None, node.precision)
        case "cast":
            return came[0] if exact else network.apply("cast", came[0], node.precision)
        case "abs":
            above = network.apply("relu", came[0], "exact")
            return network.scaled([(above, _times(one, 2)), (came[0], _times(one, -1))])
        case "clip" if node.low is not None and node.high is not None:
            return _clip(network, _clip(network, came[0], node.low, 1), node.high, -1)
        case "divide" if node.divisor is not None:
            return _divided(network, came[0], node.divisor, node.precision)
        case "max" | "min" if exact:
            sign = 1 if node.kind == "max" else -1
            less = network.scaled([(came[0], _times(one, sign)), (came[1], _times(one, -sign))])
            above = network.apply("relu", less, "exact")
            return network.scaled([(came[1], one), (above, _times(one, sign))])
        case "product" if exact:
            return _product(network, came, one)
        case kind if kind in PLAIN:
            return network.apply(kind, came[0], node.precision)
        case _:
            raise UnsupportedError(f"A certificate has no form for a node of kind {node.kind!r}.")


def _chosen(network: Network, node: Node) -> int:
    """Entries of the input."""
    if node.size == network.inputs:
        return 0
    chosen, every = range(node.first, node.first + node.size), range(network.inputs)
    matrix = [[Fraction(int(i == j)) for j in every] for i in chosen]
    return network.linear([(0, matrix)], [Fraction(0)] * node.size)


def _divided(network: Network, node: int, divisor: NDArray[np.float64], precision: str) -> int:
    """Each entry over its own number."""
    if precision != "exact" and divisor.max() >= LARGEST:
        raise UnsupportedError(
            f"A certificate has no form for a division by {divisor.max():g} in {precision}."
        )
    return network.scaled([(node, [1 / x for x in _entries(divisor)])], None, precision)


def _clip(network: Network, node: int, limits: NDArray[np.float64], sign: int) -> int:
    """The greater (sign 1) or lesser (-1) of each entry and its limit: l + s relu(s x - s l)."""
    finite = np.isfinite(limits)
    if not finite.any():
        return node
    ends = [Fraction(float(x)) if ok else Fraction(0) for x, ok in zip(limits, finite, strict=True)]
    kept = [Fraction(int(ok)) for ok in finite]
    less = network.scaled([(node, _times(kept, sign))], _times(ends, -sign))
    above = network.apply("relu", less, "exact")
    rest = [1 - x for x in kept]
    return network.scaled([(above, _times(kept, sign)), (node, rest)], ends)


def _product(network: Network, came: list[int], one: list[Fraction]) -> int:
    """((x + y) / 2) ** 2 - ((x - y) / 2) ** 2."""
    half = [x / 2 for x in one]
    if came[0] == came[1]:
        return network.apply("square", came[0], "exact")
    squares = [
        network.apply(
            "square", network.scaled([(came[0], half), (came[1], _times(half, sign))]), "exact"
        )
        for sign in (1, -1)
    ]
    return network.scaled([(squares[0], one), (squares[1], _times(one, -1))])


def _ones(size: int) -> list[Fraction]:
    return [Fraction(1)] * size


def _times(values: list[Fraction], factor: int) -> list[Fraction]:
    return [x * factor for x in values]


def _diagonal(factors: list[Fraction]) -> list[list[Fraction]]:
    rows = range(len(factors))
    return [[factors[at] if at == row else Fraction(0) for at in rows] for row in rows]


def _entries(values: NDArray[np.float64]) -> list[Fraction]:
    return [Fraction(float(x)) for x in values]


def _fractions(matrix: NDArray[np.float64]) -> list[list[Fraction]]:
    return [_entries(row) for row in matrix]
