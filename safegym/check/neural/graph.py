"""A function of a vector as a graph of plain operations: a network, a model, or both together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import UnsupportedError

Vector = NDArray[np.float64]
Elementwise = Literal[
    "relu",
    "leaky_relu",
    "tanh",
    "sigmoid",
    "clip",
    "divide",
    "cast",
    "abs",
    "square",
    "sqrt",
    "exp",
    "sin",
    "cos",
]
Kind = Literal["input", "linear", "product", "max", "min"] | Elementwise
Precision = Literal["exact", "float32", "float64"]
"""In which arithmetic the deployed program does a node's work."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation on earlier nodes, giving a vector of `size` numbers.

    input: entries first, first+1, ... of the graph's input. linear: sum of weights[i] @ inputs[i],
    plus bias. product, max, min: of two inputs, entry by entry. The rest work on each entry of one
    input: leaky_relu with `slope`; clip to [low, high], which may be infinite; divide by `divisor`;
    cast rounds to the node's precision and is the identity in real numbers;
    sqrt has no value below 0.

    precision: how the deployed program rounds here; "exact" where it does not, or where the
    node is no part of what is deployed (the property, the model of a plant).
    """

    kind: Kind
    size: int
    inputs: tuple[int, ...] = ()
    weights: tuple[Vector, ...] = ()
    bias: Vector | None = None
    first: int = 0
    slope: float = 0.0
    low: Vector | None = None
    high: Vector | None = None
    divisor: Vector | None = None
    precision: Precision = "exact"


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in an order in which each comes after its inputs; the last one is the output.

    inputs: size of the input vector.
    """

    nodes: tuple[Node, ...]
    inputs: int

    @property
    def outputs(self) -> int:
        """Size of the output vector."""
        return self.nodes[-1].size


