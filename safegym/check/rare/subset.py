"""Subset simulation over a scenario's declared inputs, for chance that is drawn at reset alone.

Levels and component-wise Metropolis moves as in subset simulation, Au and Beck 2001. There, levels
and estimate come from the same chains, which for few samples overestimates; here a pilot lays the
levels and the size of the moves down, and a second population climbs them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.rare.episodes import Seen

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, Sequence[int]], Sequence[Seen]]
KEPT = 0.2
"""Share of the pilot's samples that goes on to the next level."""
RENEWED = 0.5
"""How often a move also draws the episode's seed anew."""
REACH = (1e-3, 0.5)
"""Least and largest half-width of a coordinate's move, else twice the survivors' spread."""
LARGEST_SEED = 2**63 - 8


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """A level, and the half-width of the moves of those above it, shape (d,)."""

    level: float
    reach: Floats


@dataclass(frozen=True, slots=True)
class SubsetRun:
    """One run. levels: the pilot's, rising. episodes: of pilot and climb. accepted: share of moves
    that were. failing: samples that counted as failing, the last ones and those below a level.
    undecided: of these, those that only were cut off.

    stopped: "reached" where the pilot came to the failures, "budget" where it was cut off before,
    "extinct" where it found no sample above the others, or the climb lost its last.
    """

    estimate: float
    levels: tuple[float, ...]
    episodes: int
    failing: int
    undecided: int
    accepted: float
    stopped: Literal["reached", "extinct", "budget"]


def subset(
    evaluate: Evaluate,
    dimension: int,
    generator: np.random.Generator,
    *,
    samples: int,
    most_levels: int,
) -> SubsetRun:
    """Estimate the probability of failing when points are uniform in the cube and seeds are free.

    samples: N per level, at least 10; the pilot has half as many. A sample is a point with a
    seed, which stands for the rest of the chance. At each level the samples at it or below are
    replaced by copies of others, and all make one move: each coordinate to a uniform neighbour,
    or nowhere if that lies outside; the seed is drawn anew half of the time; a move to the level
    or below is refused.

    The estimate is the product of the shares above each level times the share of failing ones at
    the end. It is unbiased however badly the moves mix: they leave the law above a level as it
    is, and levels and moves were fixed before. Bad mixing shows as scatter.
    """
    rungs, spent, stopped = _pilot(evaluate, dimension, generator, samples // 2, most_levels)
    found = _Population.drawn(evaluate, dimension, samples, generator)
    spent += samples
    weight, aside, taken, lost = 1.0, 0.0, 0, list[Seen]()
    for rung in rungs:
        above = found.levels > rung.level
        fallen = found.where(~above).failing
        aside += weight * len(fallen) / samples
        lost += fallen
        weight *= int(above.sum()) / samples
        if not above.any():
            found, stopped = found.where(above), "extinct"
            break
        copies = generator.choice(np.flatnonzero(above), samples)
        found, kept = _moved(evaluate, found.where(copies), rung, generator)
        spent, taken = spent + samples, taken + kept
    failing = found.failing
    return SubsetRun(
        estimate=aside + weight * len(failing) / samples,
        levels=tuple(rung.level for rung in rungs),
        episodes=spent,
        failing=len(lost) + len(failing),
        undecided=sum(one.undecided for one in (*lost, *failing)),
        accepted=taken / (samples * len(rungs)) if rungs else 1.0,
        stopped=stopped,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Population:
    points: Floats
    seeds: NDArray[np.int64]
    seen: tuple[Seen, ...]

    @classmethod
    def drawn(
        cls, evaluate: Evaluate, dimension: int, samples: int, generator: np.random.Generator
    ) -> "_Population":
        points = generator.random((samples, dimension))
        seeds = generator.integers(LARGEST_SEED, size=samples)
        return cls(points, seeds, tuple(evaluate(points, seeds.tolist())))

    @property
    def levels(self) -> Floats:
        return np.array([one.level for one in self.seen])

    @property
    def failing(self) -> list[Seen]:
        return [one for one in self.seen if one.violated]

    def where(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "_Population":
        places = np.arange(len(self.seen))[chosen]
        seen = tuple(self.seen[place] for place in places)
        return _Population(self.points[places], self.seeds[places], seen)


def _pilot(
    evaluate: Evaluate,
    dimension: int,
    generator: np.random.Generator,
    samples: int,
    most_levels: int,
) -> tuple[list[Rung], int, Literal["reached", "extinct", "budget"]]:
    """Levels that a fifth of the samples pass each, up to the first at or above 0."""
    found = _Population.drawn(evaluate, dimension, samples, generator)
    at, spent = samples - max(1, round(KEPT * samples)) - 1, samples
    rungs: list[Rung] = []
    while True:
        levels = found.levels
        level = float(np.partition(levels, at)[at])
        above = levels > level
        if level >= 0.0:
            return rungs, spent, "reached"
        if not above.any():
            return rungs, spent, "extinct"
        if len(rungs) >= most_levels:
            return rungs, spent, "budget"
        chains = found.where(above)
        rung = Rung(level, np.clip(2.0 * chains.points.std(axis=0), *REACH))
        rungs.append(rung)
        states, count = [chains], len(chains.seen)
        while count * len(states) < samples:
            chains, _ = _moved(evaluate, chains, rung, generator)
            states.append(chains)
            spent += count
        found = _joined(states).where(np.arange(samples))


def _moved(
    evaluate: Evaluate, found: _Population, rung: Rung, generator: np.random.Generator
) -> tuple[_Population, int]:
    """Every sample after one move above the rung, and how many moved."""
    count = len(found.seen)
    points = found.points + generator.uniform(-rung.reach, rung.reach, found.points.shape)
    points = np.where((points >= 0.0) & (points <= 1.0), points, found.points)
    fresh = generator.integers(LARGEST_SEED, size=count)
    seeds = np.where(generator.random(count) < RENEWED, fresh, found.seeds)
    seen = evaluate(points, seeds.tolist())
    kept = np.array([one.level for one in seen]) > rung.level
    moved = _Population(
        np.where(kept[:, None], points, found.points),
        np.where(kept, seeds, found.seeds),
        tuple(new if ok else old for new, old, ok in zip(seen, found.seen, kept, strict=True)),
    )
    return moved, int(kept.sum())


def _joined(states: Sequence[_Population]) -> _Population:
    return _Population(
        np.concatenate([one.points for one in states]),
        np.concatenate([one.seeds for one in states]),
        tuple(seen for one in states for seen in one.seen),
    )
