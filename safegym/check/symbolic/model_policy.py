"""Policies that z3 can carry: any at all, linear, a tree, a small network of straight pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.symbolic.affine import Interval, Line
from safegym.check.symbolic.encode import GraphEncoder, q
from safegym.check.symbolic.engine import Bool, Real, z3
from safegym.check.symbolic.model_tree import TreeEncoding
from safegym.digest import digest_text
from safegym.errors import UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.policy.tree import TreePolicy

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Acted:
    """One sample's actions as reals, what each can be, and the constraints that tie them."""

    actions: list[Real]
    ranges: list[Interval]
    constraints: list[Bool]


class Encoding(Protocol):
    """A policy for z3."""

    name: str
    digest: str

    def act(self, observations: Sequence[Real], ranges: Sequence[Interval], at: int) -> Acted:
        """What the policy may do at sample `at`; ranges: what each observation can be."""
        ...

    def predict(self, observations: Floats) -> Floats:
        """What the deployed policy does, (B, actions), before the plant's own limits."""
        ...


@dataclass(frozen=True, slots=True)
class LinearPolicy:
    """action = gain @ observation + offset in binary64, clipped as the plant's actions are.

    gain: (actions, observations); offset: (actions,), zero by default. Raises UnsupportedError for
    shapes that do not fit and numbers that are not finite.
    """

    gain: Floats
    offset: Floats
    name: str = "linear"

    def __init__(
        self, gain: ArrayLike, offset: ArrayLike | None = None, *, name: str = "linear"
    ) -> None:
        matrix = np.atleast_2d(np.array(gain, dtype=np.float64))
        shift = np.zeros(len(matrix)) if offset is None else np.array(offset, dtype=np.float64)
        if matrix.ndim != 2 or shift.shape != (len(matrix),):
            raise UnsupportedError(
                f"A linear policy needs gain (actions, observations) and offset (actions,), found "
                f"{matrix.shape} and {shift.shape}."
            )
        if not (np.isfinite(matrix).all() and np.isfinite(shift).all()):
            raise UnsupportedError("A linear policy's numbers must be finite.")
        for array in (matrix, shift):
            array.flags.writeable = False
        object.__setattr__(self, "gain", matrix)
        object.__setattr__(self, "offset", shift)
        object.__setattr__(self, "name", name)

    @property
    def digest(self) -> str:
        """Digest of its numbers."""
        return digest_text(f"linear {self.gain.tolist()} {self.offset.tolist()}")

    def predict(self, observations: Floats) -> Floats:
        """Actions (B, m) at observations (B, n)."""
        found: Floats = np.asarray(observations, dtype=np.float64) @ self.gain.T + self.offset
        return found

    @property
    def graph(self) -> Graph:
        """The same as a graph."""
        builder = GraphBuilder(self.gain.shape[1])
        seen = builder.apply("cast", builder.input(), precision="float64")
        return builder.graph(builder.linear([(seen, self.gain)], self.offset, precision="float64"))


class FreeEncoding:
    """Any action within its bounds at any time: what holds then holds for every policy."""

    name, digest = "every policy", ""

    def __init__(self, dynamics: Dynamics) -> None:
        self._actions = dynamics.actions
        for signal in dynamics.actions:
            if signal.bounds is None:
                raise UnsupportedError(
                    f"{dynamics.name} without a policy needs bounds on the action {signal.name}; "
                    f"declare Signal({signal.name!r}, bounds=(-1.0, 1.0))."
                )

    def act(self, observations: Sequence[Real], ranges: Sequence[Interval], at: int) -> Acted:
        """Free reals within the bounds."""
        found = Acted([], [], [])
        for place, signal in enumerate(self._actions):
            real = z3.Real(f"free{place}@{at}")
            low, high = (Fraction(end) for end in signal.bounds or ())
            found.actions.append(real)
            found.ranges.append((low, high))
            found.constraints.extend([real >= q(low), real <= q(high)])
        return found

    def predict(self, observations: Floats) -> Floats:
        """Never asked: the counterexample brings its own actions."""
        raise UnsupportedError("There is no policy to ask for an action.")


