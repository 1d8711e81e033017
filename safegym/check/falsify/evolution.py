"""CMA-ES, from the best points so far.

Source: the library `cma` (Hansen et al.), its ask-and-tell interface.
"""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.space import Point

SPREAD = 0.25
"""First standard deviation, in the unit cube."""
LARGEST_POPULATION = 64


def evolution(arena: Arena) -> None:
    """CMA-ES with bounds, begun at the best episode so far and with its seed.

    When it has converged it begins again at the next best one, with a larger population.
    """
    generator = arena.generator("cma")
    restart = 0
    try:
        while True:
            start, seed = _start(arena, restart, generator)
            _one(arena, start, seed, generator, restart)
            restart += 1
    except Over:
        return


def _start(arena: Arena, restart: int, generator: np.random.Generator) -> tuple[Point, int | None]:
    if restart >= len(arena.starts):
        seed = arena.starts[0].seed if arena.starts else None
        return generator.random(arena.space.dimension), seed
    best = arena.starts[restart]
    return arena.space.point(best.values), best.seed


def _one(
    arena: Arena, start: Point, seed: int | None, generator: np.random.Generator, restart: int
) -> None:
    dimension = len(start)
    idle = np.full(max(0, 2 - dimension), 0.5)  # the library goes wrong with one coordinate
    strategy = _strategy(np.concatenate((start, idle)), generator, restart)
    while True:
        with _undisturbed():
            points = [np.clip(point, 0.0, 1.0) for point in strategy.ask()]
        trials = arena.try_points([point[:dimension] for point in points], seed)
        with _undisturbed():
            strategy.tell(points, [trial.guide for trial in trials])
            if strategy.stop():
                return


def _strategy(start: Point, generator: np.random.Generator, restart: int) -> Any:
    with warnings.catch_warnings(), _undisturbed():
        warnings.simplefilter("ignore")  # cma warns that it cannot plot
        import cma

        usual = 4 + int(3 * np.log(len(start)))
        options = {
            "bounds": [0.0, 1.0],
            "popsize": min(LARGEST_POPULATION, usual * 2**restart),
            "seed": float("nan"),
            "randn": partial(_normal, generator),
            "verbose": -9,
            "verb_log": 0,
        }
        return cma.CMAEvolutionStrategy(start, SPREAD, options)


def _normal(generator: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return generator.standard_normal(shape)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Leave numpy's global generator as it was, whatever the library draws from it."""
    before = np.random.get_state()  # the library uses the global generator
    np.random.seed(0)
    try:
        yield
    finally:
        np.random.set_state(before)
