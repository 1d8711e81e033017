"""Settling one obligation: by exact rationals where that does, else by branch and bound."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.affine import row_of
from safegym.check.loop.budget import Budget
from safegym.check.loop.exactly import holds_at
from safegym.check.loop.graph import Entries
from safegym.check.loop.modes import opposite
from safegym.check.loop.plant import Plant
from safegym.check.loop.posing import atom_clauses, literals, problem_of
from safegym.check.loop.result import LoopResult, Obligation
from safegym.check.loop.sets import Case, cases_of, region_box
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.outcome import SearchOutcome, Shares
from safegym.check.neural.problem import Problem
from safegym.check.neural.property.clauses import AtomClause
from safegym.check.neural.search import search
from safegym.check.neural.terms import atom_node
from safegym.formula.formulas import Formula

Replay = Callable[[NDArray[np.float64]], bool]
"""Whether a point of a problem's region surely breaks it, judged without rounding."""


def within(
    name: str,
    statement: str,
    plant: Plant,
    inner: Formula,
    outer: Formula,
    budget: Budget,
) -> Obligation:
    """That one set of states lies in another, whatever formulas they are.

    Linear comparisons are settled in rationals, so that sets may share faces; the rest is searched,
    for which `inner` must be bounded by linear comparisons.
    """
    began = time.monotonic()
    problems: list[Problem] = []
    names = [signal.name for signal in plant.states]
    wanted = atom_clauses(outer)
    for case in cases_of(inner, plant, name):
        left = [clause for clause in wanted if not _contained(case, clause, names)]
        if not left:
            continue
        region_box(case.piece, name)
        region = case.piece.region()
        if region is not None:
            builder = GraphBuilder(len(names))
            source = builder.input()
            entries: Entries = {(each, 0): (source, at) for at, each in enumerate(names)}
            outside = [atom_node(opposite(atom), builder, entries) for atom in case.bent]
            listed = [[*literals(clause, builder, entries), *outside] for clause in left]
            problems.append(problem_of(builder, listed, region, "real"))
    if not problems:
        seconds = time.monotonic() - began
        return Obligation(name, statement, "PROVED", "exact rationals", "", seconds)

    def broken(point: NDArray[np.float64]) -> bool:
        inside = holds_at(inner, plant.states, point.tolist()) is True
        return inside and holds_at(outer, plant.states, point.tolist()) is False

    return searched(name, statement, problems, [broken] * len(problems), budget)


def searched(
    name: str,
    statement: str,
    problems: Sequence[Problem],
    replays: Sequence[Replay],
    budget: Budget,
) -> Obligation:
    """That all problems hold, one after the other, until one does not or time runs out."""
    began = time.monotonic()
    outcomes: list[SearchOutcome] = []
    result: LoopResult = "PROVED"
    reason = ""
    point: tuple[float, ...] = ()
    for problem, replay in zip(problems, replays, strict=True):
        if budget.left <= 0.0:
            result, reason = "UNKNOWN", f"the time limit of {budget.timeout:g} s was reached"
            break
        outcome = search(
            problem,
            timeout=budget.left,
            workers=budget.workers,
            keep_tree=budget.certificates is not None,
            listener=budget.listener,
            replay=replay,
        )
        outcomes.append(outcome)
        if outcome.result == "PROVED":
            continue
        result, reason = "UNKNOWN", outcome.reason
        if outcome.result == "COUNTEREXAMPLE" and outcome.point is not None:
            if replay(outcome.point):
                result, reason = "VIOLATED", "a replayed point breaks it"
                point = tuple(float(value) for value in outcome.point)
            else:
                reason = "a point breaks it in binary64, but not beyond rounding when replayed"
        break
    found = Obligation(
        name=name,
        statement=statement,
        result=result,
        method="branch and bound",
        reason=reason,
        seconds=time.monotonic() - began,
        boxes=sum(outcome.boxes for outcome in outcomes),
        shares=_shares(outcomes, len(problems)),
        point=point,
        problems=tuple(problems),
        outcomes=tuple(outcomes),
    )
    return _certified(found, budget)


def _certified(found: Obligation, budget: Budget) -> Obligation:
    """With certificates of its searches, where they were asked for and it was proved."""
    if budget.certificates is None or found.result != "PROVED":
        return found
    from safegym.check.neural.proof.certifying import certify_all

    written = certify_all(
        budget.certificates / found.name.replace(" ", "-"),
        found.problems,
        found.outcomes,
        text=found.statement,
        policy_digest=budget.policy_digest,
        limits=budget.limits(),
    )
    listed: tuple[Mapping[str, Any], ...] = tuple(each.to_json() for each in written)
    return replace(found, certificates=listed)


def _contained(case: Case, clause: AtomClause, names: Sequence[str]) -> bool:
    """Whether one of the clause's comparisons holds on the whole case, in exact rationals."""
    for atom in clause:
        if atom in case.bent:
            return True
        row = row_of(atom, names)
        if row is None:
            continue
        if not any(row.coefficients):
            if row.holds([Fraction(0)] * len(names)):
                return True
            continue
        most = case.piece.greatest(row.coefficients)
        if most is not None and (most < row.bound or (most == row.bound and not row.strict)):
            return True
    return False


def _shares(outcomes: Sequence[SearchOutcome], count: int) -> Shares:
    """Each problem counts alike; those never begun are unknown."""
    if count == 0:
        return Shares(1.0, 0.0, 0.0)  # an empty set: there is nothing to show
    proved = sum(outcome.shares.proved for outcome in outcomes) / count
    violated = sum(outcome.shares.violated for outcome in outcomes) / count
    return Shares(proved, violated, max(1.0 - proved - violated, 0.0))
