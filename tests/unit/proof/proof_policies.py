"""Small policies whose answers are known, and a claim's truth by other means."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.evaluate import evaluate_deployed
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.policy import Equivalence, PolicyGraph


def policy_of(
    graph: Graph,
    kind: Literal["box", "discrete"] = "box",
    *,
    space: tuple[Sequence[float], Sequence[float]] | None = None,
    limit: float | None = None,
    predict: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> PolicyGraph:
    """A policy that is its graph, or one whose predict is something else."""
    size = graph.inputs
    low, high = space or ([-1.0] * size, [1.0] * size)

    def deployed(observations: NDArray[Any]) -> NDArray[Any]:
        outputs = evaluate_deployed(graph, observations)
        return outputs if kind == "box" else np.argmax(outputs, axis=1)

    limits = None if limit is None else np.full(graph.outputs, limit)
    return PolicyGraph(
        "tiny",
        "sha256:" + "0" * 64,
        kind,
        graph,
        np.array(low, dtype=np.float64),
        np.array(high, dtype=np.float64),
        None if limits is None else -limits,
        limits,
        predict or deployed,
        Equivalence(1000, 0.0),
    )


def linear(
    weights: Sequence[Sequence[float]], bias: Sequence[float], *, precision: Any = "float32"
) -> Graph:
    """x -> weights x + bias."""
    builder = GraphBuilder(len(weights[0]))
    builder.linear([(builder.input(), weights)], bias, precision=precision)
    return builder.graph()


def network(inputs: int, hidden: int, outputs: int, seed: int) -> Graph:
    """One hidden ReLU layer with binary32 weights."""
    random = np.random.default_rng(seed)

    def some(*shape: int) -> NDArray[np.float64]:
        return np.asarray(random.normal(size=shape).astype(np.float32), dtype=np.float64)

    builder = GraphBuilder(inputs)
    cast = builder.apply("cast", builder.input(), precision="float32")
    first = builder.linear([(cast, some(hidden, inputs))], some(hidden), precision="float32")
    active = builder.apply("relu", first)
    builder.linear([(active, some(outputs, hidden))], some(outputs), precision="float32")
    return builder.graph()
