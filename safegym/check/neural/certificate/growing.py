"""The lines of a certificate's tree: the search's boxes, split further where the checker must."""

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from safegym.check.neural.certificate import checker
from safegym.check.neural.certificate.checker import ONE, B
from safegym.check.neural.certificate.lowering import Network
from safegym.check.neural.outcome import Branch, Leaf, Tree
from safegym.check.neural.problem import HalfSpace, Problem, Region
from safegym.errors import SafegymError

DEEPEST = 24
"""Splits below a leaf of the search before the writer gives up."""
Line = dict[str, Any]
Box = tuple[list[int], list[int]]


class UncertifiedError(SafegymError):
    """No certificate can be made of the proof, with the reason."""


def region_record(region: Region) -> dict[str, Any]:
    """The region as whole numbers over one scale; a cut as whole numbers c and b, c . x <= b."""
    scale = lcm(*(x.denominator for x in (*region.low, *region.high)))
    return {
        "cuts": [_whole(cut)[0] for cut in region.cuts],
        "high": [int(x * scale) for x in region.high],
        "low": [int(x * scale) for x in region.low],
        "scale": scale,
    }


class Growing:
    """Grows the certificate's trees of one problem."""

    def __init__(self, problem: Problem, network: Network, timeout: float) -> None:
        deployed = problem.semantics != "real"
        self.net: list[checker.Node] = []
        try:
            for at, record in enumerate(network.nodes):
                self.net.append(checker.Node(record, network.sizes[: at + 1], deployed))
        except checker.Refused as fault:
            raise UncertifiedError(f"the network has no certificate: {fault}") from None
        self.problem, self.outputs = problem, problem.graph.outputs
        region = region_record(problem.region)
        low = [(x << B) // region["scale"] for x in region["low"]]
        high = [-((-x << B) // region["scale"]) for x in region["high"]]
        self.box: Box = (low, high)
        self.cuts, self.scales = region["cuts"], [_whole(cut)[1] for cut in problem.region.cuts]
        self.timeout, self.ends = timeout, time.monotonic() + timeout

    def lines(self, trees: Sequence[Tree]) -> Iterator[Line]:
        """Each line in the order in which the checker reads it."""
        for tree, clause in zip(trees, self.problem.clauses, strict=True):
            strict = {each.output: each.strict for each in clause}
            waiting: list[tuple[Box, int, Leaf, int]] = [(self.box, 0, Leaf("open"), 0)]
            while waiting:
                if time.monotonic() > self.ends:
                    raise UncertifiedError(f"the time limit of {self.timeout:g} s was reached")
                box, at, leaf, depth = waiting.pop()
                entry = tree.entries[at] if at >= 0 else leaf
                if isinstance(entry, Branch):
                    point = round(Fraction(entry.point) * ONE)
                    line, halves = _split(box, entry.dimension, point)
                    yield line
                    for half, child in zip(halves, (entry.above, entry.below), strict=True):
                        waiting.append((half, child, leaf, 0))
                else:
                    line, halves = self._leaf(box, entry, strict, depth)
                    yield line
                    waiting += [(half, -1, entry, depth + 1) for half in halves]

    def _leaf(
        self, box: Box, leaf: Leaf, strict: dict[int, bool], depth: int
    ) -> tuple[Line, list[Box]]:
        if leaf.kind in ("violated", "open", "z3"):
            raise UncertifiedError(f"a leaf of the proof is of kind {leaf.kind!r}")
        slopes: Sequence[int] = []
        for data in reversed(self._rows(leaf, strict)):
            try:
                bound, slopes = checker.margin(self.net, *box, data, self.cuts)
            except checker.Refused as fault:
                raise UncertifiedError(f"the network has no certificate: {fault}") from None
            if bound >= all(strict[o] for o, _ in data[0]):
                return {"data": data, "kind": "sum"}, []
        if depth >= DEEPEST:
            raise UncertifiedError(
                f"a leaf is not shown positive by whole numbers after {DEEPEST} more splits"
            )
        width = [y - x for x, y in zip(*box, strict=True)]
        worth = [(abs(s) + 1) * w for s, w in zip(slopes, width, strict=True)]
        at = worth.index(max(worth))
        return _split(box, at, (box[0][at] + box[1][at]) // 2)

    def _rows(self, leaf: Leaf, strict: dict[int, bool]) -> list[list[Any]]:
        """[outputs with factors, cuts with factors] to be tried; the last is the search's own."""
        tries: list[list[Any]] = []
        if leaf.kind == "outside" or (leaf.output < 0 and not leaf.mixture):
            tries += [[[], [[i, 1]]] for i in range(len(self.cuts))]
            tries += [[[[o, 1]], []] for o in strict]
        if leaf.output >= 0:
            tries.append([[[leaf.output, 1]], []])
        if leaf.mixture:
            unit = 2.0**16 / max(weight for _, weight in leaf.mixture)
            outs = [[o, ceil(w * unit)] for o, w in leaf.mixture if o < self.outputs and w > 0]
            kept = [(o - self.outputs, w) for o, w in leaf.mixture if o >= self.outputs and w > 0]
            extra = [[i, max(1, round(Fraction(w * unit) / self.scales[i]))] for i, w in kept]
            tries.append([outs, extra])
        return tries


def _split(box: Box, at: int, point: int) -> tuple[Line, list[Box]]:
    """The line, and the upper part before the lower one."""
    if not box[0][at] < point < box[1][at]:
        raise UncertifiedError("a box is too narrow to be split")
    low, high = list(box[0]), list(box[1])
    low[at] = high[at] = point
    return {"data": [at, point], "kind": "split"}, [(low, box[1]), (box[0], high)]


def _whole(cut: HalfSpace) -> tuple[list[int], int]:
    """A cut as whole numbers, and the factor that made it so."""
    row = (*cut.coefficients, cut.bound)
    scale = lcm(*(x.denominator for x in row))
    return [int(x * scale) for x in row], scale
