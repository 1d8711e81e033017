"""Evaluation of a graph on a batch of points, as a rival result and for the search's attack."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from safegym.check.neural.graph import Graph, Node, Precision, Vector
from safegym.errors import UnsupportedError


def evaluate(graph: Graph, points: ArrayLike) -> Vector:
    """The outputs (B, m) at points (B, n), every node in binary64."""
    return values(graph, points)[-1]


def values(graph: Graph, points: ArrayLike) -> list[Vector]:
    """Every node's values (B, size) at points (B, n), in binary64."""
    x = _points(graph, points)
    found: list[Vector] = []
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            found.append(_value(node, x, [found[each] for each in node.inputs]))
    return found


def evaluate_deployed(graph: Graph, points: ArrayLike) -> Vector:
    """The outputs (B, m), each node in its own precision: one result that may be deployed.

    Another library, or another order of the same sums, may give another one.
    """
    x = _points(graph, points)
    found: list[Vector] = []
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            found.append(deployed_node(node, x, [found[each] for each in node.inputs]))
    return found[-1]


def deployed_node(node: Node, points: Vector, inputs: list[Vector]) -> Vector:
    """One node's values (B, size), from its inputs' values, in the node's own precision."""
    held = [_held(each, node.precision) for each in inputs]
    return np.asarray(_value(_stored(node), points, held), dtype=np.float64)


def gradient(graph: Graph, points: ArrayLike, weights: ArrayLike) -> tuple[Vector, Vector]:
    """Outputs (B, m) at points (B, n), and the gradient (B, n) of weights . outputs.

    weights (m,) or (B, m). At a kink one of the one-sided derivatives is taken.
    """
    x = _points(graph, points)
    found = values(graph, points)
    slopes: list[Vector | None] = [None] * len(found)
    slopes[-1] = np.broadcast_to(np.asarray(weights, dtype=np.float64), found[-1].shape).copy()
    result = np.zeros_like(x)
    with np.errstate(all="ignore"):
        for at in range(len(found) - 1, -1, -1):
            node, slope = graph.nodes[at], slopes[at]
            if slope is None:
                continue
            if node.kind == "input":
                result[:, node.first : node.first + node.size] += slope
                continue
            parts = _pulled(node, [found[each] for each in node.inputs], found[at], slope)
            for each, part in zip(node.inputs, parts, strict=True):
                known = slopes[each]
                slopes[each] = part if known is None else known + part
    return found[-1], result


def _points(graph: Graph, points: ArrayLike) -> Vector:
    x = np.array(points, dtype=np.float64, ndmin=2)
    if x.shape[1:] != (graph.inputs,):
        raise UnsupportedError(
            f"Points of shape {x.shape} do not fit a graph of {graph.inputs} inputs; "
            f"pass shape (B, {graph.inputs})."
        )
    return x


def _held(values: Vector, precision: Precision) -> Vector:
    if precision != "float32":
        return values
    return cast(Vector, values.astype(np.float32))


def _stored(node: Node) -> Node:
    """The node with its constants as its precision stores them."""
    if node.precision != "float32":
        return node
    return replace(
        node,
        weights=tuple(_held(matrix, "float32") for matrix in node.weights),
        bias=None if node.bias is None else _held(node.bias, "float32"),
        divisor=None if node.divisor is None else _held(node.divisor, "float32"),
    )


def _value(node: Node, x: Vector, inputs: list[Vector]) -> Vector:
    match node.kind:
        case "input":
            return x[:, node.first : node.first + node.size]
        case "linear":
            total = sum(v @ w.T for v, w in zip(inputs, node.weights, strict=True))
            return np.asarray(total if node.bias is None else total + node.bias)
        case "product":
            return inputs[0] * inputs[1]
        case "max":
            return np.maximum(inputs[0], inputs[1])
        case "min":
            return np.minimum(inputs[0], inputs[1])
        case _:
            return np.asarray(_FUNCTIONS[node.kind](node, inputs[0]))


def _leaky(node: Node, v: Vector) -> Vector:
    return np.where(v >= 0.0, v, v.dtype.type(node.slope) * v)


def _given(numbers: Vector | None) -> Vector:
    if numbers is None:
        raise UnsupportedError("A clip or a divide of a graph lacks its numbers.")
    return numbers


_FUNCTIONS: dict[str, Callable[[Node, Vector], Any]] = {
    "relu": lambda node, v: np.maximum(v, v.dtype.type(0.0)),
    "leaky_relu": _leaky,
    "tanh": lambda node, v: np.tanh(v),
    "sigmoid": lambda node, v: 1.0 / (1.0 + np.exp(-v)),
    "clip": lambda node, v: np.clip(v, _given(node.low), _given(node.high)),
    "divide": lambda node, v: v / _given(node.divisor),
    "cast": lambda node, v: v,  # held in the precision already, where it has one
    "abs": lambda node, v: np.abs(v),
    "square": lambda node, v: v * v,
    "sqrt": lambda node, v: np.sqrt(v),
    "exp": lambda node, v: np.exp(v),
    "sin": lambda node, v: np.sin(v),
    "cos": lambda node, v: np.cos(v),
}
_DERIVATIVES: dict[str, Callable[[Node, Vector, Vector], Any]] = {
    "relu": lambda node, v, y: (v > 0.0) * 1.0,
    "leaky_relu": lambda node, v, y: np.where(v >= 0.0, 1.0, node.slope),
    "tanh": lambda node, v, y: 1.0 - y * y,
    "sigmoid": lambda node, v, y: y * (1.0 - y),
    "clip": lambda node, v, y: ((v >= _given(node.low)) & (v <= _given(node.high))) * 1.0,
    "divide": lambda node, v, y: 1.0 / _given(node.divisor),
    "cast": lambda node, v, y: 1.0,
    "abs": lambda node, v, y: np.sign(v),
    "square": lambda node, v, y: 2.0 * v,
    "sqrt": lambda node, v, y: np.where(y > 0.0, 0.5 / np.where(y > 0.0, y, 1.0), 0.0),
    "exp": lambda node, v, y: y,
    "sin": lambda node, v, y: np.cos(v),
    "cos": lambda node, v, y: -np.sin(v),
}
"""By the operation's input v and result y."""


def _pulled(node: Node, inputs: list[Vector], value: Vector, slope: Vector) -> list[Vector]:
    """The gradient with respect to each input, from that with respect to the node."""
    match node.kind:
        case "linear":
            return [slope @ matrix for matrix in node.weights]
        case "product":
            return [slope * inputs[1], slope * inputs[0]]
        case "max" | "min":
            first = inputs[0] >= inputs[1] if node.kind == "max" else inputs[0] <= inputs[1]
            return [np.where(first, slope, 0.0), np.where(first, 0.0, slope)]
        case _:
            return [slope * _DERIVATIVES[node.kind](node, inputs[0], value)]