class GraphEncoding:
    """A policy whose graph has straight pieces only."""

    def __init__(self, policy: PolicyGraph | LinearPolicy, *, deployed: bool) -> None:
        self.name, self.digest, self.graph = policy.name, policy.digest, policy.graph
        self._chooses = isinstance(policy, PolicyGraph) and policy.kind == "discrete"
        self._predict, self._deployed = policy.predict, deployed

    def act(self, observations: Sequence[Real], ranges: Sequence[Interval], at: int) -> Acted:
        """The graph over this sample's observations. Raises UnsupportedError, as encoding does."""
        encoder = GraphEncoder(deployed=self._deployed, prefix=f"policy@{at}.")
        inputs = [encoder.add(*span, real) for real, span in zip(observations, ranges, strict=True)]
        outputs = encoder.encode(self.graph, inputs)
        if encoder.contradictory:
            raise UnsupportedError(f"The ranges of {self.name}'s observations are empty.")
        if self._chooses:
            return _chosen(encoder, outputs, at)
        found = Acted([], [], encoder.constraints)
        for place, line in enumerate(outputs):
            real, radius = z3.Real(f"acts{place}@{at}"), q(line.radius)
            exact = encoder.real(line)
            found.constraints.extend([real <= exact + radius, real >= exact - radius])
            found.actions.append(real)
            found.ranges.append(encoder.bounds(line))
        return found

    def predict(self, observations: Floats) -> Floats:
        """What the deployed policy does."""
        found = np.asarray(self._predict(observations), dtype=np.float64)
        return found.reshape(len(observations), -1)


def _chosen(encoder: GraphEncoder, outputs: Sequence[Line], at: int) -> Acted:
    """The first greatest output's number."""
    real = z3.Real(f"acts0@{at}")
    options: list[Bool] = []
    for number, line in enumerate(outputs):
        above = [
            encoder.at_most(other.minus(line), Fraction(0), strict=place < number)
            for place, other in enumerate(outputs)
            if place != number
        ]
        options.append(z3.And(real == number, *above))
    constraints = [*encoder.constraints, z3.Or(*options)]
    return Acted([real], [(Fraction(0), Fraction(len(outputs) - 1))], constraints)


class _Tree:
    """A decision tree."""

    def __init__(self, policy: TreePolicy, *, deployed: bool) -> None:
        self.name, self.digest = policy.card.name, policy.card.digest
        self._policy, self._encoding = policy, TreeEncoding(policy, deployed=deployed)

    def act(self, observations: Sequence[Real], ranges: Sequence[Interval], at: int) -> Acted:
        """The leaf's action."""
        values, constraints = self._encoding.values(observations, ranges, at)
        found = Acted([], [], constraints)
        for place, (value, span) in enumerate(values):
            real = z3.Real(f"acts{place}@{at}")
            found.constraints.append(real == value)
            found.actions.append(real)
            found.ranges.append(span)
        return found

    def predict(self, observations: Floats) -> Floats:
        """What the tree does."""
        starts = np.zeros(len(observations), dtype=np.bool_)
        found, _ = self._policy.act(observations, None, starts)
        return np.asarray(found, dtype=np.float64).reshape(len(observations), -1)


def encoding_of(policy: Any, dynamics: Dynamics, *, deployed: bool) -> Encoding:
    """The policy for z3: None (every policy), a LinearPolicy, a TreePolicy, or a small network.

    Raises UnsupportedError for any other, and where it does not fit the dynamics.
    """
    if policy is None:
        return FreeEncoding(dynamics)
    found: Encoding
    if isinstance(policy, TreePolicy):
        _check(policy.card.name, policy.inputs, _width(policy), dynamics)
        return _Tree(policy, deployed=deployed)
    if isinstance(policy, LinearPolicy):
        _check(policy.name, policy.gain.shape[1], len(policy.gain), dynamics)
        return GraphEncoding(policy, deployed=deployed)
    graph = policy if isinstance(policy, PolicyGraph) else _imported(policy)
    width = 1 if graph.kind == "discrete" else graph.graph.outputs
    _check(graph.name, graph.graph.inputs, width, dynamics)
    _check_kinds(graph)
    found = GraphEncoding(graph, deployed=deployed)
    return found


def _imported(policy: Any) -> PolicyGraph:
    from safegym.check.neural.importing import policy_graph

    return policy_graph(policy)


def _width(policy: TreePolicy) -> int:
    return 1 if policy.value is None else policy.value.shape[1]


def _check(name: str, inputs: int, outputs: int, dynamics: Dynamics) -> None:
    seen, taken = len(dynamics.observation), len(dynamics.actions)
    if inputs != seen or outputs != taken:
        raise UnsupportedError(
            f"Policy {name} takes {inputs} observations and gives {outputs} actions; "
            f"{dynamics.name} gives {seen} ({', '.join(map(str, dynamics.observation))}) and takes "
            f"{taken} ({', '.join(signal.name for signal in dynamics.actions)})."
        )


_CARRIED = (
    *("input", "linear", "relu", "leaky_relu", "clip", "divide", "cast"),
    *("abs", "square", "product", "max", "min"),
)


def _check_kinds(policy: PolicyGraph) -> None:
    for node in policy.graph.nodes:
        if node.kind not in _CARRIED:
            raise UnsupportedError(
                f"Policy {policy.name} has a {node.kind} node, which z3 cannot carry exactly; "
                "use ReLU, or prove it with safegym.check.loop."
            )
