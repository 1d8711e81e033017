"""One step of a closed loop as a graph: the plant exact, the policy in its own precisions.

Input of every graph: states, then disturbances, then actions where there is no policy.
"""

from dataclasses import dataclass, field

import numpy as np

from safegym.check.loop.modes import Mode, decided, modes, opposite
from safegym.check.loop.plant import Plant, limits
from safegym.check.neural.graph import Graph, GraphBuilder
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.terms import Entry, atom_node, term_node
from safegym.errors import UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.formula.expression import short
from safegym.formula.terms import Term

Entries = dict[tuple[str, int], Entry]


@dataclass(slots=True)
class Step:
    """A step under construction, for one mode.

    entries: where states, actions and disturbances stand. next: entries of the states after the
    step. escapes: (node of one entry, strict): positive where the mode does not hold, so that a
    clause about the step takes them in as further literals.
    """

    builder: GraphBuilder
    mode: Mode
    entries: Entries
    action: int | None = None
    next: Entries = field(default_factory=dict[tuple[str, int], Entry])
    escapes: list[tuple[int, bool]] = field(default_factory=list[tuple[int, bool]])

    def next_nodes(self) -> list[int]:
        """A node of one entry for each state after the step, in order."""
        return [node for node, _ in self.next.values()]


def begin(plant: Plant, policy: PolicyGraph | None, mode: Mode, extra: int = 0) -> Step:
    """A graph with the action worked out and the mode's escapes, but no next state as yet.

    extra: further inputs after the others, for the caller.
    """
    n, k, m = len(plant.states), len(plant.disturbances), len(plant.actions)
    builder = GraphBuilder(n + k + (m if policy is None else 0) + extra)
    source = builder.input()
    entries: Entries = {}
    for at, signal in enumerate((*plant.states, *plant.disturbances)):
        entries[signal.name, 0] = (source, at)
    step = Step(builder, mode, entries)
    sides = dict(mode.sides)
    if policy is None:
        for at, signal in enumerate(plant.actions):
            entries[signal.name, 0] = (source, n + k + at)
    elif len(plant.actions) > 0:
        _act(plant, policy, step, [decided(each, sides) for each in plant.observation])
    for guard in mode.guards:
        step.escapes.append(atom_node(opposite(guard), builder, entries))
    return step


def advanced(plant: Plant, policy: PolicyGraph | None, mode: Mode) -> Step:
    """The step of a discrete plant, next states worked out."""
    if not isinstance(plant, Dynamics):
        raise UnsupportedError(
            f"{plant.name} is a Flow: its next state is an enclosure, not a graph of its own; "
            "declare a Dynamics, or use reach()."
        )
    step = begin(plant, policy, mode)
    sides = dict(mode.sides)
    for signal, each in zip(plant.states, plant.next, strict=True):
        step.next[signal.name, 0] = (node_of(decided(each, sides), step), 0)
    return step


def node_of(term: Term, step: Step) -> int:
    """A node of one entry with the term's value over the step's signals."""
    try:
        return term_node(term, step.builder, step.entries)
    except UnsupportedError as error:
        raise UnsupportedError(f"In the model's `{short(term)}`: {error}") from error


def step_graph(dynamics: Dynamics, policy_graph: PolicyGraph | None) -> Graph:
    """(states, disturbances[, actions]) -> next states, where there is but one case.

    The policy sees the observation terms rounded to binary64; its graph casts them further as the
    deployed program does. Raises UnsupportedError for dynamics with `if` or a discrete policy,
    whose cases `step_modes` gives one by one.
    """
    mode, *more = modes(dynamics, policy_graph)
    if more:
        raise UnsupportedError(
            f"One step of {dynamics.name} has {1 + len(more)} cases; use step_modes."
        )
    step = advanced(dynamics, policy_graph, mode)
    return step.builder.graph(step.builder.stack(step.next_nodes()))


def step_modes(
    dynamics: Dynamics, policy_graph: PolicyGraph | None
) -> tuple[tuple[Mode, Graph], ...]:
    """Each case with its graph: next states, then one entry an escape.

    An escape is positive (or 0, where it is not strict) exactly where the case does not hold.
    """
    listed: list[tuple[Mode, Graph]] = []
    for mode in modes(dynamics, policy_graph):
        step = advanced(dynamics, policy_graph, mode)
        nodes = [*step.next_nodes(), *(node for node, _ in step.escapes)]
        listed.append((mode, step.builder.graph(step.builder.stack(nodes))))
    return tuple(listed)


def _act(plant: Plant, policy: PolicyGraph, step: Step, observation: list[Term]) -> None:
    builder = step.builder
    seen = builder.stack([node_of(each, step) for each in observation])
    rounded = builder.apply("cast", seen, precision="float64")
    out = builder.append(policy.graph, rounded)
    choice = step.mode.choice
    if choice is None:
        low, high = limits(plant.actions)
        bounded = np.isfinite(low).any() or np.isfinite(high).any()
        step.action = builder.clip(out, low, high) if bounded else out
    else:
        # The first greatest value is chosen: another one escapes where it is greater, or equal
        # and earlier.
        for other in range(policy.graph.outputs):
            if other != choice:
                row = np.zeros((1, policy.graph.outputs))
                row[0, other], row[0, choice] = 1.0, -1.0
                step.escapes.append((builder.linear([(out, row)]), other > choice))
        least, most = plant.actions[0].bounds or (-np.inf, np.inf)
        number = min(max(float(choice), least), most)
        step.action = builder.linear([(out, np.zeros((1, policy.graph.outputs)))], [number])
    for at, signal in enumerate(plant.actions):
        step.entries[signal.name, 0] = (step.action, at)
