"""A problem about linear nodes and relus as exact SMT-LIB 2 text (QF_LRA)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from safegym.check.neural.certificate.lowering import lowered
from safegym.check.neural.problem import Problem
from safegym.errors import UnsupportedError


def smtlib(problem: Problem) -> str:
    """Text that is satisfiable exactly where a point of the region breaks a clause.

    Rationals are exact; rounding plays no part. Raises UnsupportedError for a node that is neither
    linear nor piecewise linear.
    """
    return "\n".join(["(set-logic QF_LRA)", *_lines(problem), "(check-sat)", ""])


def _lines(problem: Problem) -> Iterator[str]:
    network, region = lowered(problem.graph), problem.region
    for at, (low, high) in enumerate(zip(region.low, region.high, strict=True)):
        yield f"(declare-const x{at} Real)"
        yield f"(assert (and (<= {_number(low)} x{at}) (<= x{at} {_number(high)})))"
    names = [f"x{at}" for at in range(network.inputs)]
    for cut in region.cuts:
        yield f"(assert (<= {_sum(cut.coefficients, names, Fraction(0))} {_number(cut.bound)}))"
    placed: list[list[str]] = [names]
    for k, record in enumerate(network.nodes):
        made, lines = _node(k, record, placed, network.sizes[k + 1])
        yield from lines
        placed.append(made)
    outputs = placed[-1]
    broken = [
        "(and true "
        + " ".join(f"({'<=' if e.strict else '<'} {outputs[e.output]} 0)" for e in each)
        + ")"
        for each in problem.clauses
    ]
    yield f"(assert (or false {' '.join(broken)}))"


def _node(
    k: int, record: dict[str, Any], placed: list[list[str]], size: int
) -> tuple[list[str], list[str]]:
    lines = list[str]()
    made = [f"n{k}_{j}" for j in range(size)]
    lines += [f"(declare-const {name} Real)" for name in made]
    came = [placed[i] for i in record["inputs"]]
    for j, name in enumerate(made):
        if record["kind"] == "linear":
            scale = record["scale"]
            weights = [Fraction(x, scale) for matrix in record["weights"] for x in matrix[j]]
            terms = [each for part in came for each in part]
            constant = Fraction(record["bias"][j], scale)
            lines.append(f"(assert (= {name} {_sum(weights, terms, constant)}))")
        elif record["kind"] == "relu":
            z = came[0][j]
            lines.append(f"(assert (ite (>= {z} 0) (= {name} {z}) (= {name} 0)))")
        elif record["kind"] == "cast":
            lines.append(f"(assert (= {name} {came[0][j]}))")
        else:
            raise UnsupportedError(f"a node of kind {record['kind']!r} is not piecewise linear")
    return made, lines


def _sum(factors: Any, terms: list[str], constant: Fraction) -> str:
    parts = [f"(* {_number(f)} {x})" for f, x in zip(factors, terms, strict=True) if f]
    return f"(+ {_number(constant)} 0 {' '.join(parts)})"


def _number(value: Fraction) -> str:
    text = str(abs(value.numerator))
    size = f"(/ {text} {value.denominator})" if value.denominator > 1 else text
    return f"(- {size})" if value < 0 else size
