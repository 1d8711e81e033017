"""Searches over small networks against z3's exact answers and against many samples."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import z3

from safegym.check.neural.evaluate import evaluate, evaluate_deployed
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.outcome import Branch, Leaf, SearchOutcome
from safegym.check.neural.problem import HalfSpace, Positive, Problem, Region, Semantics
from safegym.check.neural.search import search

SLOW = pytest.mark.slow


def _case(seed: int, semantics: Semantics = "real") -> Problem:
    """A small relu network over a box, cut at times, with clauses near what it can reach."""
    random = np.random.default_rng(seed)
    size, outputs = int(random.integers(1, 4)), int(random.integers(1, 4))
    widths = [int(random.integers(2, 6)) for _ in range(int(random.integers(1, 3)))]
    low = random.uniform(-1.0, 0.5, size=size).round(3)
    high = low + random.choice([0.0, 0.3, 1.0, 2.0], size=size, p=[0.05, 0.25, 0.4, 0.3])
    cuts: tuple[HalfSpace, ...] = ()
    if random.random() < 0.3:
        normal = tuple(Fraction(int(each), 7) for each in random.integers(-5, 6, size=size))
        middle = sum(
            (a * Fraction(float(x)) for a, x in zip(normal, (low + high) / 2, strict=True)),
            Fraction(0),
        )
        cuts = (HalfSpace(normal, middle + Fraction(1, 100)),)
    graph = _network(random, [size, *widths, outputs], low, high)
    region = Region(
        tuple(Fraction(x) for x in low.tolist()), tuple(Fraction(x) for x in high.tolist()), cuts
    )
    entries = list(range(outputs))
    cut = int(random.integers(0, outputs))
    groups = [entries[: cut + 1], entries[cut + 1 :]] if random.random() < 0.5 else [entries]
    strict = bool(random.random() < 0.8)
    clauses = tuple(tuple(Positive(at, strict) for at in group) for group in groups if group)
    return Problem(graph, region, clauses, semantics)


def _network(
    random: np.random.Generator, sizes: list[int], low: np.ndarray, high: np.ndarray
) -> Graph:
    layers: list[tuple[np.ndarray, np.ndarray]] = []
    for fan, size in pairwise(sizes):
        weights = random.normal(size=(size, fan)).astype(np.float32).astype(np.float64)
        layers.append((weights, random.normal(size=size).astype(np.float32).astype(np.float64)))
    points = low + (high - low) * random.random((500, len(low)))
    values = points
    for at, (weights, bias) in enumerate(layers):
        values = values @ weights.T + bias
        values = np.maximum(values, 0.0) if at < len(layers) - 1 else values
    shift = random.choice([-0.2, -0.01, 0.0, 0.0, 0.01, 0.2, 0.5])
    offset = np.float64(np.float32(shift - values.min(axis=0)))
    builder = GraphBuilder(len(low))
    node = builder.input()
    for at, (weights, bias) in enumerate(layers):
        last = at == len(layers) - 1
        node = builder.linear([(node, weights)], bias, precision="float32")
        node = node if last else builder.apply("relu", node)
    builder.linear([(node, np.eye(sizes[-1]))], offset)
    return builder.graph()


def _q(value: float | Fraction) -> Any:
    exact = Fraction(value)
    return z3.Q(exact.numerator, exact.denominator)


def _z3_fails(problem: Problem) -> bool:
    """Whether some point of the region fails a clause, in exact arithmetic."""
    solver = z3.Solver()
    inputs = [z3.Real(f"x{at}") for at in range(problem.graph.inputs)]
    for x, low, high in zip(inputs, problem.region.low, problem.region.high, strict=True):
        solver.add(x >= _q(low), x <= _q(high))
    for cut in problem.region.cuts:
        parts = [_q(a) * x for a, x in zip(cut.coefficients, inputs, strict=True)]
        solver.add(z3.Sum(*parts) <= _q(cut.bound))
    values: list[list[Any]] = []
    for node in problem.graph.nodes:
        if node.kind == "input":
            values.append(inputs)
        elif node.kind == "relu":
            values.append([z3.If(each > 0, each, 0) for each in values[node.inputs[0]]])
        else:
            assert node.bias is not None
            rows = node.weights[0].tolist()
            values.append(
                [
                    z3.Sum(
                        *[_q(w) * v for w, v in zip(row, values[node.inputs[0]], strict=True)],
                        _q(b),
                    )
                    for row, b in zip(rows, node.bias.tolist(), strict=True)
                ]
            )
    failing = [
        z3.And(
            *[values[-1][e.output] <= 0 if e.strict else values[-1][e.output] < 0 for e in clause]
        )
        for clause in problem.clauses
    ]
    solver.add(z3.Or(*failing))
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


def _exact(problem: Problem, point: np.ndarray) -> list[Fraction]:
    """Outputs at a point, exactly."""
    values: list[list[Fraction]] = []
    for node in problem.graph.nodes:
        if node.kind == "input":
            values.append([Fraction(x) for x in point.tolist()])
        elif node.kind == "relu":
            values.append([max(each, Fraction(0)) for each in values[node.inputs[0]]])
        else:
            assert node.bias is not None
            values.append(
                [
                    sum(
                        (Fraction(w) * v for w, v in zip(row, values[node.inputs[0]], strict=True)),
                        Fraction(b),
                    )
                    for row, b in zip(node.weights[0].tolist(), node.bias.tolist(), strict=True)
                ]
            )
    return values[-1]


def _agrees(problem: Problem) -> SearchOutcome:
    """One search against z3; returns what it found."""
    outcome = search(problem, boxes=800, keep_tree=True)
    if outcome.result == "PROVED":
        assert not _z3_fails(problem)
    if outcome.result == "COUNTEREXAMPLE":
        assert outcome.point is not None
        assert outcome.clause is not None
        assert problem.region.contains(outcome.point.tolist())
        values = _exact(problem, outcome.point)
        margin = max(values[each.output] for each in problem.clauses[outcome.clause])
        assert margin <= Fraction(1, 10**12)
        if margin < 0:
            assert _z3_fails(problem)
    return outcome


def _count(seeds: range) -> dict[str, int]:
    found = {"PROVED": 0, "COUNTEREXAMPLE": 0, "UNKNOWN": 0}
    for seed in seeds:
        found[_agrees(_case(seed)).result] += 1
    return found


def test_sixty_small_networks_agree_with_exact_solving() -> None:
    found = _count(range(60))
    assert found["PROVED"] >= 15
    assert found["COUNTEREXAMPLE"] >= 15
    assert found["UNKNOWN"] <= 6


@SLOW
def test_five_hundred_small_networks_agree_with_exact_solving() -> None:
    found = _count(range(1000, 1500))
    assert found["PROVED"] >= 120
    assert found["COUNTEREXAMPLE"] >= 120
    assert found["UNKNOWN"] <= 50


def _leaves(problem: Problem, outcome: SearchOutcome, clause: int) -> list[Any]:
    found: list[Any] = []
    waiting = [(0, *problem.region.outward())]
    while waiting:
        at, low, high = waiting.pop()
        entry = outcome.trees[clause].entries[at]
        if isinstance(entry, Leaf):
            found.append((low, high, entry))
            continue
        assert isinstance(entry, Branch)
        upper, lower = high.copy(), low.copy()
        upper[entry.dimension] = lower[entry.dimension] = entry.point
        waiting += [(entry.below, low, upper), (entry.above, lower, high)]
    return found


def test_no_sample_in_a_box_that_was_proved_fails_its_row() -> None:
    random = np.random.default_rng(0)
    boxes, samples = 0, 0
    for seed in range(3000, 3040):
        problem = _case(seed, "deployed float32")
        outcome = search(problem, boxes=500, keep_tree=True)
        for clause in range(len(problem.clauses)):
            for low, high, leaf in _leaves(problem, outcome, clause)[:40]:
                if leaf.kind != "bound" or any(
                    at >= problem.graph.outputs for at, _ in leaf.mixture
                ):
                    continue
                points = low + (high - low) * random.random((2_500, len(low)))
                corners = np.where(random.random((200, len(low))) < 0.5, low, high)
                points = np.concatenate([points, corners])
                single = points.astype(np.float32).astype(np.float64)
                single = single[((single >= low) & (single <= high)).all(axis=1)]
                weights = np.zeros(problem.graph.outputs)
                for row, weight in leaf.mixture or ((leaf.output, 1.0),):
                    weights[row] = weight
                strict = problem.clauses[clause][0].strict
                for values in (
                    evaluate(problem.graph, points),
                    evaluate_deployed(problem.graph, single),
                ):
                    total = values @ weights
                    assert (total > 0.0).all() if strict else (total >= 0.0).all()
                boxes, samples = boxes + 1, samples + len(points)
    assert boxes > 50
    assert samples > 100_000
