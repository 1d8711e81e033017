"""A graph as the few kinds of node that a certificate's network is made of.

leaky_relu, clip, abs, max, min and product become sums of relu and square; a cast becomes a sum of
one term. Each is the same function, and its deployed results are among those that the new nodes
may give.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, Node
from safegym.errors import UnsupportedError

Record = dict[str, Any]
CURVES = ("tanh", "sigmoid", "exp", "sqrt", "sin", "cos")


@dataclass(slots=True)
class Network:
    """Nodes of a certificate's network, each as the object that network.json holds.

    arrays: for a linear node, its matrices in binary64, for the writer's own arithmetic.
    """

    inputs: int
    nodes: list[Record] = field(default_factory=list[Record])
    arrays: list[list[NDArray[np.float64]]] = field(default_factory=list[list[NDArray[np.float64]]])

    def document(self) -> Record:
        """What network.json holds."""
        return {"inputs": self.inputs, "nodes": self.nodes}

    def input(self, first: int, size: int) -> int:
        """Entries first to first + size of the input."""
        return self._add("input", size, first=first)

    def apply(self, kind: str, node: int, precision: str, values: list[str] | None = None) -> int:
        """An operation on each entry."""
        return self._add(kind, self._size(node), (node,), precision, values or [])

    def linear(
        self,
        parts: list[tuple[int, list[list[Fraction]]]],
        bias: list[Fraction],
        precision: str = "exact",
    ) -> int:
        """The sum of matrix times node over `parts`, plus bias."""
        weights = [[[_text(x) for x in row] for row in matrix] for _, matrix in parts]
        inputs = tuple(node for node, _ in parts)
        at = self._add("linear", len(bias), inputs, precision, [_text(x) for x in bias], weights)
        self.arrays[at] = [np.array([[float(x) for x in r] for r in m]) for _, m in parts]
        return at

    def scaled(
        self,
        parts: list[tuple[int, list[Fraction]]],
        bias: list[Fraction] | None = None,
        precision: str = "exact",
    ) -> int:
        """The sum of nodes of one size, each entry times its own factor, plus bias."""
        size = self._size(parts[0][0])
        return self.linear(
            [(node, _diagonal(factors)) for node, factors in parts],
            bias or [Fraction(0)] * size,
            precision,
        )

    def _size(self, node: int) -> int:
        return int(self.nodes[node]["size"])

    def _add(
        self,
        kind: str,
        size: int,
        inputs: tuple[int, ...] = (),
        precision: str = "exact",
        values: list[str] | None = None,
        weights: list[list[list[str]]] | None = None,
        first: int = 0,
    ) -> int:
        record = {"kind": kind, "size": size, "inputs": list(inputs), "precision": precision}
        self.nodes.append(
            record | {"values": values or [], "weights": weights or [], "first": first}
        )
        self.arrays.append([])
        return len(self.nodes) - 1


def lowered(graph: Graph) -> Network:
    """The network of a graph. Raises UnsupportedError for a node that it has no form for."""
    network = Network(graph.inputs)
    placed: list[int] = []
    for node in graph.nodes:
        placed.append(_placed(node, network, [placed[each] for each in node.inputs]))
    last = placed[-1]
    if last != len(network.nodes) - 1:  # the checker reads the outputs off the last node
        network.scaled([(last, _ones(graph.outputs))])
    return network


def _placed(node: Node, network: Network, came: list[int]) -> int:
    exact, one = node.precision == "exact", _ones(node.size)
    match node.kind:
        case "input":
            return network.input(node.first, node.size)
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
            return came[0] if exact else network.scaled([(came[0], one)], None, node.precision)
        case "abs":
            above = network.apply("relu", came[0], "exact")
            return network.scaled([(above, _times(one, 2)), (came[0], _times(one, -1))])
        case "clip" if node.low is not None and node.high is not None:
            return _clip(network, _clip(network, came[0], node.low, 1), node.high, -1)
        case "divide" if node.divisor is not None:
            values = [_text(x) for x in _entries(node.divisor)]
            return network.apply("divide", came[0], node.precision, values)
        case "max" | "min" if exact:
            sign = 1 if node.kind == "max" else -1
            less = network.scaled([(came[0], _times(one, sign)), (came[1], _times(one, -sign))])
            above = network.apply("relu", less, "exact")
            return network.scaled([(came[1], one), (above, _times(one, sign))])
        case "product" if exact:
            return _product(network, came, one)
        case kind if kind in (*CURVES, "square"):
            return network.apply(kind, came[0], node.precision)
        case _:
            raise UnsupportedError(f"A certificate has no form for a node of kind {node.kind!r}.")


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


def _text(value: Fraction) -> str:
    """Hexadecimal where binary64 holds the number, a fraction otherwise."""
    near = float(value)
    return near.hex() if Fraction(near) == value else str(value)
