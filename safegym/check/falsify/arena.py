"""Where methods try points: counts episodes, keeps the best, ends a method or the search."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.check.falsify.episodes import Episodes
from safegym.check.falsify.objective import Objective
from safegym.check.falsify.space import Point, SearchSpace, Values
from safegym.check.falsify.trial import Trial
from safegym.errors import ScenarioError
from safegym.scenario.inputs import refuse_unheeded
from safegym.scenario.lost import is_lost
from safegym.scenario.seeds import seed_entropy
from safegym.trace.model import Trace

KEPT = 200
"""Counterexamples kept with their traces; the first ones."""
STARTS = 8
"""Best episodes kept for methods that start from somewhere."""
_MARK = 0x46414C53
Listener = Callable[["Progress"], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come. best: least margin so far, None where there is none."""

    method: str
    episodes: int
    budget: int
    finds: int
    best: float | None


class Over(Exception):  # not an error: a method's share is used up, or all is found
    """Ends a method."""


def silent(progress: Progress) -> None:
    """Listen to nothing."""


class Arena:
    """Tries points of a space, one method at a time, within an allowance of episodes.

    seed: root of all draws. fixed_seed: what every episode is reset with, None to give each its
    own. stop_at_first: end all methods with the batch in which the first counterexample came.
    """

    def __init__(
        self,
        space: SearchSpace,
        objective: Objective,
        episodes: Episodes,
        *,
        budget: int,
        seed: int,
        fixed_seed: int | None,
        stop_at_first: bool,
        listener: Listener = silent,
    ) -> None:
        self.space, self.objective, self.episodes = space, objective, episodes
        self.budget, self.fixed_seed, self.root = budget, fixed_seed, seed
        self.stop_at_first = stop_at_first
        self.spent = 0
        self.allowance = 0
        self.undecided = 0
        self.method = ""
        self.counts: dict[str, int] = {}
        self.best: dict[str, float | None] = {}
        self.first: dict[str, int] = {}
        self.starts: list[Trial] = []
        self.violations: list[Trial] = []
        self.has_margins = True
        self.margins: set[float] = set()
        """Two different margins at most, to see whether anything that is chosen matters."""
        self._begun: dict[str, int] = {}
        self._listener = listener
        self._entropy = seed_entropy(seed, "", episodes.spec.digest, "falsify")

    def open(self, method: str, allowance: int) -> None:
        """Let a method run at most this many episodes, and never more than the budget leaves."""
        self.method = method
        self.allowance = max(0, min(allowance, self.budget - self.spent))
        self.counts.setdefault(method, 0)
        self.best.setdefault(method, None)

    @property
    def left(self) -> int:
        """Episodes that the method still has."""
        return self.allowance

    def generator(self, name: str) -> np.random.Generator:
        """A generator for a method's own draws: the same for the same search seed.

        Another one each time that a method begins, so that it does not repeat itself.
        """
        begun = self._begun[name] = self._begun.get(name, 0) + 1
        key = (begun, *name.encode("ascii"))
        sequence = np.random.SeedSequence(entropy=self.root, spawn_key=(_MARK, *key))
        return np.random.Generator(np.random.PCG64(sequence))

    def try_points(self, points: Sequence[Point], seed: int | None = None) -> list[Trial]:
        """Run the points, in order; each with a seed of its own unless one is given.

        Raises Over after the allowance is used up, or a counterexample ended the search.
        """
        values = [self.space.values(point) for point in points[: self.allowance]]
        trials = self.run(values, [seed] * len(values))
        if len(trials) < len(points) or not self.allowance or self._done:
            raise Over
        return trials

    def run(self, values: Sequence[Values], seeds: Sequence[int | None]) -> list[Trial]:
        """Run episodes that the allowance covers."""
        if not values:
            return []
        starts: list[tuple[int, Any]] = []
        for offset, (chosen, seed) in enumerate(zip(values, seeds, strict=True)):
            asked = self._seed(self.spent + offset) if seed is None else seed
            starts.append((asked, self.space.options(chosen)))
        traces = self.episodes.run(starts)
        if not self.spent:
            _refuse_a_lost_start(traces)
        trials = [
            self._take_in(chosen, *start, trace)
            for chosen, start, trace in zip(values, starts, traces, strict=True)
        ]
        self._tell()
        return trials

    def take(self, values: Values, seed: int, options: Mapping[str, Any], trace: Trace) -> Trial:
        """Take in an episode that a method ran by itself. Raises Over as `try_points` does."""
        trial = self._take_in(values, seed, options, trace)
        self._tell()
        if not self.allowance or self._done:
            raise Over
        return trial

    def _take_in(
        self, values: Values, seed: int, options: Mapping[str, Any], trace: Trace
    ) -> Trial:
        refuse_unheeded(options, trace)
        score = self.objective.score(trace)
        self.charge()
        kept = trace if score.violated else None
        trial = Trial(self.spent, self.method, seed, values, options, score, kept)
        self._note(trial)
        return trial

    def charge(self) -> None:
        """Count an episode."""
        self.spent += 1
        self.allowance -= 1
        self.counts[self.method] += 1

    @property
    def _done(self) -> bool:
        return self.stop_at_first and bool(self.violations)

    def _seed(self, number: int) -> int:
        if self.fixed_seed is not None:
            return self.fixed_seed
        sequence = np.random.SeedSequence(entropy=self._entropy, spawn_key=(_MARK, number))
        return int(sequence.generate_state(1, np.uint64)[0]) >> 1

    def _note(self, trial: Trial) -> None:
        score = trial.score
        self.undecided += score.status == "inconclusive"
        if score.margin is None and score.status != "inconclusive":
            self.has_margins = False
        if score.margin is not None and len(self.margins) < 2:
            self.margins.add(score.margin)
        best = self.best[self.method]
        if score.margin is not None and score.applies and (best is None or score.margin < best):
            self.best[self.method] = score.margin
        if self.method in ("shrink", "confirm"):
            return
        self.starts = sorted((*self.starts, trial), key=_depth)[:STARTS]
        if score.violated:
            self.first.setdefault(self.method, trial.number)
            if len(self.violations) < KEPT:
                self.violations.append(trial)

    def _tell(self) -> None:
        found = [value for value in self.best.values() if value is not None]
        best = min(found) if found else None
        self._listener(Progress(self.method, self.spent, self.budget, len(self.violations), best))


def _refuse_a_lost_start(traces: Sequence[Trace]) -> None:
    """Raise ScenarioError if none of the first episodes gave a sample: nothing is searched then."""
    if traces and all(is_lost(trace) for trace in traces):
        raise ScenarioError(
            f"None of the first {len(traces)} episodes gave a sample; of the last one: "
            f"{traces[-1].end.reason}. Run safegym.record(scenario, policy, seed, options=) to see "
            "it alone; where= keeps a search away from what a scenario cannot start from."
        )


def _depth(trial: Trial) -> tuple[float, int]:
    return trial.depth
