"""Rivals in Pythons of their own, searching the same episodes: psy-taliro and VerifAI."""

import json
import subprocess
from pathlib import Path

from falsifying.problems import Problem
from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.episodes import Episodes
from safegym.check.falsify.objective import Objective
from safegym.check.falsify.space import SearchSpace
from safegym.check.tail import tail_of

CHILD = Path(__file__).with_name("child.py")
KINDS = {
    "psy-taliro": ("psy-taliro annealing", "psy-taliro random"),
    "verifai": ("verifai cross-entropy", "verifai halton"),
}


def first_find(problem: Problem, rival: str, python: str, budget: int, seed: int) -> int | None:
    """The episode of a rival's first counterexample, None within the budget.

    It gets the margin of real episodes, cut at -100 and 100, and chooses points of the same cube.
    """
    space = SearchSpace.of(problem.spec, faults=problem.faults)
    episodes = Episodes(problem.spec, problem.policy, tail=tail_of(problem.spec, problem.claim))
    arena = Arena(
        space,
        Objective(problem.claim),
        episodes,
        budget=budget,
        seed=seed,
        fixed_seed=None,
        stop_at_first=True,
    )
    arena.open(rival, budget)
    asked = {"rival": rival, "dimension": space.dimension, "budget": budget, "seed": seed}
    child = subprocess.Popen(
        [python, "-W", "ignore", str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(asked) + "\n")
        child.stdin.flush()
        for line in child.stdout:
            margin = arena.try_points([json.loads(line)])[0].score.margin
            child.stdin.write(f"{max(-100.0, min(100.0, 100.0 if margin is None else margin))}\n")
            child.stdin.flush()
    except (Over, BrokenPipeError):
        pass
    finally:
        child.stdin.close()
        child.kill()
        said = child.stderr.read() if child.stderr is not None else ""
        child.wait()
        episodes.close()
    if not arena.spent:
        raise RuntimeError(f"{rival} proposed nothing: {said[-300:]}")
    return arena.first.get(rival)
