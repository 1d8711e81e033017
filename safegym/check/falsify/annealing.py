"""Dual annealing, from the best point so far.

Source: scipy.optimize.dual_annealing, without its local search, which needs smooth objectives.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import dual_annealing

from safegym.check.falsify.arena import Arena, Over


def annealing(arena: Arena) -> None:
    """One episode after the other, with the seed of the best episode so far."""
    generator = arena.generator("annealing")
    best = arena.starts[0] if arena.starts else None
    seed = None if best is None else best.seed
    begun = None if best is None else arena.space.point(best.values)

    def objective(point: NDArray[np.float64]) -> float:
        return arena.try_points([np.clip(point, 0.0, 1.0)], seed)[0].guide

    try:
        while True:
            dual_annealing(
                objective,
                bounds=[(0.0, 1.0)] * arena.space.dimension,
                x0=begun,
                maxfun=10**9,
                no_local_search=True,
                seed=generator,
            )
    except Over:
        return
