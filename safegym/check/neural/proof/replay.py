"""Candidates of the search, run again in three ways on observations that exist."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.evaluate import evaluate, evaluate_deployed
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.policy import PolicyGraph
from safegym.check.neural.problem import Problem
from safegym.check.neural.proof.rounding import nearest, neighbours, rounded, sampled
from safegym.check.neural.proof.witness import Replay, Witness
from safegym.check.neural.property.question import Question, Vectors
from safegym.errors import PolicyError

Rows = NDArray[np.float64]
MOST_ROUNDED, MOST_AROUND = 8, 32
"""Binary32 points tried: those next to a candidate, and the worst of those around it."""
MOST_EXACT = 3
"""Points of equal weight that are also run in exact arithmetic."""
MOST_WEIGHT = 3
"""`_weight` of a point on which the deployed policy and its graph both fail."""


def witness_of(
    question: Question, policy: PolicyGraph, problem: Problem, point: NDArray[np.float64]
) -> Witness:
    """The candidate as a witness: of the binary32 points near it, the one that fails most replays.

    Only where the region's box holds no binary32 point, one outside stands in, and says so.
    """
    listed: list[_Inferred] = []
    for each in _candidates(problem, point):
        listed.append(_inferred(question, policy, each))
        if _weight(listed[-1]) == MOST_WEIGHT:
            break
    if not listed:
        outside = _inferred(question, policy, nearest(point))
        return _with_exact(policy, problem, question, outside, inside=False)
    listed.sort(key=_weight, reverse=True)  # stable: the nearest of equals stays first
    tried = [
        _with_exact(policy, problem, question, each, inside=True)
        for each in listed[:MOST_EXACT]
        if _weight(each) == _weight(listed[0])
    ]
    return max(tried, key=lambda found: sum(each.violates is True for each in found.replays))


def deployed_fails(
    question: Question, policy: PolicyGraph, problem: Problem, point: NDArray[np.float64]
) -> bool:
    """Whether the deployed policy fails on the binary32 point nearest to the candidate."""
    return any(
        _inferred(question, policy, each).predict.violates is True
        for each in islice(rounded(point, problem.region), 1)
    )


def spot_failures(
    question: Question, policy: PolicyGraph, problem: Problem, count: int
) -> list[NDArray[np.float64]]:
    """Points of the region, of `count` drawn at random, on which the deployed policy fails."""
    points = sampled(problem.region, count)
    if not points:
        return []
    rows = [question.rows([Fraction(float(x)) for x in point]) for point in points]
    actions = predicted(policy, np.concatenate([_floats(each) for each in rows]))
    found: list[NDArray[np.float64]] = []
    for at, (point, row) in enumerate(zip(points, rows, strict=True)):
        if _violates(question, row, actions[at * len(row) : (at + 1) * len(row)]):
            found.append(point)
    return found


@dataclass(frozen=True, slots=True)
class _Inferred:
    """A point with the two replays that cost little."""

    point: NDArray[np.float64]
    graph: Replay
    predict: Replay


def _candidates(problem: Problem, point: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Rounded neighbours of the point, then points around it that look worst in binary64."""
    yield from islice(rounded(point, problem.region), MOST_ROUNDED)
    around = list(neighbours(point, problem.region))
    if not around:
        return
    outputs = evaluate(problem.graph, np.array(around))
    worst = np.full(len(around), np.inf)
    for clause in problem.clauses:
        literals = [outputs[:, literal.output] for literal in clause]
        worst = np.minimum(worst, np.max(literals, axis=0))
    for at in np.argsort(worst, kind="stable")[:MOST_AROUND]:
        yield around[int(at)]


def _weight(found: _Inferred) -> int:
    """The deployed policy's own answer counts first."""
    return 2 * (found.predict.violates is True) + (found.graph.violates is True)


def _inferred(question: Question, policy: PolicyGraph, point: NDArray[np.float64]) -> _Inferred:
    rows = question.rows([Fraction(float(x)) for x in point])
    observations = _floats(rows)
    runs = (
        chosen(policy, evaluate_deployed(policy.graph, observations)),
        predicted(policy, observations),
    )
    violated = [_violates(question, rows, actions) for actions in runs]
    return _Inferred(
        point,
        Replay("float32 graph", _plain(runs[0]), violated[0]),
        Replay("predict", _plain(runs[1]), violated[1]),
    )


def _with_exact(
    policy: PolicyGraph,
    problem: Problem,
    question: Question,
    found: _Inferred,
    *,
    inside: bool,
) -> Witness:
    exact = [Fraction(float(x)) for x in found.point]
    rows = question.rows(exact)
    replays = found.graph, _exactly(policy, problem, exact, rows), found.predict
    return Witness(_plain(_floats(rows)), inside, replays)


def _violates(question: Question, rows: Vectors, actions: Rows) -> bool | None:
    """Whether the property fails; None where an action is no number, or it is not decided."""
    if not np.isfinite(actions).all():
        return None
    held = question.holds(rows, [[Fraction(float(x)) for x in row] for row in actions])
    return None if held is None else not held


def chosen(policy: PolicyGraph, outputs: Rows) -> Rows:
    """Actions (B, m) that a graph's outputs stand for: themselves, or the first greatest."""
    if policy.kind == "box":
        return outputs
    return np.asarray(np.argmax(outputs, axis=1)[:, None], dtype=np.float64)


def predicted(policy: PolicyGraph, observations: Rows) -> Rows:
    """Actions (B, m) of the deployed policy itself on binary32 observations."""
    given = np.asarray(policy.predict(observations.astype(np.float32)))
    actions = np.asarray(given, dtype=np.float64).reshape(len(observations), -1)
    if not np.isfinite(actions).all():
        at = int(np.flatnonzero(~np.isfinite(actions).all(axis=1))[0])
        raise PolicyError(
            f"Policy {policy.name} gives the action {actions[at].tolist()} on the observation "
            f"{observations[at].tolist()}, which is no action; nothing can be proved of it."
        )
    return actions


def _exactly(policy: PolicyGraph, problem: Problem, point: list[Fraction], rows: Vectors) -> Replay:
    """By exact arithmetic of the whole graph; a clause fails where each literal surely does."""
    outputs = evaluate_exact(problem.graph, point)
    fails, unsure = False, False
    for clause in problem.clauses:
        states = [_literal(outputs[each.output], strict=each.strict) for each in clause]
        fails = fails or all(state is False for state in states)
        unsure = unsure or not any(state is True for state in states)
    violates = True if fails else (None if unsure else False)
    actions = [_actions(policy, row) for row in rows]
    return Replay("exact", tuple(actions), violates)


def _literal(value: tuple[Fraction, Fraction], *, strict: bool) -> bool | None:
    low, high = value
    if low > 0 or (low >= 0 and not strict):
        return True
    return False if high < 0 or (high <= 0 and strict) else None


def _actions(policy: PolicyGraph, row: Sequence[Fraction]) -> tuple[float, ...]:
    middles = [float((low + high) / 2) for low, high in evaluate_exact(policy.graph, row)]
    return tuple(float(x) for x in chosen(policy, np.array([middles]))[0])


def _floats(rows: Vectors) -> Rows:
    return np.array([[float(x) for x in row] for row in rows])


def _plain(rows: Rows) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in row) for row in rows)
