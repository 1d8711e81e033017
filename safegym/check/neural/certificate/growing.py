"""The lines of a certificate's tree: the search's boxes, with bounds that the checker can prove."""

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import numpy as np

from safegym.check.neural.certificate import checker
from safegym.check.neural.certificate.checker import ONE, B, F
from safegym.check.neural.certificate.lowering import Network
from safegym.check.neural.certificate.proposing import Box, Proposals, State
from safegym.check.neural.outcome import Branch, Leaf, Tree
from safegym.check.neural.problem import Problem
from safegym.errors import SafegymError

DEEPEST = 24
"""Splits below a leaf of the search before the writer gives up."""
SHARE = 0.1
"""Of a box's volume since the last line with bounds: below it the next line has bounds anew."""
COVER = 0.95
"""Of what open lines cost, which new bounds are to cover before all are renewed."""
Line = dict[str, Any]


class UncertifiedError(SafegymError):
    """No certificate can be made of the proof, with the reason."""


class Growing:
    """Grows the certificate's trees of one problem."""

    def __init__(self, problem: Problem, network: Network, timeout: float) -> None:
        deployed = problem.semantics != "real"
        self.net: list[checker.Node] = []
        try:
            for record in network.nodes:
                sizes = [node.size for node in self.net]
                self.net.append(checker.Node(record, sizes, network.inputs, deployed))
        except checker.Refused as fault:
            raise UncertifiedError(f"the network has no certificate: {fault}") from None
        self.problem, self.outputs = problem, problem.graph.outputs
        self.proposals = Proposals(self.net, network.arrays)
        low = [floor(x * ONE) for x in problem.region.low]
        high = [ceil(x * ONE) for x in problem.region.high]
        self.box: Box = (low, high)
        self.cuts = [_whole(cut.coefficients, cut.bound) for cut in problem.region.cuts]
        self.timeout, self.ends = timeout, time.monotonic() + timeout

    def lines(self, trees: Sequence[Tree]) -> Iterator[Line]:
        """Each line in the order in which the checker reads it."""
        for tree, clause in zip(trees, self.problem.clauses, strict=True):
            strict = {each.output: each.strict for each in clause}
            waiting: list[tuple[Box, State, float, int, Leaf, int]] = []
            waiting.append((self.box, {}, 0.0, 0, Leaf("open"), 0))
            while waiting:
                if time.monotonic() > self.ends:
                    raise UncertifiedError(f"the time limit of {self.timeout:g} s was reached")
                box, state, share, at, leaf, depth = waiting.pop()
                entry = tree.entries[at] if at >= 0 else leaf
                if isinstance(entry, Branch):
                    line, halves, state, share = self._branch(box, state, share, entry, strict)
                    yield line
                    for half, child in zip(halves, (entry.above, entry.below), strict=True):
                        waiting.append((half, state, share - 1.0, child, leaf, 0))
                else:
                    line, parts = self._leaf(box, state, entry, strict, depth)
                    yield line
                    waiting += [(*part, 0.0, -1, entry, depth + 1) for part in parts]

    def _branch(
        self, box: Box, state: State, share: float, branch: Branch, strict: dict[int, bool]
    ) -> tuple[Line, list[Box], State, float]:
        tables: tuple[Any, Any] = {}, {}
        if not state or self._shrunk(box, state):
            state = dict(state)
            tables = self._improved(box, state, strict, COVER)
        line, halves = _split(box, branch.dimension, branch.point, tables)
        return line, halves, state, share

    def _shrunk(self, box: Box, state: State) -> bool:
        """Whether much of the box for which the state's bounds were found is gone."""
        last, share = state[-(10**9)], 1.0
        for low, high, old_low, old_high in zip(*box, *last, strict=True):
            if old_high > old_low:
                share *= (high - low) / (old_high - old_low)
        return share < SHARE

    def _improved(
        self, box: Box, state: State, strict: dict[int, bool], cover: float
    ) -> tuple[Any, Any]:
        state[-(10**9)] = (list(box[0]), list(box[1]))
        try:
            return self.proposals.improve(box, state, list(strict), cover)
        except checker.Refused as fault:
            raise UncertifiedError(f"the network has no certificate: {fault}") from None

    def _leaf(
        self, box: Box, state: State, leaf: Leaf, strict: dict[int, bool], depth: int
    ) -> tuple[Line, list[tuple[Box, State]]]:
        if leaf.kind in ("violated", "open", "z3"):
            raise UncertifiedError(f"a leaf of the proof is of kind {leaf.kind!r}")
        tries, old = self._rows(leaf, strict), state
        tables: tuple[Any, Any] = {}, {}
        for cover in (0.0, COVER, 1.0):
            if cover > 0.0 or not old:
                state = dict(old)
                tables = self._improved(box, state, strict, cover)
            for factors, extra in tries:
                if self._positive(box, state, factors, extra, strict):
                    plain = len(factors) == 1 and not extra
                    return _line("linear" if plain else "farkas", [factors, extra], tables), []
        return self._deeper(box, state, tries[0], tables, depth)

    def _rows(self, leaf: Leaf, strict: dict[int, bool]) -> list[tuple[list[Any], list[Any]]]:
        """(outputs with factors, cuts with factors) to be tried, the search's own first."""
        tries: list[tuple[list[Any], list[Any]]] = []
        if leaf.mixture:
            unit = 2.0**16 / max(weight for _, weight in leaf.mixture)
            outs = [[o, ceil(w * unit)] for o, w in leaf.mixture if o < self.outputs and w > 0]
            extra = [
                [
                    o - self.outputs,
                    max(1, round(Fraction(w * unit) / self.cuts[o - self.outputs][2])),
                ]
                for o, w in leaf.mixture
                if o >= self.outputs and w > 0
            ]
            tries.append((outs, extra))
        if leaf.output >= 0:
            tries.append(([[leaf.output, 1]], []))
        if leaf.kind == "outside" or not tries:
            tries += [([], [[i, 1]]) for i in range(len(self.cuts))]
            tries += [([[o, 1]], []) for o in strict]
        return tries

    def _positive(
        self, box: Box, state: State, factors: list[Any], extra: list[Any], strict: dict[int, bool]
    ) -> bool:
        slack = [0] * len(box[0])
        for i, f in extra:
            slack = [x + f * c for x, c in zip(slack, self.cuts[i][0], strict=True)]
        bound = checker.lower(
            self.net, box, state, len(self.net) - 1, [dict(factors) or {0: 0}], slack
        )[0]
        bound -= sum(f * self.cuts[i][1] for i, f in extra) << B + F
        return bool(bound >= all(strict[o] for o, _ in factors))

    def _deeper(
        self, box: Box, state: State, row: tuple[list[Any], list[Any]], tables: Any, depth: int
    ) -> tuple[Line, list[tuple[Box, State]]]:
        """A split below a leaf of the search, where its row changes most."""
        if depth >= DEEPEST:
            raise UncertifiedError(
                f"a leaf is not shown positive by dyadic bounds after {DEEPEST} more splits"
            )
        unit = np.zeros((1, self.outputs))
        for o, f in row[0]:
            unit[0, o] = f
        _, _, slopes = self.proposals.values(box, state, len(self.net) - 1, unit)
        width = np.array([(y - x) / float(ONE) for x, y in zip(*box, strict=True)])
        at = int(np.argmax(np.abs(slopes[0]) * width + 1e-9 * width))
        point = (box[0][at] + box[1][at]) / 2 / float(ONE)
        line, halves = _split(box, at, point, tables)
        return line, [(half, state) for half in halves]


def _split(box: Box, at: int, point: float, tables: Any) -> tuple[Line, list[Box]]:
    """The line, and the upper part before the lower one."""
    exact = Fraction(point) * ONE
    if not box[0][at] < exact < box[1][at]:
        raise UncertifiedError("a box is too narrow to be split")
    low, high = list(box[0]), list(box[1])
    low[at], high[at] = floor(exact), ceil(exact)
    line = _line("split", [at, str(Fraction(point))], tables)
    return line, [(low, box[1]), (box[0], high)]


def _line(kind: str, data: list[Any], tables: Any) -> Line:
    return {"bounds": tables[0], "data": data, "kind": kind, "slopes": tables[1]}


def _whole(row: Sequence[Fraction], bound: Fraction) -> tuple[list[int], int, int]:
    """A cut as whole numbers, and the factor that made it so."""
    scale = lcm(bound.denominator, *(x.denominator for x in row))
    return [int(x * scale) for x in row], int(bound * scale), scale
