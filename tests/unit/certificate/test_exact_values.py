"""Exact values of graphs, against mpmath at 80 digits and against fractions worked by hand."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from certified import sampled, small_problem

from safegym.check.neural import enclosures
from safegym.check.neural.certificate import checker
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import GraphBuilder
from safegym.errors import UnsupportedError

FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "exp": (mpmath.exp, mpmath.exp),
    "tanh": (mpmath.tanh, lambda x: 1 - mpmath.tanh(x) ** 2),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), lambda x: 1 / (2 + 2 * mpmath.cosh(x))),
    "sqrt": (mpmath.sqrt, lambda x: 1 / (2 * mpmath.sqrt(x))),
    "sin": (mpmath.sin, mpmath.cos),
    "cos": (mpmath.cos, lambda x: -mpmath.sin(x)),
}


def points(kind: str) -> list[Fraction]:
    random = np.random.default_rng(1)
    sizes = 10.0 ** random.uniform(-8, 2.0 if kind != "exp" else 1.5, size=120)
    signs = random.choice([-1.0, 1.0], size=120) if kind != "sqrt" else np.ones(120)
    return [Fraction(float(x)).limit_denominator(10**12) or Fraction(1, 7) for x in sizes * signs]


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_enclosures_hold_the_value_and_are_as_narrow_as_asked(kind: str) -> None:
    with mpmath.workdps(80):
        for x in points(kind):
            true = FUNCTIONS[kind][0](mpmath.mpf(x.numerator) / x.denominator)
            for digits in (5, 30):
                ends = getattr(enclosures, kind)(x, digits)
                low, high = (mpmath.mpf(e.numerator) / e.denominator for e in ends)
                room = abs(true) * mpmath.mpf(10) ** -70
                assert low - room <= true <= high + room, (kind, x)
                assert high - low <= max(1, abs(true)) * mpmath.mpf(10) ** -digits, (kind, x)


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "sin", "cos"])
def test_the_checker_encloses_each_curve(kind: str) -> None:
    with mpmath.workdps(80):
        for x in points(kind):
            whole = int(x * checker.ONE)
            value = FUNCTIONS[kind][0](mpmath.mpf(whole) / checker.ONE) * checker.ONE
            low, high = checker.curve(kind, whole)
            assert low <= value <= high, (kind, x)
            assert high - low <= max(1 << 30, high >> 30), (kind, x)


def test_a_net_of_sums_and_relus_has_one_exact_value_near_its_binary64_one() -> None:
    problem = small_problem(sizes=(3, 20, 20, 2))
    point = [Fraction(1, 3), Fraction(-1, 7), Fraction(2, 9)]
    ((low, high),) = evaluate_exact(problem.graph, point)
    assert low == high
    near = sampled(problem.graph, np.array([[float(x) for x in point]]))[0, 0]
    assert abs(float(low) - near) < 1e-12


def test_each_exact_node_equals_the_fraction_worked_by_hand() -> None:
    builder = GraphBuilder(2)
    x = builder.input()
    half = builder.linear([(x, [[0.5, 0.0], [0.0, -1.0]])], [1.0, 0.0])  # (x/2 + 1, -y)
    ends = {
        "leaky_relu": builder.apply("leaky_relu", half, slope=0.25),
        "abs": builder.apply("abs", half),
        "square": builder.apply("square", half),
        "divide": builder.divide(half, [3.0, 7.0]),
        "clip": builder.clip(half, [-np.inf, -0.25], [1.0, np.inf]),
        "product": builder.pair("product", half, x),
        "max": builder.pair("max", half, x),
        "min": builder.pair("min", half, x),
        "sqrt": builder.apply("sqrt", builder.apply("square", half)),
    }
    a, b = Fraction(1, 3), Fraction(1, 2)
    u, v = a / 2 + 1, -b
    expected = {
        "leaky_relu": [u, v / 4],
        "abs": [u, -v],
        "square": [u * u, v * v],
        "divide": [u / 3, v / 7],
        "clip": [Fraction(1), Fraction(-1, 4)],
        "product": [u * a, v * b],
        "max": [max(u, a), max(v, b)],
        "min": [min(u, a), min(v, b)],
        "sqrt": [u, -v],
    }
    for name, node in ends.items():
        found = evaluate_exact(builder.graph(node), [a, b])
        assert found == [(value, value) for value in expected[name]], name


def test_a_tanh_net_is_enclosed_to_the_digits_asked() -> None:
    problem = small_problem("tanh")
    widths = []
    for digits in (10, 60):
        ((low, high),) = evaluate_exact(problem.graph, [0.1, 0.2], digits=digits)
        widths.append(high - low)
    assert 0 < widths[1] < Fraction(1, 10**55) < widths[0] < Fraction(1, 10**8)


def test_points_and_values_that_do_not_exist_are_refused() -> None:
    graph = GraphBuilder(1)
    graph.apply("sqrt", graph.input())
    with pytest.raises(UnsupportedError, match="1 inputs was given 2 numbers"):
        evaluate_exact(graph.graph(), [0.0, 1.0])
    with pytest.raises(UnsupportedError, match="Entry 0 of the point is nan"):
        evaluate_exact(graph.graph(), [float("nan")])
    with pytest.raises(UnsupportedError, match="sqrt of -1 is not a real number"):
        evaluate_exact(graph.graph(), [-1.0])
    with pytest.raises(UnsupportedError, match="too great"):
        enclosures.exp(Fraction(30_000), 10)
