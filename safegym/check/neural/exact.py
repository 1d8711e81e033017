"""The exact value of a graph at a rational point, or a narrow enclosure of it.

Rounding plays no part here: a cast is the identity. Sums, products, quotients, relu, clip, abs, max
and min are exact; tanh, sigmoid, exp, sqrt, sin and cos give enclosures of the asked width.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, lcm

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural import enclosures
from safegym.check.neural.enclosures import Enclosure
from safegym.check.neural.graph import Graph, Node
from safegym.errors import UnsupportedError

Values = list[Enclosure]
Function = Callable[[Fraction, int], Enclosure]

RISING: dict[str, Function] = {
    "tanh": enclosures.tanh,
    "sigmoid": enclosures.sigmoid,
    "exp": enclosures.exp,
    "sqrt": enclosures.sqrt,
}
TURNING: dict[str, Function] = {"sin": enclosures.sin, "cos": enclosures.cos}


def evaluate_exact(
    graph: Graph, x: Sequence[Fraction | float], *, digits: int = 40
) -> list[tuple[Fraction, Fraction]]:
    """An enclosure (lower, upper) of each output at x (n,), in exact arithmetic.

    digits: decimal digits to which each tanh, sigmoid, exp, sqrt, sin and cos is enclosed; without
    them lower equals upper. Raises UnsupportedError for an input of another size or one that is not
    finite, for sqrt of a negative number, and for exp above 20000.
    """
    point = _point(graph, x)
    values: list[Values] = []
    for node in graph.nodes:
        values.append(_node(node, point, [values[each] for each in node.inputs], digits))
    return values[-1]


def _point(graph: Graph, x: Sequence[Fraction | float]) -> Values:
    if len(x) != graph.inputs:
        raise UnsupportedError(f"A graph of {graph.inputs} inputs was given {len(x)} numbers.")
    numbers = [each if isinstance(each, Fraction) else float(each) for each in x]
    for at, each in enumerate(numbers):
        if not -inf < each < inf:
            raise UnsupportedError(f"Entry {at} of the point is {each}; give finite numbers.")
    exact = [Fraction(each) for each in numbers]
    return [(each, each) for each in exact]


def _node(node: Node, point: Values, given: list[Values], digits: int) -> Values:
    match node.kind:
        case "input":
            return point[node.first : node.first + node.size]
        case "linear":
            return _linear(node, given)
        case "max" | "min" | "product":
            return [_pair(node.kind, a, b) for a, b in zip(*given, strict=True)]
        case _:
            return [_elementwise(node, at, each, digits) for at, each in enumerate(given[0])]


def _elementwise(node: Node, at: int, value: Enclosure, digits: int) -> Enclosure:
    low, high = value
    match node.kind:
        case "cast":
            return value
        case "relu":
            return max(low, Fraction(0)), max(high, Fraction(0))
        case "leaky_relu":
            return _leaky(Fraction(node.slope), low, high)
        case "clip":
            return _clip(node, at, low), _clip(node, at, high)
        case "divide" if node.divisor is not None:
            below = Fraction(float(node.divisor[at]))
            return low / below, high / below
        case "abs":
            return _magnitude(low, high)
        case "square":
            least, greatest = _magnitude(low, high)
            return least * least, greatest * greatest
        case "sqrt" if low < 0 <= high and low != high:
            return Fraction(0), enclosures.sqrt(high, digits)[1]
        case "sin" | "cos":
            return _around(TURNING[node.kind], low, high, digits)
        case kind if kind in RISING:
            return _rising(RISING[kind], low, high, digits)
        case _:
            raise UnsupportedError(f"A node of kind {node.kind!r} has no exact value.")


def _rising(function: Function, low: Fraction, high: Fraction, digits: int) -> Enclosure:
    if low == high:
        return function(low, digits)
    return function(low, digits)[0], function(high, digits)[1]


def _around(function: Function, low: Fraction, high: Fraction, digits: int) -> Enclosure:
    """Sine and cosine move by at most as much as their argument does."""
    middle, half = (low + high) / 2, (high - low) / 2
    below, above = function(middle, digits)
    return max(below - half, Fraction(-1)), min(above + half, Fraction(1))


def _leaky(slope: Fraction, low: Fraction, high: Fraction) -> Enclosure:
    ends = [each if each > 0 else slope * each for each in (low, high)]
    turn = [Fraction(0)] if low < 0 < high else []
    return min(ends + turn), max(ends + turn)


def _clip(node: Node, at: int, value: Fraction) -> Fraction:
    if node.low is not None and value < node.low[at]:
        return Fraction(float(node.low[at]))
    if node.high is not None and value > node.high[at]:
        return Fraction(float(node.high[at]))
    return value


def _magnitude(low: Fraction, high: Fraction) -> Enclosure:
    ends = abs(low), abs(high)
    return (Fraction(0) if low < 0 < high else min(ends)), max(ends)


def _pair(kind: str, left: Enclosure, right: Enclosure) -> Enclosure:
    if kind == "max":
        return max(left[0], right[0]), max(left[1], right[1])
    if kind == "min":
        return min(left[0], right[0]), min(left[1], right[1])
    products = [a * b for a in left for b in right]
    return min(products), max(products)


def _linear(node: Node, given: list[Values]) -> Values:
    """Sums of integers over one denominator: far fewer greatest common divisors."""
    below = lcm(*(end.denominator for values in given for each in values for end in each))
    scales = [_scale(matrix) for matrix in (*node.weights, node.bias) if matrix is not None]
    scale = max(scales)
    lows: list[int] = [0] * node.size
    highs: list[int] = [0] * node.size
    if node.bias is not None:
        lows = [value * below for value in _integers(node.bias, scale)]
        highs = list(lows)
    for matrix, values in zip(node.weights, given, strict=True):
        low = [each.numerator * (below // each.denominator) for each, _ in values]
        high = [each.numerator * (below // each.denominator) for _, each in values]
        for row in range(node.size):
            for at in np.flatnonzero(matrix[row]):
                weight = _integers(matrix[row, at : at + 1], scale)[0]
                a, b = (low[at], high[at]) if weight > 0 else (high[at], low[at])
                lows[row] += weight * a
                highs[row] += weight * b
    whole = below << scale
    return [(Fraction(a, whole), Fraction(b, whole)) for a, b in zip(lows, highs, strict=True)]


def _scale(values: NDArray[np.float64]) -> int:
    """The least power s of two such that each value times 2**s is whole."""
    return max(
        (float(each).as_integer_ratio()[1].bit_length() - 1 for each in values.flat), default=0
    )


def _integers(values: NDArray[np.float64], scale: int) -> list[int]:
    pairs = [float(each).as_integer_ratio() for each in values.flat]
    return [top * ((1 << scale) // bottom) for top, bottom in pairs]