@dataclass(slots=True)
class GraphBuilder:
    """Builds a graph node by node; every method returns the new node's index.

    inputs: size of the input vector. Arrays are copied, made read-only, and must be finite
    (clip's limits may be infinite). Raises UnsupportedError for what does not fit together.
    """

    inputs: int
    nodes: list[Node] = field(default_factory=list[Node])

    def input(self, first: int = 0, size: int | None = None) -> int:
        """Entries first to first + size of the input (all of them by default)."""
        size = self.inputs - first if size is None else size
        if not (0 <= first and size > 0 and first + size <= self.inputs):
            raise UnsupportedError(
                f"Entries {first} to {first + size - 1} of an input of {self.inputs} do not exist."
            )
        return self._add(Node("input", size, first=first))

    def linear(
        self,
        parts: Sequence[tuple[int, ArrayLike]],
        bias: ArrayLike | None = None,
        *,
        precision: Precision = "exact",
    ) -> int:
        """The sum of matrix (m, n_i) times node i over `parts`, plus bias (m,)."""
        weights = tuple(_frozen(matrix, "a weight") for _, matrix in parts)
        inputs = tuple(node for node, _ in parts)
        size = weights[0].shape[0]
        for node, matrix in zip(inputs, weights, strict=True):
            if matrix.shape != (size, self.nodes[node].size):
                raise UnsupportedError(
                    f"A matrix of shape {matrix.shape} does not map {self.nodes[node].size} "
                    f"numbers to {size}."
                )
        offset = np.zeros(size) if bias is None else _frozen(bias, "a bias")
        if offset.shape != (size,):
            raise UnsupportedError(f"A bias of shape {offset.shape} does not fit {size} rows.")
        offset.flags.writeable = False
        return self._add(Node("linear", size, inputs, weights, offset, precision=precision))

    def select(self, node: int, entries: Sequence[int]) -> int:
        """The named entries of a node, in that order; exact."""
        matrix = np.zeros((len(entries), self.nodes[node].size))
        matrix[np.arange(len(entries)), list(entries)] = 1.0
        return self.linear([(node, matrix)])

    def stack(self, nodes: Sequence[int]) -> int:
        """Several nodes' entries one after the other; exact."""
        sizes = [self.nodes[node].size for node in nodes]
        total, at, parts = sum(sizes), 0, list[tuple[int, Vector]]()
        for node, size in zip(nodes, sizes, strict=True):
            matrix = np.zeros((total, size))
            matrix[at : at + size] = np.eye(size)
            parts.append((node, matrix))
            at += size
        return self.linear(parts)

    def apply(
        self,
        kind: Elementwise,
        node: int,
        *,
        slope: float = 0.0,
        precision: Precision = "exact",
    ) -> int:
        """relu, leaky_relu (needs slope), tanh, sigmoid, cast, abs, square, sqrt, exp, sin, cos."""
        size = self.nodes[node].size
        return self._add(Node(kind, size, (node,), slope=slope, precision=precision))

    def clip(self, node: int, low: ArrayLike, high: ArrayLike) -> int:
        """Each entry into [low, high]; exact in any arithmetic whose numbers the limits are."""
        size = self.nodes[node].size
        lowest, highest = (_limits(value, size) for value in (low, high))
        if not (lowest <= highest).all():
            raise UnsupportedError("A clip has its lower limit above its upper one.")
        return self._add(Node("clip", size, (node,), low=lowest, high=highest))

    def divide(self, node: int, divisor: ArrayLike, *, precision: Precision = "exact") -> int:
        """Each entry divided by its own positive number."""
        below = np.broadcast_to(_frozen(divisor, "a divisor"), (self.nodes[node].size,)).copy()
        below.flags.writeable = False
        if not (below > 0.0).all():
            raise UnsupportedError("A divisor of a graph's node must be above 0.")
        return self._add(Node("divide", below.size, (node,), divisor=below, precision=precision))

    def pair(self, kind: Literal["product", "max", "min"], left: int, right: int) -> int:
        """The product, or the greater or lesser, of two nodes entry by entry; exact."""
        sizes = self.nodes[left].size, self.nodes[right].size
        if sizes[0] != sizes[1]:
            raise UnsupportedError(f"{kind} of nodes of {sizes[0]} and {sizes[1]} entries.")
        return self._add(Node(kind, sizes[0], (left, right)))

    def append(self, graph: Graph, inputs: Mapping[int, int] | int) -> int:
        """A whole graph fed by a node (of the size of its input); returns its output node."""
        source = inputs if isinstance(inputs, int) else inputs[0]
        if self.nodes[source].size != graph.inputs:
            raise UnsupportedError(
                f"A graph of {graph.inputs} inputs was fed {self.nodes[source].size} numbers."
            )
        placed: list[int] = []
        for node in graph.nodes:
            if node.kind == "input":
                entries = list(range(node.first, node.first + node.size))
                whole = entries == list(range(graph.inputs))
                placed.append(source if whole else self.select(source, entries))
                continue
            moved = tuple(placed[each] for each in node.inputs)
            placed.append(self._add(replace(node, inputs=moved)))
        return placed[-1]

    def graph(self, output: int | None = None) -> Graph:
        """The graph up to a node (the last by default), without nodes that it does not need."""
        last = len(self.nodes) - 1 if output is None else output
        needed, waiting = set[int](), [last]
        while waiting:
            at = waiting.pop()
            if at not in needed:
                needed.add(at)
                waiting.extend(self.nodes[at].inputs)
        kept = sorted(needed)
        place = {old: new for new, old in enumerate(kept)}
        nodes = [
            replace(self.nodes[old], inputs=tuple(place[each] for each in self.nodes[old].inputs))
            for old in kept
        ]
        return Graph(tuple(nodes), self.inputs)

    def _add(self, node: Node) -> int:
        for each in node.inputs:
            if not 0 <= each < len(self.nodes):
                raise UnsupportedError(f"Node {each} does not exist.")
        self.nodes.append(node)
        return len(self.nodes) - 1


def _frozen(values: ArrayLike, what: str) -> Vector:
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise UnsupportedError(f"{what.capitalize()} of a graph is not finite.")
    array.flags.writeable = False
    return array


def _limits(values: ArrayLike, size: int) -> Vector:
    array = np.broadcast_to(np.array(values, dtype=np.float64), (size,)).copy()
    if np.isnan(array).any():
        raise UnsupportedError("A clip's limit is NaN.")
    array.flags.writeable = False
    return array
