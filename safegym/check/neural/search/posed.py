"""Whether a problem and its limits can be searched, and how much work a box is."""

import sys
from fractions import Fraction

from safegym.check.neural.graph import Graph
from safegym.check.neural.problem import Problem, Region
from safegym.errors import UnsupportedError

_LARGEST = Fraction(sys.float_info.max)


def check_posed(
    problem: Problem, timeout: float, boxes: int | None, memory: int, workers: int
) -> None:
    """Raises UnsupportedError for what does not fit together, and limits that are not positive."""
    if not problem.graph.nodes:
        raise UnsupportedError("The graph has no node, so there is nothing to prove of it.")
    _check_box(problem.region, problem.graph.inputs)
    _check_cuts(problem.region)
    _check_clauses(problem)
    if not timeout > 0 or memory <= 0 or workers < 1 or (boxes is not None and boxes < 1):
        raise UnsupportedError(
            f"timeout={timeout:g}, boxes={boxes}, memory={memory}, workers={workers}: all must be "
            "positive."
        )


def _check_box(region: Region, inputs: int) -> None:
    if len(region.low) != inputs or len(region.high) != inputs:
        raise UnsupportedError(
            f"A region of {len(region.low)} inputs does not fit a graph of {inputs}."
        )
    for index, (low, high) in enumerate(zip(region.low, region.high, strict=True)):
        if max(abs(low), abs(high)) > _LARGEST:
            raise UnsupportedError(
                f"The region has no binary64 box: input {index} would go beyond "
                f"{sys.float_info.max:g}."
            )
        if low > high:
            raise UnsupportedError(
                f"The region is empty: input {index} would be at least {float(low):g} and at most "
                f"{float(high):g}."
            )


def _check_cuts(region: Region) -> None:
    for index, cut in enumerate(region.cuts):
        if len(cut.coefficients) != len(region.low):
            raise UnsupportedError(
                f"Cut {index} has {len(cut.coefficients)} coefficients for "
                f"{len(region.low)} inputs."
            )
        if max(map(abs, (*cut.coefficients, cut.bound))) > _LARGEST:
            raise UnsupportedError(f"Cut {index} has a number that binary64 cannot hold; scale it.")


def _check_clauses(problem: Problem) -> None:
    outputs = problem.graph.outputs
    for index, clause in enumerate(problem.clauses):
        if not clause:
            raise UnsupportedError(f"Clause {index} has no literal; it would fail everywhere.")
        for each in clause:
            if not 0 <= each.output < outputs:
                raise UnsupportedError(
                    f"A clause names output {each.output} of a graph with {outputs} outputs."
                )


def work_of(graph: Graph) -> float:
    """About how many multiplications linear bounds of one box take."""
    below, total = 0.0, 0.0
    for node in graph.nodes:
        if node.kind == "linear":
            size = float(sum(matrix.size for matrix in node.weights))
            total += node.size * (below + size)
            below += size
    return max(total, 1.0)
