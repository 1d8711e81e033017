"""A graph as the steps that bounds are computed by."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from safegym.check.neural.bounds.rounding import LARGEST32, Array, gamma
from safegym.check.neural.graph import Graph, Node, Precision
from safegym.errors import UnsupportedError

Role = Literal["input", "linear", "unary", "product", "difference", "choice"]
_STRAIGHT = ("cast", "divide")
"""Operations on each entry that are lines themselves; their input needs no tight bounds."""


@dataclass(slots=True, eq=False)
class Step:
    """One step. The maximum of x and y is y + relu(x - y), and the minimum x - relu(x - y).

    difference: x - y of two steps; choice: inputs x, y, relu(x - y), exact in either semantics.
    weighing: a linear step's rows as computed backward: its |weights| for the error terms.
    boxlike: no tighter bound of the step than the interval one exists. tighten: bounds of it pay.
    """

    role: Role
    node: Node
    inputs: tuple[int, ...]
    size: int
    consumers: list[int] = field(default_factory=list[int])
    absolute: tuple[Array, ...] = ()
    gamma: float = 0.0
    folded: bool = False
    boxlike: bool = False
    tighten: bool = False
    under_root: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Steps in order, where each node of the graph is found, and the output's step."""

    steps: tuple[Step, ...]
    place: tuple[int, ...]

    @property
    def piecewise(self) -> bool:
        """Whether bounds may settle that some entry does not bend, which spares it later work."""
        return any(
            step.tighten and self.steps[each].node.kind in ("relu", "leaky_relu", "abs", "clip")
            for step in self.steps
            for each in step.consumers
        )

    @property
    def output(self) -> int:
        """The step that holds the graph's output."""
        return self.place[-1]


def plan(graph: Graph) -> Plan:
    """The steps of a graph. Raises UnsupportedError for a pair of nodes that is not exact."""
    steps: list[Step] = []
    held: list[set[Precision]] = []
    place: list[int] = []
    for node in graph.nodes:
        inputs = tuple(place[each] for each in node.inputs)
        _refuse(node)
        if node.kind in ("max", "min"):
            steps.append(Step("difference", Node("linear", node.size), inputs, node.size))
            steps.append(Step("unary", Node("relu", node.size), (len(steps) - 1,), node.size))
            steps.append(Step("choice", node, (*inputs, len(steps) - 1), node.size))
            held += [set(), set(), set.intersection(*(held[each] for each in inputs))]
        else:
            if _converts(node) and node.precision not in held[inputs[0]]:
                steps.append(Step("unary", _cast(node), inputs, steps[inputs[0]].size))
                held.append(_held(_cast(node), [held[each] for each in inputs]))
                inputs = (len(steps) - 1,)
            steps.append(_plain(node, inputs))
            held.append(_held(node, [held[each] for each in inputs]))
        place.append(len(steps) - 1)
    for at, step in enumerate(steps):
        for each in step.inputs:
            steps[each].consumers.append(at)
    _mark(steps)
    return Plan(tuple(steps), tuple(place))


def _refuse(node: Node) -> None:
    """Raises UnsupportedError for what no bounds are known of."""
    if node.kind in ("product", "max", "min") and node.precision != "exact":
        raise UnsupportedError(
            f"A {node.kind} in {node.precision} has no bounds; only an exact one has."
        )
    if node.precision != "float32":
        return
    numbers = [*node.weights, *(each for each in (node.bias,) if each is not None)]
    numbers.append(np.array([node.slope]))
    if any((np.abs(each) > LARGEST32).any() for each in numbers):
        raise UnsupportedError(f"A number of a {node.kind} is too large for its float32.")
    if node.divisor is not None:
        divisor = node.divisor
        if (divisor < 2.0**-126).any() or (divisor > LARGEST32).any():
            raise UnsupportedError(
                "A divisor in float32 must be from 2**-126 to 3.4e38; found "
                f"{divisor.min():g} to {divisor.max():g}."
            )


def _converts(node: Node) -> bool:
    """Whether the deployed operation rounds its argument first, if that is not held so."""
    return node.precision != "exact" and node.kind not in ("input", "linear", "cast")


def _cast(node: Node) -> Node:
    return Node("cast", node.size, precision=node.precision)


def _held(node: Node, inputs: list[set[Precision]]) -> set[Precision]:
    """Formats that hold the node's deployed results: what else reads them must round them."""
    if node.kind == "input":
        return {"float64"}
    if node.precision != "exact":
        return {"float32", "float64"} if node.precision == "float32" else {"float64"}
    if node.kind in ("relu", "abs"):
        return inputs[0]
    if node.kind == "clip" and node.low is not None and node.high is not None:
        single = all((limit.astype(np.float32) == limit).all() for limit in (node.low, node.high))
        return inputs[0] if single else inputs[0] - {"float32"}
    if node.kind == "linear" and _selects(node):
        return set.intersection(*inputs)
    return set()


def _selects(node: Node) -> bool:
    """Whether a linear node only picks entries of its inputs."""
    plain = all(((matrix == 0.0) | (matrix == 1.0)).all() for matrix in node.weights)
    picked = sum((matrix != 0.0).sum(axis=1) for matrix in node.weights)
    return bool(plain and np.all(picked <= 1) and (node.bias is None or not node.bias.any()))


def _plain(node: Node, inputs: tuple[int, ...]) -> Step:
    if node.kind == "input":
        return Step("input", node, inputs, node.size)
    if node.kind == "linear":
        terms = max(node.size, sum(matrix.shape[1] for matrix in node.weights))
        absolute = tuple(np.abs(matrix) for matrix in node.weights)
        return Step("linear", node, inputs, node.size, absolute=absolute, gamma=gamma(terms + 8))
    if node.kind == "product":
        return Step("product", node, inputs, node.size)
    return Step("unary", node, inputs, node.size)


def _mark(steps: list[Step]) -> None:
    separate: list[bool] = []
    for step in steps:
        separate.append(_separate(step, separate))
        step.boxlike = separate[-1] or (
            step.role == "linear" and len(step.inputs) == 1 and separate[step.inputs[0]]
        )
    for step in steps:
        kinds = [(steps[each].role, steps[each].node.kind) for each in step.consumers]
        step.folded = step.role == "linear" and all(role == "unary" for role, _ in kinds)
        step.folded = step.folded and len(kinds) > 0
        bent = any(r == "product" or (r == "unary" and k not in _STRAIGHT) for r, k in kinds)
        step.tighten = bent and not step.boxlike
        step.under_root = step.role == "linear" and ("unary", "sqrt") in kinds


def _separate(step: Step, separate: list[bool]) -> bool:
    """Whether each entry depends on an input entry of its own, so that an interval is exact."""
    if step.role == "input":
        return True
    if step.role == "unary":
        return separate[step.inputs[0]]
    if step.role == "linear" and len(step.inputs) == 1 and separate[step.inputs[0]]:
        used = step.node.weights[0] != 0.0
        return bool((used.sum(axis=0) <= 1).all() and (used.sum(axis=1) <= 1).all())
    return False
