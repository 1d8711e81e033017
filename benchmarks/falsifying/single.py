"""One method by itself, and the whole search, on one problem."""

from falsifying.problems import Problem
from safegym.check.falsify import Falsification, falsify
from safegym.check.falsify.arena import Arena
from safegym.check.falsify.descent import why_not
from safegym.check.falsify.episodes import BATCH, Episodes
from safegym.check.falsify.objective import Objective
from safegym.check.falsify.search import METHODS
from safegym.check.falsify.space import SearchSpace
from safegym.check.falsify.uniform import uniform
from safegym.check.tail import tail_of

GUIDED = ("cma", "annealing", "gradient")


def first_find(problem: Problem, method: str, budget: int, seed: int) -> int | None:
    """The episode of the first counterexample of one method alone, None if there was none.

    Guided methods begin with one batch of random episodes, which counts.
    """
    space = SearchSpace.of(problem.spec, faults=problem.faults)
    episodes = Episodes(
        problem.spec, problem.policy, tail=tail_of(problem.spec, problem.claim), workers=1
    )
    try:
        arena = Arena(
            space,
            Objective(problem.claim),
            episodes,
            budget=budget,
            seed=seed,
            fixed_seed=None,
            stop_at_first=True,
        )
        if method in GUIDED:
            arena.open("random", BATCH)
            uniform(arena)
        if not arena.violations:
            arena.open(method, budget - arena.spent)
            METHODS[method](arena)
        return min(arena.first.values(), default=None)
    finally:
        episodes.close()


def has_gradient(problem: Problem) -> bool:
    """Whether the gradient method can run at all."""
    space = SearchSpace.of(problem.spec, faults=problem.faults)
    episodes = Episodes(problem.spec, problem.policy, tail=0)
    try:
        objective = Objective(problem.claim)
        arena = Arena(
            space, objective, episodes, budget=1, seed=0, fixed_seed=None, stop_at_first=True
        )
        return not why_not(arena)
    finally:
        episodes.close()


def whole(problem: Problem, budget: int, seed: int) -> Falsification:
    """The search as users get it."""
    return falsify(
        problem.spec,
        problem.policy,
        problem.claim,
        budget=budget,
        seed=seed,
        faults=problem.faults,
    )
