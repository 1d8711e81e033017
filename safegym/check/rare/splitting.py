"""Adaptive multilevel splitting: kill what came least near, clone what came nearer.

Adaptive multilevel splitting: Cerou and Guyader 2007. All that share the killed level die, and a
killed level with none above it ends the run, which keeps it unbiased: Brehier et al. 2016.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np

CERTAIN = 0.0
"""Level from which on splitting stops: at hi = 0 the property is at its limit, below it broken."""


class Replica(Protocol):
    """One path: how near it came, whether it counts as a failure, and what it cost."""

    @property
    def level(self) -> float:
        """The highest level it reached."""
        ...

    @property
    def violated(self) -> bool:
        """Whether it fails; an undecided path counts as failing."""
        ...

    @property
    def undecided(self) -> bool:
        """Whether it fails only because it was cut off."""
        ...

    @property
    def steps(self) -> int:
        """Steps simulated for it alone."""
        ...


R = TypeVar("R", bound=Replica)


class Source(Protocol[R]):
    """Where paths come from: fresh ones, and continuations from the first instant above a level."""

    def fresh(self, seed: int, /) -> R:
        """An independent path."""
        ...

    def branch(self, path: R, level: float, seed: int, /) -> R:
        """`path` up to its first instant strictly above `level`, and from there with new chance."""
        ...

    def trim(self, path: R, level: float, /) -> R:
        """The same path, without what only levels up to this one needed: they do not come back."""
        ...


@dataclass(frozen=True, slots=True)
class SplittingRun:
    """One run of the algorithm.

    estimate: of the failure probability, unbiased whatever `particles`, `kill` and the place where
    it stopped. levels: those that were killed, rising. episodes: paths run, fresh or continued.
    failing: replicas that counted as failing, the last ones and those killed although they fail.
    undecided: of these, those that only were cut off. ancestors: how
    many of the first paths the last failing ones go back to. stopped: "reached" where no level
    was left to kill, "extinct" where no path was left above the killed one, "budget" where the
    work was used up.
    """

    estimate: float
    levels: tuple[float, ...]
    episodes: int
    steps: int
    failing: int
    undecided: int
    ancestors: int
    stopped: Literal["reached", "extinct", "budget"]


def split(
    source: Source[R],
    generator: np.random.Generator,
    *,
    particles: int,
    kill: int = 1,
    most: float = float("inf"),
) -> SplittingRun:
    """Estimate the probability that a path of `source` fails.

    particles: N, at least 2. kill: k of them die at the k-th lowest level, with all that share
    it. most: work after which no further round is begun, in steps over the mean length of the first
    paths; since that is decided by what was seen so far, it leaves the estimate unbiased, but
    mostly 0.

    The estimate is prod_q (1 - K_q/N) times the share of failing paths among the last N, with K_q
    the number killed in round q. Killed paths that count as failing although their level is low
    (undecided ones, or any where another formula guides) are added with the weight they had, which
    keeps it unbiased for them too.
    """
    paths = [source.fresh(_seed(generator)) for _ in range(particles)]
    roots = np.arange(particles)
    weight, aside, failed, undecided, levels = 1.0, 0.0, 0, 0, list[float]()
    episodes, steps = particles, sum(path.steps for path in paths)
    most_steps = most * steps / particles
    stopped: Literal["reached", "extinct", "budget"] = "reached"
    while True:
        found = np.array([path.level for path in paths])
        threshold = float(np.partition(found, kill - 1)[kill - 1])
        if threshold >= CERTAIN:
            break
        dead = np.flatnonzero(found <= threshold)
        alive = np.flatnonzero(found > threshold)
        if not len(alive):
            stopped = "extinct"
            break
        if steps >= most_steps:
            stopped = "budget"
            break
        lost = [paths[slot] for slot in dead if paths[slot].violated]
        aside += weight * len(lost) / particles
        failed, undecided = failed + len(lost), undecided + sum(path.undecided for path in lost)
        weight *= len(alive) / particles
        levels.append(threshold)
        parents = generator.choice(alive, len(dead))
        for slot, parent in zip(dead.tolist(), parents.tolist(), strict=True):
            paths[slot] = source.branch(paths[parent], threshold, _seed(generator))
            roots[slot] = roots[parent]
            steps += paths[slot].steps
        episodes += len(dead)
        paths = [source.trim(path, threshold) for path in paths]
    failing = [path for path in paths if path.violated]
    return SplittingRun(
        estimate=aside + weight * len(failing) / particles,
        levels=tuple(levels),
        episodes=episodes,
        steps=steps,
        failing=failed + len(failing),
        undecided=undecided + sum(path.undecided for path in failing),
        ancestors=len(set(roots[[n for n, path in enumerate(paths) if path.violated]].tolist())),
        stopped=stopped,
    )


def _seed(generator: np.random.Generator) -> int:
    return int(generator.integers(2**63 - 8))
