"""The same graph with fewer nodes: exact linear nodes joined, equal nodes shared.

Terms become a node for each operation; joined, they cost a fraction in bounds. Nothing is rounded:
two matrices are joined only where their product is exact in binary64.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, GraphBuilder, Node

Array = NDArray[np.float64]
Parts = dict[int, Array]
LARGEST = 4096
"""Entries of a matrix beyond which it is left as it is."""


def compacted(graph: Graph) -> Graph:
    """The same function of the same input, under either semantics."""
    found: list[Node] = []
    known: dict[object, int] = {}
    place: list[int] = []
    for node in graph.nodes:
        moved = _joined(node, [place[each] for each in node.inputs], found)
        key = _key(moved)
        if key not in known:
            known[key] = len(found)
            found.append(moved)
        place.append(known[key])
    builder = GraphBuilder(graph.inputs, found)
    return builder.graph(place[-1])


def _joined(node: Node, inputs: list[int], found: list[Node]) -> Node:
    """The node over the new graph, linear inputs taken into it where that is exact."""
    weights, bias = node.weights, node.bias
    if node.kind == "linear" and node.precision == "exact" and bias is not None:
        parts: Parts = {}
        total = bias
        for at, matrix in zip(inputs, weights, strict=True):
            inner = _through(matrix, found[at])
            pieces, more = ({at: matrix}, np.zeros(node.size)) if inner is None else inner
            joined = _summed(total, more)
            merged = None if joined is None else _merged(parts, pieces)
            if merged is None or joined is None:
                return replace(node, inputs=tuple(inputs), weights=weights, bias=bias)
            parts, total = merged, joined
        return replace(node, inputs=tuple(parts), weights=tuple(parts.values()), bias=total)
    return replace(node, inputs=tuple(inputs), weights=weights, bias=bias)


def _through(matrix: Array, inner: Node) -> tuple[Parts, Array] | None:
    """Matrix @ inner as parts over the inner node's inputs and a bias; None where not exact."""
    if inner.kind != "linear" or inner.precision != "exact" or inner.bias is None:
        return None
    parts: Parts = {}
    for at, weight in zip(inner.inputs, inner.weights, strict=True):
        product = _product(matrix, weight)
        merged = None if product is None else _merged(parts, {at: product})
        if merged is None:
            return None
        parts = merged
    bias = _product(matrix, inner.bias[:, None])
    return None if bias is None else (parts, bias[:, 0])


def _product(left: Array, right: Array) -> Array | None:
    if left.size > LARGEST or right.size > LARGEST:
        return None
    out = np.zeros((left.shape[0], right.shape[1]))
    for row in range(left.shape[0]):
        used = np.flatnonzero(left[row])
        for column in range(right.shape[1]):
            exact = sum(
                (Fraction(left[row, at]) * Fraction(right[at, column]) for at in used), Fraction(0)
            )
            near = _float(exact)
            if near is None:
                return None
            out[row, column] = near
    return out


def _merged(parts: Parts, more: Parts) -> Parts | None:
    found = dict(parts)
    for at, matrix in more.items():
        joined = matrix if at not in found else _summed(found[at], matrix)
        if joined is None:
            return None
        found[at] = joined
    return found


def _summed(left: Array, right: Array) -> Array | None:
    """The sum, None where an entry of it is rounded."""
    total = left + right
    part = total - left
    error = (left - (total - part)) + (right - part)
    exact = np.isfinite(total).all() and not error.any()
    return total if exact else None


def _float(value: Fraction) -> float | None:
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if Fraction(near) == value else None


def _key(node: Node) -> object:
    """Equal for nodes that do the same work on the same inputs in the same arithmetic."""
    arrays = (*node.weights, node.bias, node.low, node.high, node.divisor)
    content = tuple(None if each is None else (each.shape, each.tobytes()) for each in arrays)
    scalars = (node.kind, node.size, node.inputs, node.first, node.slope, node.precision)
    return scalars, content
