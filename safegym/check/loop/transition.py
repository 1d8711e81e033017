"""Obligations about one step of a loop: what follows from a set, whatever the disturbance."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.budget import Budget
from safegym.check.loop.compact import compacted
from safegym.check.loop.exactly import holds_at
from safegym.check.loop.graph import Step, advanced
from safegym.check.loop.modes import modes, opposite
from safegym.check.loop.plant import Plant, actions_of, limits
from safegym.check.loop.posing import Literal, atom_clauses, literals, problem_of
from safegym.check.loop.result import Obligation
from safegym.check.loop.sets import cases_of, region_box
from safegym.check.loop.settling import Replay, searched
from safegym.check.loop.simulate import advance, loop_trace, observe
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Problem, Semantics
from safegym.check.neural.terms import atom_node
from safegym.errors import UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.formula.formulas import Formula
from safegym.trace.model import Trace

Rule = Callable[[Step], list[list[Literal]]]
"""Clauses over the states before and after a step."""


def lands_in(after: Formula) -> Rule:
    """The rule that the next state is in a set."""
    wanted = atom_clauses(after)
    return lambda step: [literals(clause, step.builder, step.next) for clause in wanted]


def transition(
    name: str,
    statement: str,
    plant: Dynamics,
    policy: PolicyGraph,
    before: Formula,
    rule: Rule,
    semantics: Semantics,
    budget: Budget,
) -> tuple[Obligation, Trace | None]:
    """That the rule holds from every state of `before`; the two samples that break it, if any."""
    problems: list[Problem] = []
    for case in cases_of(before, plant, name):
        region_box(case.piece, f"the set of obligation {name!r}")
        region = case.piece.region(disturbance_limits(plant))
        if region is None:
            continue
        for mode in modes(plant, policy):
            step = advanced(plant, policy, mode)
            listed = rule(step)
            outside = [atom_node(opposite(atom), step.builder, step.entries) for atom in case.bent]
            outside += step.escapes
            clauses = [[*clause, *outside] for clause in listed]
            problems.append(problem_of(step.builder, clauses, region, semantics))
    replay = _replay(plant, policy, before, rule)
    found = searched(name, statement, problems, [replay] * len(problems), budget)
    trace = _trace(plant, policy, found.point) if found.result == "VIOLATED" else None
    return found, trace


def disturbance_limits(plant: Plant) -> list[tuple[Fraction, Fraction]]:
    """(low, high) of each disturbance, exactly."""
    return [
        (Fraction(signal.bounds[0]), Fraction(signal.bounds[1]))
        for signal in plant.disturbances
        if signal.bounds
    ]


def refuse_flow(plant: Plant, what: str) -> Dynamics:
    """The plant, if it is in discrete time. Raises UnsupportedError."""
    if not isinstance(plant, Dynamics):
        raise UnsupportedError(
            f"{what} is proved for plants in discrete time, and {plant.name} is a Flow; declare a "
            "Dynamics, or prove an inductive set of the Flow (prove_inductive)."
        )
    return plant


def _replay(plant: Dynamics, policy: PolicyGraph, before: Formula, rule: Rule) -> Replay:
    """Whether a point (state, disturbances) is in `before` and its step surely breaks the rule.

    The action is what the deployed policy does there; the plant then moves in exact arithmetic.
    """
    n = len(plant.states)
    low, high = limits(plant.disturbances)

    def broken(point: NDArray[np.float64]) -> bool:
        state, pushed = point[:n], point[n:]
        if not ((low <= pushed) & (pushed <= high)).all():
            return False
        if holds_at(before, plant.states, list(state)) is not True:
            return False
        action = actions_of(policy, plant, observe(plant, state[None]))[0]
        return _fails(plant, rule, [*state, *pushed, *action])

    return broken


def _fails(plant: Dynamics, rule: Rule, point: list[float]) -> bool:
    """Whether some clause surely fails in the case that surely holds at (state, dist, action)."""
    for mode in modes(plant, None):
        step = advanced(plant, None, mode)
        listed = rule(step)
        nodes = [node for node, _ in step.escapes]
        nodes += [node for clause in listed for node, _ in clause]
        if not nodes:
            return any(not clause for clause in listed)
        graph = compacted(step.builder.graph(step.builder.stack(nodes)))
        margins = iter(evaluate_exact(graph, point))
        outside = [_is_below(next(margins), strict) for _, strict in step.escapes]
        failing = [all([_is_below(next(margins), s) for _, s in clause]) for clause in listed]
        if all(outside):
            return any(failing)
    return False


def _is_below(margin: tuple[Fraction, Fraction], strict: bool) -> bool:
    """Whether a literal surely fails."""
    return margin[1] < 0 or (margin[1] == 0 and strict)


def _trace(plant: Plant, policy: PolicyGraph, point: tuple[float, ...]) -> Trace:
    """The two samples from a state, with the disturbances that follow it in `point`."""
    n = len(plant.states)
    state, pushed = np.array(point[:n])[None], np.array(point[n:])[None]
    action = actions_of(policy, plant, observe(plant, state))
    after = advance(plant, state, action, pushed)
    return loop_trace(plant, policy, np.concatenate([state, after]), action, pushed)
