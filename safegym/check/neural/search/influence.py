"""How much each input can move the outputs on a box: the size of the gradient, by intervals.

A guess for the choice of a split, and nothing that a proof rests on. Where a bound's own
coefficients are 0 because a relu was bounded by 0, the gradient still sees the input.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph, Node
from safegym.check.neural.search.rows import Array

Flags = NDArray[np.bool_]
Span = tuple[Array, Array]
"""Least and greatest value of each entry on each box."""


def influence(graph: Graph, inner: Sequence[Span], outputs: Array) -> Array:
    """The greatest |gradient| (B, n) on each box, summed over outputs with weights (B, m).

    inner: bounds ((B, size), (B, size)) of every node.
    """
    used = np.flatnonzero(outputs.any(axis=0))
    boxes, count = outputs.shape[0], len(used)
    seeds = np.zeros((boxes, count, graph.outputs))
    seeds[:, np.arange(count), used] = outputs[:, used]
    slopes: list[Span | None] = [None] * len(graph.nodes)
    slopes[-1] = seeds, seeds.copy()
    total = np.zeros((boxes, graph.inputs))
    with np.errstate(all="ignore"):
        for at in range(len(graph.nodes) - 1, -1, -1):
            node, slope = graph.nodes[at], slopes[at]
            slopes[at] = None
            if slope is None:
                continue
            if node.kind == "input":
                entries = slice(node.first, node.first + node.size)
                total[:, entries] += np.maximum(-slope[0], slope[1]).sum(axis=1)
                continue
            parts = _pulled(node, [inner[each] for each in node.inputs], slope)
            for each, part in zip(node.inputs, parts, strict=True):
                known = slopes[each]
                slopes[each] = part if known is None else (known[0] + part[0], known[1] + part[1])
    return np.where(np.isfinite(total), total, 1e300)


def _pulled(node: Node, inputs: list[Span], slope: Span) -> list[Span]:
    match node.kind:
        case "linear":
            return [_through(matrix, slope) for matrix in node.weights]
        case "product":
            return [_times(inputs[1], slope), _times(inputs[0], slope)]
        case "max" | "min":
            (low, high), (other, above) = inputs
            if node.kind == "min":
                low, high, other, above = -high, -low, -above, -other
            mine = _one(low > above), _one(high >= other)
            return [_times(mine, slope), _times((1.0 - mine[1], 1.0 - mine[0]), slope)]
        case _:
            return [_times(_derivative(node, *inputs[0]), slope)]


def _through(matrix: Array, slope: Span) -> Span:
    plus = np.maximum(matrix, 0.0)
    minus = matrix - plus
    return slope[0] @ plus + slope[1] @ minus, slope[1] @ plus + slope[0] @ minus


def _times(factor: Span, slope: Span) -> Span:
    """A factor's span (B, size) times a slope's (B, m, size)."""
    low, high = factor[0][:, None], factor[1][:, None]
    if (factor[0] >= 0.0).all():
        least = np.where(slope[0] < 0.0, slope[0] * high, slope[0] * low)
        return least, np.where(slope[1] > 0.0, slope[1] * high, slope[1] * low)
    every = [low * slope[0], low * slope[1], high * slope[0], high * slope[1]]
    return np.minimum.reduce(every), np.maximum.reduce(every)


def _derivative(node: Node, low: Array, high: Array) -> Span:
    """The span of an operation's derivative on [low, high], near enough for a guess."""
    match node.kind:
        case "relu":
            return _one(low >= 0.0), _one(high > 0.0)
        case "leaky_relu":
            ends = np.where(low >= 0.0, 1.0, node.slope), np.where(high > 0.0, 1.0, node.slope)
            return np.minimum(*ends), np.maximum(*ends)
        case "tanh" | "sigmoid":
            return _bell(node.kind, low, high)
        case "clip" if node.low is not None and node.high is not None:
            inside = (low >= node.low) & (high <= node.high)
            return _one(inside), _one((high >= node.low) & (low <= node.high))
        case "divide" if node.divisor is not None:
            return np.broadcast_to(1.0 / node.divisor, low.shape), 1.0 / node.divisor + 0.0 * low
        case "abs":
            return np.where(low >= 0.0, 1.0, -1.0), np.where(high > 0.0, 1.0, -1.0)
        case "square":
            return 2.0 * low, 2.0 * high
        case "sqrt":
            return 0.5 / np.sqrt(np.maximum(high, 1e-12)), 0.5 / np.sqrt(np.maximum(low, 1e-12))
        case "exp":
            return np.exp(low), np.exp(high)
        case "sin" | "cos":
            return np.full_like(low, -1.0), np.ones_like(low)
        case _:
            return np.ones_like(low), np.ones_like(low)


def _one(flags: Flags) -> Array:
    """1 where true, else 0."""
    return flags.astype(np.float64)


def _bell(kind: str, low: Array, high: Array) -> Span:
    """Of tanh or the sigmoid: greatest at the point nearest to 0, least at an end."""
    near, far = np.clip(0.0, low, high), np.maximum(np.abs(low), np.abs(high))
    if kind == "tanh":
        return 1.0 - np.tanh(far) ** 2, 1.0 - np.tanh(near) ** 2
    values = [1.0 / (1.0 + np.exp(-point)) for point in (far, near)]
    return values[0] * (1.0 - values[0]), values[1] * (1.0 - values[1])
