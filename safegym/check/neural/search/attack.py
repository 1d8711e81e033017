"""Attack: points of the region at which a clause fails, looked for before and during the search."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from safegym.check.neural.evaluate import evaluate, gradient
from safegym.check.neural.problem import Clause, Problem
from safegym.check.neural.search.interior import Interior
from safegym.check.neural.search.rows import Array

SAMPLES, STARTS, STEPS = 256, 24, 24


class Candidate(NamedTuple):
    """A point of the region that fails a clause in binary64, and by how much: margin <= 0."""

    point: Array
    clause: int
    margin: float


class Attack:
    """Looks for candidates of one problem. Deterministic: its draws come from one seed."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.interior = Interior(problem)
        self._rng = np.random.default_rng(0)

    def at(self, points: Array) -> Candidate | None:
        """The worst candidate among points (B, n), once they are brought into the region."""
        if self.interior.empty or len(points) == 0:
            return None
        points = self.interior.bring(points)
        return self._pick(points, evaluate(self.problem.graph, points))

    def first(self) -> Candidate | None:
        """From the centre, corners and random points of the region down the gradient."""
        if self.interior.empty:
            return None
        low, high = self.interior.low, self.interior.high
        return self.within(low, high, SAMPLES, STARTS, STEPS)

    def within(
        self, low: Array, high: Array, samples: int, starts: int, steps: int
    ) -> Candidate | None:
        """From many points of a box (n,), the best of them down the gradient of each clause."""
        size = len(low)
        uniform = self._rng.random((samples, size))
        corners = self._rng.random((min(samples, 2**size), size)) < 0.5
        points = low + (high - low) * np.concatenate([np.full((1, size), 0.5), corners, uniform])
        points = self.interior.bring(points)
        outputs = evaluate(self.problem.graph, points)
        best = self._pick(points, outputs)
        for index, clause in enumerate(self.problem.clauses):
            if best is not None:
                break
            margins = outputs[:, [each.output for each in clause]].max(axis=1)
            chosen = points[np.argsort(margins, kind="stable")[:starts]]
            best = self._descend(chosen, index, clause, low, high, steps)
        return best

    def evolve(
        self, population: int, generations: int, late: Callable[[], bool]
    ) -> Candidate | None:
        """By selection and ever smaller random steps over the region, for each clause.

        Finds what gradients do not: small pockets behind kinks, where several outputs are near a
        tie. late: whether the search's time is over, asked between generations.
        """
        if self.interior.empty:
            return None
        low, high = self.interior.low, self.interior.high
        parents = max(population // 32, 1)
        for index, clause in enumerate(self.problem.clauses):
            points = low + (high - low) * self._rng.random((population, len(low)))
            step = 0.1
            for _ in range(generations):
                if late():
                    return None
                points = self.interior.bring(points)
                outputs = evaluate(self.problem.graph, points)
                found = self._pick(points, outputs, only=index)
                if found is not None:
                    return found
                margins = outputs[:, [each.output for each in clause]].max(axis=1)
                best = points[np.argsort(margins, kind="stable")[:parents]]
                moves = self._rng.standard_normal((7 * parents, len(low)))
                children = np.repeat(best, 7, axis=0) + step * (high - low) * moves
                points = np.concatenate([best, np.clip(children, low, high)])
                step *= 0.85
        return None

    def deepen(self, found: Candidate) -> Candidate:
        """A candidate at least as deep, a short way down the gradient, in the whole region."""
        low, high = self.interior.low, self.interior.high
        scale = 0.02 * (high - low)
        points = found.point + scale * (2.0 * self._rng.random((16, len(low))) - 1.0)
        points = np.concatenate([found.point[None], points])
        clause = self.problem.clauses[found.clause]
        better = self._descend(points, found.clause, clause, low, high, 16, rate=0.02, stop=False)
        return better if better is not None and better.margin < found.margin else found

    def _descend(
        self,
        points: Array,
        index: int,
        clause: Clause,
        low: Array,
        high: Array,
        steps: int,
        rate: float = 0.2,
        stop: bool = True,
    ) -> Candidate | None:
        """Signed steps, ever smaller, down the clause's greatest literal."""
        graph, entries = self.problem.graph, np.array([each.output for each in clause])
        best: Candidate | None = None
        outputs = evaluate(graph, points)
        for step in range(steps):
            literal = entries[np.argmax(outputs[:, entries], axis=1)]
            weights = np.zeros_like(outputs)
            weights[np.arange(len(points)), literal] = 1.0
            _, slope = gradient(graph, points, weights)
            slope = np.where(np.isfinite(slope), slope, 0.0)
            size = rate * (high - low) * (0.85**step)
            points = self.interior.bring(np.clip(points - size * np.sign(slope), low, high))
            outputs = evaluate(graph, points)
            found = self._pick(points, outputs, only=index)
            if found is not None and (best is None or found.margin < best.margin):
                best = found
                if stop:
                    break
        return best

    def _pick(self, points: Array, outputs: Array, only: int | None = None) -> Candidate | None:
        best: Candidate | None = None
        for index, clause in enumerate(self.problem.clauses):
            if only is not None and index != only:
                continue
            found = self._worst_of(points, outputs, index, clause)
            if found is not None and (best is None or found.margin < best.margin):
                best = found
        return best

    def _worst_of(
        self, points: Array, outputs: Array, index: int, clause: Clause
    ) -> Candidate | None:
        fails = np.ones(len(points), dtype=np.bool_)
        for each in clause:
            value = outputs[:, each.output]
            fails &= (value <= 0.0) if each.strict else (value < 0.0)
        if not fails.any():
            return None
        fails[fails] &= self.interior.holds(points[fails])
        if not fails.any():
            return None
        margins = outputs[:, [each.output for each in clause]].max(axis=1)
        at = int(np.argmin(np.where(fails, margins, np.inf)))
        return Candidate(points[at].copy(), index, float(margins[at]))
