"""Uniform random search: the other baseline that is always run."""

from safegym.check.falsify.arena import Arena, Over
from safegym.check.falsify.episodes import BATCH


def uniform(arena: Arena) -> None:
    """Try points drawn uniformly, until the allowance is used up."""
    generator = arena.generator("random")
    try:
        while True:
            arena.try_points(list(generator.random((BATCH, arena.space.dimension))))
    except Over:
        return
