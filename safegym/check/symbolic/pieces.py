"""Piecewise affine operations, case by case."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Node
from safegym.check.symbolic.affine import INFINITY, End, Interval, Line
from safegym.errors import UnsupportedError

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Case:
    """Where each condition is <= 0, the result is `value`.

    relaxed: of the first case, lines below the result in every case; of the last, lines above.
    """

    value: Line
    conditions: tuple[Line, ...] = ()
    relaxed: tuple[Line, ...] = ()


def unary_cases(node: Node, k: int, line: Line, span: Interval, error: Fraction) -> list[Case]:
    """Cases of entry k of a relu, leaky_relu, abs or clip whose input lies in `span`."""
    if node.kind == "clip":
        return _clip(node, k, line, span)
    if node.kind not in _SLOPES and node.kind != "leaky_relu":
        raise UnsupportedError(f"{node.kind} is not put to z3: it has no exact counterpart there.")
    slope = Fraction(node.slope) if node.kind == "leaky_relu" else _SLOPES[node.kind]
    below = line.scaled(slope).wider(error if node.kind == "leaky_relu" else ZERO)
    low, high = span
    if low >= 0:
        return [Case(line)]
    if high <= 0:
        return [Case(below)]
    if isinstance(low, float) or isinstance(high, float):
        return [Case(below, (line,)), Case(line, (line.scaled(-ONE),))]
    chord = (high - slope * low) / (high - low)
    above = line.scaled(chord, high - chord * high).wider(below.radius + line.radius)
    under = () if slope > 1 else (line, below)
    over = (above,) if slope <= 1 else ()
    return [
        Case(below, (line,), under),
        Case(line, (line.scaled(-ONE),), over),
    ]


_SLOPES = {"relu": ZERO, "abs": -ONE}


def image(node: Node, k: int, span: Interval, error: Fraction) -> Interval:
    """The least and greatest result over inputs in `span`; `error` counted in."""
    low, high = span
    if node.kind == "clip":
        ends = [min(max(end, _end(node.low, k)), _end(node.high, k)) for end in span]
        return ends[0], ends[1]
    slope = Fraction(node.slope) if node.kind == "leaky_relu" else _SLOPES[node.kind]
    found: list[End] = [end if end >= 0 or not slope else slope * end for end in span]
    found = [Fraction(0) if end < 0 and not slope else end for end in found]
    if low < 0 < high:
        found.append(Fraction(0))
    return min(found) - error, max(found) + error


def _end(limits: NDArray[np.float64] | None, k: int) -> End:
    value = 0.0 if limits is None else float(limits[k])
    return Fraction(value) if np.isfinite(value) else value


def _clip(node: Node, k: int, line: Line, span: Interval) -> list[Case]:
    if node.low is None or node.high is None:
        raise UnsupportedError("A clip without limits.")
    limits = float(node.low[k]), float(node.high[k])
    if limits[0] == INFINITY or limits[1] == -INFINITY:
        raise UnsupportedError("A clip to an infinite number.")
    found: list[Case] = []
    inside: list[Line] = []
    if span[0] < limits[0]:
        low = Fraction(limits[0])
        found.append(Case(Line({}, low), (line.scaled(ONE, -low),)))
        inside.append(line.scaled(-ONE, low))
    if span[1] > limits[1]:
        inside.append(line.scaled(ONE, -Fraction(limits[1])))
    if span[1] >= limits[0] and span[0] <= limits[1]:
        found.append(Case(line, tuple(inside)))
    if span[1] > limits[1]:
        high = Fraction(limits[1])
        found.append(Case(Line({}, high), (line.scaled(-ONE, high),)))
    return found


def pair_cases(node: Node, left: Line, right: Line, difference: Interval) -> list[Case]:
    """Cases of the greater or lesser of two; difference: what left - right can be."""
    upward = node.kind == "max"
    if difference[0] >= 0:
        return [Case(left if upward else right)]
    if difference[1] <= 0:
        return [Case(right if upward else left)]
    gap = left.minus(right)
    return [
        Case(right if upward else left, (gap,)),
        Case(left if upward else right, (gap.scaled(-ONE),)),
    ]
