"""Marabou: a neural verifier in binary64; only a point of its that replays counts."""

import time
import warnings
from fractions import Fraction
from importlib import import_module
from typing import Any

from safegym.check.neural.certificate.lowering import Network, lowered
from safegym.check.neural.problem import Clause, Problem
from safegym.check.neural.second_opinion.opinion import Opinion, violates
from safegym.errors import UnsupportedError


def ask_marabou(problem: Problem, timeout: float) -> Opinion:
    """Marabou's answer within `timeout` seconds. Raises ImportError where it is missing.

    It computes in binary64 with tolerances and cannot tell > from >=: its HOLDS is an opinion.
    """
    with warnings.catch_warnings():  # it warns of packages that it can do without
        warnings.simplefilter("ignore")
        marabou: Any = import_module("maraboupy.Marabou")
        core: Any = import_module("maraboupy.MarabouCore")

    started, network = time.monotonic(), lowered(problem.graph)
    for clause in problem.clauses:
        left = timeout - (time.monotonic() - started)
        if left <= 0.0:
            return _unknown(f"The time limit of {timeout:g} s was reached.", started)
        query, inputs = _query(core, problem, network, clause)
        options = marabou.createOptions(verbosity=0, timeoutInSeconds=max(1, int(left)))
        answer, values, *_ = core.solve(query, options, "")
        if answer == "sat":
            point = _inside(problem, [values[at] for at in inputs])
            if violates(problem, point):
                spent = time.monotonic() - started
                return Opinion("marabou", "VIOLATED", "A point replayed exactly.", spent, point)
            return _unknown("Its point does not replay in exact arithmetic.", started)
        if answer != "unsat":
            return _unknown(f"It answered {answer} (time limit {timeout:g} s).", started)
    spent = time.monotonic() - started
    return Opinion("marabou", "HOLDS", "By binary64 arithmetic, without a proof.", spent)


def _unknown(reason: str, started: float) -> Opinion:
    return Opinion("marabou", "UNKNOWN", reason, time.monotonic() - started)


def _inside(problem: Problem, values: list[float]) -> tuple[Fraction, ...]:
    region = problem.region
    ends = zip(region.low, values, region.high, strict=True)
    return tuple(min(max(Fraction(x), low), high) for low, x, high in ends)


def _query(core: Any, problem: Problem, network: Network, clause: Clause) -> tuple[Any, list[int]]:
    """The region and every literal of a clause broken."""
    query, count = core.InputQuery(), network.inputs
    inputs, equations, relus = list(range(count)), list[Any](), list[tuple[int, int]]()
    placed: list[list[int]] = [inputs]
    for record, size in zip(network.nodes, network.sizes[1:], strict=True):
        kind, scale = record["kind"], record["scale"]
        made = list(range(count, count + size))
        count += size
        came = [placed[i] for i in record["inputs"]]
        for j, at in enumerate(made):
            if kind == "relu":
                relus.append((came[0][j], at))
                continue
            if kind == "linear":
                weights = [Fraction(x, scale) for matrix in record["weights"] for x in matrix[j]]
                terms = [x for part in came for x in part]
                constant = Fraction(record["bias"][j], scale)
            elif kind == "cast":
                weights, terms, constant = [Fraction(1)], [came[0][j]], Fraction(0)
            else:
                raise UnsupportedError(f"a node of kind {kind!r} is not piecewise linear")
            equations.append((weights, terms, at, constant))
        placed.append(made)
    query.setNumberOfVariables(count)
    for at in inputs:
        query.setLowerBound(at, float(problem.region.low[at]))
        query.setUpperBound(at, float(problem.region.high[at]))
        query.markInputVariable(at, at)
    for weights, terms, at, constant in equations:
        _add(core, query, weights, [*terms], constant, at)
    for before, after in relus:
        core.addReluConstraint(query, before, after)
    for cut in problem.region.cuts:
        _at_most(core, query, [float(c) for c in cut.coefficients], inputs, float(cut.bound))
    for index, each in enumerate(clause):
        query.markOutputVariable(placed[-1][each.output], index)
        _at_most(core, query, [1.0], [placed[-1][each.output]], 0.0)
    return query, inputs


def _add(
    core: Any, query: Any, weights: list[Fraction], terms: list[int], constant: Fraction, at: int
) -> None:
    equation = core.Equation()
    for factor, term in zip(weights, terms, strict=True):
        if factor:
            equation.addAddend(float(factor), term)
    equation.addAddend(-1.0, at)
    equation.setScalar(-float(constant))
    query.addEquation(equation)


def _at_most(core: Any, query: Any, factors: list[float], terms: list[int], bound: float) -> None:
    equation = core.Equation(core.Equation.LE)
    for factor, term in zip(factors, terms, strict=True):
        equation.addAddend(factor, term)
    equation.setScalar(bound)
    query.addEquation(equation)
