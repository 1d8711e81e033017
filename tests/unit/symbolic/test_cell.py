"""A cell of a neural search put to z3, beside exact piecewise linear functions of one input."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from safegym.check.neural.graph import Graph, GraphBuilder, Node
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region, Semantics
from safegym.check.symbolic.cell import solve_problem
from safegym.check.symbolic.rounding import FORMATS

Value = Callable[[Fraction], Fraction]


def entry(node: Node, k: int, values: list[list[Fraction]], x: Fraction) -> Fraction:
    """One entry of a node at x, exactly."""
    if node.kind == "input":
        return x
    if node.kind == "linear":
        assert node.bias is not None
        found = Fraction(float(node.bias[k]))
        for matrix, source in zip(node.weights, node.inputs, strict=True):
            for weight, value in zip(matrix[k].tolist(), values[source], strict=True):
                found += Fraction(weight) * value
        return found
    one, other = values[node.inputs[0]][k], values[node.inputs[-1]][k]
    if node.kind == "clip":
        assert node.low is not None
        assert node.high is not None
        return Fraction(min(max(one, float(node.low[k])), float(node.high[k])))
    if node.kind == "divide":
        assert node.divisor is not None
        return one / Fraction(float(node.divisor[k]))
    return {
        "relu": max(one, Fraction(0)),
        "leaky_relu": one if one >= 0 else Fraction(node.slope) * one,
        "abs": abs(one),
        "cast": one,
        "square": one * one,
        "max": max(one, other),
        "min": min(one, other),
        "product": one * other,
    }[node.kind]


def exact(graph: Graph, x: Fraction) -> list[list[Fraction]]:
    values: list[list[Fraction]] = []
    for node in graph.nodes:
        values.append([entry(node, k, values, x) for k in range(node.size)])
    return values


def least(graph: Graph, low: Fraction, high: Fraction) -> Fraction:
    """The least first output over [low, high]: all kinks of every node are found, in order."""
    points = [low, high]
    for at, node in enumerate(graph.nodes):
        if node.kind in ("input", "linear", "divide", "cast"):
            continue
        for k in range(node.size):

            def level(x: Fraction, node: Node = node, k: int = k) -> list[Fraction]:
                values = exact(Graph(graph.nodes[:at], 1), x)  # noqa: B023  # used at once
                one, other = values[node.inputs[0]][k], values[node.inputs[-1]][k]
                if node.kind == "clip" and node.low is not None and node.high is not None:
                    ends = (float(node.low[k]), float(node.high[k]))
                    return [one - Fraction(end) for end in ends if np.isfinite(end)]
                return [one - other] if node.kind in ("max", "min") else [one]

            for left, right in list(pairwise(points)):
                for a, b in zip(level(left), level(right), strict=True):
                    if a * b < 0:
                        points.append(left + (right - left) * a / (a - b))
            points.sort()
    return min(exact(graph, x)[-1][0] for x in points)


def random_graph(seed: int, precision: str = "exact") -> Graph:
    random = np.random.default_rng(seed)
    kinds = ("relu", "leaky_relu", "abs", "clip", "max", "min", "divide")
    builder = GraphBuilder(1)
    at, size = builder.input(), 1
    for _ in range(3):
        wide = int(random.integers(2, 4))
        matrix = random.normal(size=(wide, size)).astype(np.float32)
        bias = random.normal(size=wide).astype(np.float32) * np.float32(0.3)
        at = builder.linear([(at, matrix)], bias, precision=precision)  # type: ignore[arg-type]  # a word
        kind = kinds[int(random.integers(len(kinds)))]
        if kind == "clip":
            at = builder.clip(at, -0.5, [0.25] * (wide - 1) + [np.inf])
        elif kind in ("max", "min"):
            turned = builder.select(at, list(range(wide))[::-1])
            at = builder.pair("max" if kind == "max" else "min", at, turned)
        elif kind == "divide":
            at = builder.divide(at, 3.0)
        else:
            at = builder.apply(kind, at, slope=0.125)  # type: ignore[arg-type]  # a word
        size = wide
    return builder.graph(builder.linear([(at, random.normal(size=(1, size)))], [0.0]))


def question(
    graph: Graph, level: Fraction, *, strict: bool = True, semantics: Semantics = "real"
) -> Problem:
    """Whether the first output stays above a level on [-1, 1]."""
    builder = GraphBuilder(graph.inputs)
    at = builder.append(graph, builder.input())
    size = builder.nodes[at].size
    # the level as two binary64 numbers, so that it can be met to the last place
    high = float(level)
    low = float(level - Fraction(high))
    assert Fraction(high) + Fraction(low) == level
    shifted = builder.linear([(at, np.eye(1, size))], [-high])
    whole = builder.graph(builder.linear([(shifted, [[1.0]])], [-low]))
    region = Region((Fraction(-1),) * graph.inputs, (Fraction(1),) * graph.inputs)
    return Problem(whole, region, ((Positive(0, strict),),), semantics)


def short(value: Fraction) -> Fraction:
    """Near a value, with few digits."""
    return Fraction(float(value))


@pytest.mark.parametrize("seed", range(25))
def test_a_cell_is_decided_as_its_exact_least_value_says(seed: int) -> None:
    graph = random_graph(seed)
    bottom = least(graph, Fraction(-1), Fraction(1))
    below, above = short(bottom) - Fraction(1, 2**40), short(bottom) + Fraction(1, 2**40)
    assert solve_problem(question(graph, short(below)), [-1], [1]).word == "unsat"
    broken = solve_problem(question(graph, short(above)), [-1], [1])
    assert broken.word == "sat"
    assert broken.point is not None
    assert -1 <= broken.point[0] <= 1
    assert exact(graph, broken.point[0])[-1][0] <= above


def test_a_margin_of_exactly_zero_keeps_strictness_apart() -> None:
    builder = GraphBuilder(1)
    graph = builder.graph(builder.apply("relu", builder.input()))
    assert solve_problem(question(graph, Fraction(0), strict=False), [-1], [1]).word == "unsat"
    assert solve_problem(question(graph, Fraction(0), strict=True), [-1], [1]).word == "sat"


def test_only_the_part_of_the_region_in_the_cell_and_its_half_spaces_is_asked() -> None:
    builder = GraphBuilder(2)
    graph = builder.graph(builder.linear([(builder.input(), [[1.0, 1.0]])]))
    cut = HalfSpace((Fraction(-1), Fraction(-1)), Fraction(-1, 3))  # x + y >= 1/3
    region = Region((Fraction(-1),) * 2, (Fraction(1),) * 2, (cut,))
    problem = Problem(graph, region, ((Positive(0),),), "real")
    assert solve_problem(problem, [-1, -1], [1, 1]).word == "unsat"
    free = Problem(graph, Region(region.low, region.high), ((Positive(0),),), "real")
    assert solve_problem(free, [-1, -1], [1, 1]).word == "sat"
    assert solve_problem(free, [0.5, 0.5], [5, 5]).word == "unsat"
    assert solve_problem(free, [2, 2], [3, 3]).word == "unsat"  # no point of the region


def test_fixed_phases_leave_only_the_points_on_their_side() -> None:
    builder = GraphBuilder(1)
    graph = builder.graph(builder.apply("abs", builder.input()))
    problem = question(graph, Fraction(1, 2))  # |x| > 1/2
    right = solve_problem(problem, [-0.25], [1], {(1, 0): True})
    assert right.point is not None
    assert right.point[0] >= 0
    assert solve_problem(problem, [-1], [-0.75], {(1, 0): True}).word == "unsat"
    both = [solve_problem(problem, [-1], [1], {(1, 0): side}) for side in (True, False)]
    assert [each.word for each in both] == ["sat", "sat"]


def test_several_clauses_all_have_to_hold_and_one_literal_is_enough() -> None:
    builder = GraphBuilder(1)
    graph = builder.graph(builder.linear([(builder.input(), [[1.0], [-1.0]])], [0.25, 0.25]))
    region = Region((Fraction(-1),), (Fraction(1),))
    either = Problem(graph, region, ((Positive(0), Positive(1)),), "real")
    both = Problem(graph, region, ((Positive(0),), (Positive(1),)), "real")
    assert solve_problem(either, [-1], [1]).word == "unsat"
    assert solve_problem(both, [-1], [1]).word == "sat"


@pytest.mark.parametrize("seed", range(12))
def test_deployed_results_are_never_outside_what_was_decided(seed: int) -> None:
    """Below what float32 gives at 400 inputs nothing is "unsat", and real answers are no looser."""
    graph = random_graph(seed, "float32")
    lowest = np.inf
    for x in np.linspace(-1, 1, 400).astype(np.float32):
        values: list[np.ndarray] = []
        for node in graph.nodes:
            values.append(float32(node, values, np.float32(x)))
        lowest = min(lowest, float(values[-1][0]))
    there = question(graph, Fraction(lowest), semantics="deployed float32")
    assert solve_problem(there, [-1], [1]).word == "sat"
    clear = question(
        graph,
        short(least(graph, Fraction(-1), Fraction(1)) - Fraction(1, 10**4)),
        semantics="deployed float32",
    )
    assert solve_problem(clear, [-1], [1]).word == "unsat"


def float32(node: Node, values: list[np.ndarray], x: np.float32) -> np.ndarray:
    if node.kind == "input":
        return np.array([x])
    if node.kind == "linear":
        kind = np.float32 if node.precision == "float32" else np.float64
        parts = zip(node.weights, node.inputs, strict=True)
        return sum(w.astype(kind) @ values[s].astype(kind) for w, s in parts) + kind(1) * (
            np.zeros(node.size, kind) if node.bias is None else node.bias.astype(kind)
        )
    one, other = values[node.inputs[0]], values[node.inputs[-1]]
    if node.kind == "clip":
        return np.clip(one, node.low, node.high).astype(np.float32)
    return {
        "relu": np.maximum(one, 0),
        "leaky_relu": np.where(one >= 0, one, one * np.float32(node.slope)),
        "abs": np.abs(one),
        "divide": one if node.divisor is None else one.astype(np.float64) / node.divisor,
        "max": np.maximum(one, other),
        "min": np.minimum(one, other),
    }[node.kind]


def test_deployed_sums_have_room_for_their_rounding_and_no_more() -> None:
    """fl(x/3 + 1) can be off by a few units in the last place, not by a thousand."""
    builder = GraphBuilder(1)
    third = float(np.float32(1 / 3))
    at = builder.linear([(builder.input(), [[third]])], [1.0], precision="float32")
    graph = builder.graph(at)
    bottom = 1 - Fraction(third)
    unit = FORMATS["float32"].unit
    near = question(graph, short(bottom - unit / 2), semantics="deployed float32")
    far = question(graph, short(bottom - 40 * unit), semantics="deployed float32")
    assert solve_problem(near, [-1], [1]).word == "sat"
    assert solve_problem(far, [-1], [1]).word == "unsat"


def test_products_are_polynomial_and_exact() -> None:
    builder = GraphBuilder(1)
    square = builder.apply("square", builder.input())
    graph = builder.graph(builder.linear([(square, [[1.0]]), (0, [[-1.0]])], [0.25]))
    assert solve_problem(question(graph, Fraction(0), strict=False), [-1], [1]).word == "unsat"
    touched = solve_problem(question(graph, Fraction(0)), [-1], [1])
    assert touched.point == (Fraction(1, 2),)


def test_what_z3_cannot_carry_is_unknown_and_named() -> None:
    builder = GraphBuilder(1)
    graph = builder.graph(builder.apply("tanh", builder.input()))
    found = solve_problem(question(graph, Fraction(-2)), [-1], [1])
    assert found.word == "unknown"
    assert "tanh" in found.reason
    wrong = solve_problem(question(graph, Fraction(-2)), [-1, 0], [1, 1])
    assert "2 lower" in wrong.reason
    open_cell = solve_problem(question(graph, Fraction(-2)), [-np.inf], [1])
    assert "not finite" in open_cell.reason


def test_a_time_limit_never_turns_into_an_answer() -> None:
    random = np.random.default_rng(3)
    builder = GraphBuilder(6)
    at = builder.input()
    for size in (40, 40):
        matrix = random.normal(size=(size, builder.nodes[at].size))
        at = builder.apply("relu", builder.linear([(at, matrix)]))
    graph = builder.graph(builder.linear([(at, random.normal(size=(1, 40)))]))
    region = Region((Fraction(-1),) * 6, (Fraction(1),) * 6)
    problem = Problem(graph, region, ((Positive(0),),), "real")
    found = solve_problem(problem, [-1] * 6, [1] * 6, timeout=0.01)
    assert (found.word, found.point) == ("unknown", None)
    assert "0.01 s" in found.reason


def test_a_deployed_overflow_is_unknown() -> None:
    builder = GraphBuilder(1)
    at = builder.linear([(builder.input(), [[3e38]])], [3e38], precision="float32")
    found = solve_problem(
        question(builder.graph(at), Fraction(-1), semantics="deployed float32"), [-1], [1]
    )
    assert "overflow" in found.reason
