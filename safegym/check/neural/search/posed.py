"""Whether a problem and its limits can be searched, and how much work a box is."""

from safegym.check.neural.graph import Graph
from safegym.check.neural.problem import Problem
from safegym.errors import UnsupportedError


def check_posed(
    problem: Problem, timeout: float, boxes: int | None, memory: int, workers: int
) -> None:
    """Raises UnsupportedError for what does not fit together, and limits that are not positive."""
    region, outputs = problem.region, problem.graph.outputs
    if len(region.low) != problem.graph.inputs or len(region.high) != problem.graph.inputs:
        raise UnsupportedError(
            f"A region of {len(region.low)} inputs does not fit a graph of {problem.graph.inputs}."
        )
    for index, (low, high) in enumerate(zip(region.low, region.high, strict=True)):
        if low > high:
            raise UnsupportedError(
                f"The region is empty: input {index} would be at least {float(low):g} and at most "
                f"{float(high):g}."
            )
    for index, clause in enumerate(problem.clauses):
        if not clause:
            raise UnsupportedError(f"Clause {index} has no literal; it would fail everywhere.")
        for each in clause:
            if not 0 <= each.output < outputs:
                raise UnsupportedError(
                    f"A clause names output {each.output} of a graph with {outputs} outputs."
                )
    if not timeout > 0 or memory <= 0 or workers < 1 or (boxes is not None and boxes < 1):
        raise UnsupportedError(
            f"timeout={timeout:g}, boxes={boxes}, memory={memory}, workers={workers}: all must be "
            "positive."
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
