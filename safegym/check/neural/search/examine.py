"""What is done with a chunk of boxes: bound them, close what can be closed, cut, choose a split."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds import Bounds, LinearBounds
from safegym.check.neural.problem import Problem
from safegym.check.neural.search.attack import Attack, Candidate
from safegym.check.neural.search.branching import choose, lookahead, midpoint
from safegym.check.neural.search.contraction import Contracted, Cut, Flags, Index, contract
from safegym.check.neural.search.influence import influence
from safegym.check.neural.search.planes import cut_planes
from safegym.check.neural.search.rows import Array, Rows, combine, least, lightest_mix

CHUNK = 128
"""Boxes handled at once; the same for any number of workers, so that rounding is too."""
MIXED = -2
_LOOK_EVERY = 12
"""Each so many generations the split is chosen by looking ahead instead of by slopes."""
_LOOK_AMONG = 3
_CONTRACT_AMONG = 12


@dataclass(frozen=True, slots=True)
class Chunk:
    """Boxes low, high (B, n), the clauses (B, C) open on each, and how often each was split."""

    low: Array
    high: Array
    open: Flags
    depth: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Examined:
    """What became of a chunk.

    open (B, C): clauses that stay open. by (B, C): row that closed a clause, -1 for none; rows from
    the graph's outputs on are cuts; MIXED for a combination of rows, whose weights (B, C, K) are in
    `mixtures` where there are any. low, high: the boxes without the slices that `cuts` took; left:
    their share of the old ones. dimension (B,): where to split, -1 where nothing can be.
    worst (B,): how near the box is to a proof, the least over its open clauses. fails (B,): a
    clause that fails at every point of the box by certified bounds, -1 for none.
    """

    open: Flags
    by: Index
    low: Array
    high: Array
    left: Array
    cuts: tuple[Cut, ...]
    dimension: Index
    worst: Array
    unstable: NDArray[np.int64]
    candidate: Candidate | None
    fails: Index
    mixtures: Array | None = None


class Examiner:
    """Examines chunks of one problem; holds no state between them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bounds = Bounds(problem.graph, problem.semantics)
        self.attack = Attack(problem)
        outputs = problem.graph.outputs
        self.planes = cut_planes(problem.region)
        cuts = np.arange(outputs, outputs + len(problem.region.cuts))
        literals = [np.array([each.output for each in clause]) for clause in problem.clauses]
        self.groups: list[Index] = [np.concatenate([each, cuts]) for each in literals]
        loose = np.zeros((len(literals), outputs), dtype=np.bool_)
        strict = np.zeros((len(literals), outputs), dtype=np.bool_)
        member = np.zeros((len(literals), outputs), dtype=np.bool_)
        for index, clause in enumerate(problem.clauses):
            for each in clause:
                member[index, each.output] = True
                (strict if each.strict else loose)[index, each.output] = True
        self.member, self.loose, self.strict = member, loose, strict & ~loose
        low, high = problem.region.outward()
        self._unit = 1e-6 / np.where(high > low, high - low, 1.0)

    def __call__(self, chunk: Chunk) -> Examined:
        """Bounds, closing, contraction, the choice of a split, and a look for candidates."""
        wanted = np.flatnonzero(self.member[chunk.open.any(axis=0)].any(axis=0))
        found = self.bounds.linear(chunk.low, chunk.high, outputs=wanted.tolist())
        rows, lower = self._rows(chunk, found, wanted)
        open, by = self._single(chunk, lower)
        open, by, best, mixtures = self._mixed(chunk, rows, lower, open, by)
        low, high, left = chunk.low.copy(), chunk.high.copy(), np.ones(len(open))
        cuts: tuple[Cut, ...] = ()
        dimension = np.full(len(open), -1, dtype=np.intp)
        worst = np.where(open, best, np.inf).min(axis=1)
        kept = np.flatnonzero(open.any(axis=1))
        candidate = None
        if len(kept):
            part = Rows(rows.coefficients[kept], rows.constants[kept])
            candidate = self._look(part, open[kept], lower[kept], chunk.low[kept], chunk.high[kept])
            scores = self._scores(found, part, open, kept, chunk)
            done = self._contract(part, open[kept], scores, chunk.low[kept], chunk.high[kept])
            low[kept], high[kept], left[kept] = done.low, done.high, done.left
            cuts = tuple(_spread(cut, kept, len(open)) for cut in done.cuts)
            scores = scores * (done.high - done.low)
            scores = self._ahead(scores, done.low, done.high, open[kept], chunk.depth[kept])
            dimension[kept] = choose(scores, done.low, done.high)
        return Examined(
            open,
            by,
            low,
            high,
            left,
            cuts,
            dimension,
            worst,
            found.unstable,
            candidate,
            self._failing(found, chunk, open),
            mixtures,
        )

    def _failing(self, found: LinearBounds, chunk: Chunk, open: Flags) -> Index:
        """A clause none of whose literals holds anywhere on the box, which no cut reaches."""
        most = found.inner[-1][1]
        fails = np.full(len(open), -1, dtype=np.intp)
        for index in range(open.shape[1]):
            gone = (most < 0.0) | (self.strict[index] & (most <= 0.0)) | ~self.member[index]
            for at in np.flatnonzero(open[:, index] & (fails < 0) & gone.all(axis=1)):
                if self.problem.region.spans(chunk.low[at], chunk.high[at]):
                    fails[at] = index
        return fails

    def _rows(self, chunk: Chunk, found: LinearBounds, wanted: Index) -> tuple[Rows, Array]:
        """Rows of every output and cut on each box, and their certified minima."""
        boxes, size = chunk.low.shape
        count = self.problem.graph.outputs
        total = count + len(self.planes.constants[0])
        a, c = np.zeros((boxes, total, size)), np.full((boxes, total), -1e300)
        lower = np.full((boxes, total), -np.inf)
        usable = np.isfinite(found.constants) & np.isfinite(found.coefficients).all(axis=2)
        a[:, wanted] = np.where(usable[:, :, None], found.coefficients, 0.0)
        c[:, wanted] = np.where(usable, found.constants, -1e300)
        lower[:, wanted] = found.lower
        a[:, count:], c[:, count:] = self.planes
        cuts = Rows(a[:, count:], c[:, count:])
        lower[:, count:] = least(cuts, chunk.low, chunk.high)
        return Rows(a, c), lower

    def _single(self, chunk: Chunk, lower: Array) -> tuple[Flags, Index]:
        """Clauses that one row closes."""
        open = chunk.open.copy()
        by = np.full(open.shape, -1, dtype=np.intp)
        count = self.problem.graph.outputs
        for index, group in enumerate(self.groups):
            values = lower[:, group]
            loose = np.zeros(len(group), dtype=np.bool_)
            loose[group < count] = self.loose[index, group[group < count]]
            holds = (values > 0.0) | (loose & (values >= 0.0))
            first = np.argmax(np.where(holds, values, -np.inf), axis=1)
            closed = open[:, index] & holds.any(axis=1)
            by[closed, index] = group[first[closed]]
            open[closed, index] = False
        return open, by

    def _mixed(
        self, chunk: Chunk, rows: Rows, lower: Array, open: Flags, by: Index
    ) -> tuple[Flags, Index, Array, Array | None]:
        """Clauses that a combination of rows closes; the best value known of each clause."""
        best = np.stack([lower[:, group].max(axis=1) for group in self.groups], axis=1)
        mixtures = None
        for index, group in enumerate(self.groups):
            at = np.flatnonzero(open[:, index])
            if len(group) < 2 or len(at) == 0:
                continue
            part = Rows(rows.coefficients[at[:, None], group], rows.constants[at[:, None], group])
            low, high = chunk.low[at], chunk.high[at]
            weights = lightest_mix(part, low, high)
            value = combine(part, weights, low, high)
            closed = at[value > 0.0]
            best[at, index] = np.maximum(best[at, index], value)
            if len(closed):
                if mixtures is None:
                    mixtures = np.zeros((*open.shape, rows.constants.shape[1]))
                mixtures[closed[:, None], index, group] = weights[value > 0.0]
                by[closed, index] = MIXED
                open[closed, index] = False
        return open, by, best, mixtures

    def _look(
        self, rows: Rows, open: Flags, lower: Array, low: Array, high: Array
    ) -> Candidate | None:
        """Candidates at the centres and where the bounds are least."""
        every = np.arange(len(low))
        points = [midpoint(low, high)]
        for index, group in enumerate(self.groups):
            at = open[:, index]
            if at.any():
                row = group[np.argmax(lower[:, group], axis=1)]
                slope = rows.coefficients[every, row]
                points.append(np.where(slope > 0.0, low, high)[at])
        return self.attack.at(np.concatenate(points))

    def _scores(
        self, found: LinearBounds, rows: Rows, open: Flags, kept: Index, chunk: Chunk
    ) -> Array:
        """How much an input moves what is open, a unit of it: by the bounds and by the gradient."""
        outputs = (open[kept].astype(np.float64) @ self.member > 0.0).astype(np.float64)
        inner = [(low[kept], high[kept]) for low, high in found.inner]
        width = chunk.high[kept] - chunk.low[kept]
        slopes = influence(self.problem.graph, inner, outputs)
        lines = (np.abs(rows.coefficients[:, : outputs.shape[1]]) * outputs[:, :, None]).sum(axis=1)
        shares = [
            each / np.maximum((each * width).sum(axis=1, keepdims=True), 1e-300)
            for each in (slopes, lines)
        ]
        return np.asarray(shares[0] + shares[1] + self._unit)

    def _contract(
        self, rows: Rows, open: Flags, scores: Array, low: Array, high: Array
    ) -> Contracted:
        worth = (scores * (high - low)).sum(axis=0)
        order = np.argsort(-worth, kind="stable")[:_CONTRACT_AMONG]
        return contract(rows, self.groups, open, low, high, order.tolist())

    def _ahead(
        self, scores: Array, low: Array, high: Array, open: Flags, depth: NDArray[np.int64]
    ) -> Array:
        """Scores, replaced on some generations by a look at both halves of the best few inputs."""
        looking = np.flatnonzero(depth % _LOOK_EVERY == _LOOK_EVERY - 1)
        if len(looking) == 0:
            return scores
        few = np.argsort(-scores[looking], axis=1, kind="stable")[:, :_LOOK_AMONG]

        def value(lows: Array, highs: Array, open: Flags) -> Array:
            lower = self.bounds.best(lows, highs)
            lower = np.concatenate(
                [lower, np.full((len(lows), len(self.planes.constants[0])), -np.inf)], axis=1
            )
            best = np.stack([lower[:, group].max(axis=1) for group in self.groups], axis=1)
            return np.asarray(np.where(open, best, np.inf).min(axis=1))

        scores = scores.copy()
        scores[looking] = lookahead(value, low[looking], high[looking], open[looking], few)
        return scores


def _spread(cut: Cut, kept: Index, size: int) -> Cut:
    made, point = np.zeros(size, dtype=np.bool_), np.zeros(size)
    rows = np.zeros((size, cut.rows.shape[1]), dtype=np.intp)
    made[kept], point[kept], rows[kept] = cut.made, cut.point, cut.rows
    return Cut(cut.dimension, cut.top, made, point, rows)
