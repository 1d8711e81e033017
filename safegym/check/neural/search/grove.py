"""The trees of a search: one tree of boxes, read once for each clause."""

from dataclasses import dataclass, field

import numpy as np

from safegym.check.neural.outcome import Branch, Leaf, Tree
from safegym.check.neural.search.contraction import Flags, Index
from safegym.check.neural.search.examine import MIXED, Examined
from safegym.check.neural.search.frontier import Boxes, Integers
from safegym.check.neural.search.rows import Array

BYTES = 400  # about what a box costs in memory where its tree is kept


@dataclass(slots=True)
class Grove:
    """Boxes by number; 0 is the region's. A clause's leaf ends that clause's tree there.

    outputs: how many rows are outputs of the graph; the rest are the region's cuts.
    """

    outputs: int
    clauses: int
    branches: dict[int, Branch] = field(default_factory=dict[int, Branch])
    leaves: dict[tuple[int, int], Leaf] = field(default_factory=dict[tuple[int, int], Leaf])
    count: int = 1

    def cut(self, box: int, dimension: int, point: float) -> tuple[int, int]:
        """Cut a box; the numbers of what lies below and above."""
        below, above = self.count, self.count + 1
        self.branches[box] = Branch(dimension, point, below, above)
        self.count += 2
        return below, above

    def close(self, box: int, clause: int, row: int, mixture: Array | None = None) -> None:
        """A clause holds on a box by a row, or by a combination of rows with weights (K,)."""
        if mixture is None:
            inside = row < self.outputs
            self.leaves[box, clause] = Leaf("bound", row) if inside else Leaf("outside")
            return
        used = [int(at) for at in np.flatnonzero(mixture)]
        outputs = [at for at in used if at < self.outputs]
        if not outputs:
            self.leaves[box, clause] = Leaf(
                "outside", -1, tuple((at, float(mixture[at])) for at in used)
            )
            return
        heaviest = max(outputs, key=lambda at: float(mixture[at]))
        self.leaves[box, clause] = Leaf(
            "bound", heaviest, tuple((at, float(mixture[at])) for at in used)
        )

    def mark(self, box: int, clause: int, leaf: Leaf) -> None:
        """Any other end of a clause's tree at a box."""
        self.leaves[box, clause] = leaf

    def slice(
        self, box: int, dimension: int, top: bool, point: float, rows: Index, open: Flags
    ) -> int:
        """Cut a slice off a box, closed for each open clause by its row; the rest's number."""
        below, above = self.cut(box, dimension, point)
        gone, rest = (above, below) if top else (below, above)
        for clause in np.flatnonzero(open):
            self.close(gone, int(clause), int(rows[clause]))
        return rest

    def book(self, boxes: Boxes, done: Examined) -> Integers:
        """Leaves and slices of an examined chunk; the numbers of the boxes that are left."""
        numbers = boxes.number.copy()
        for box, clause in zip(*np.nonzero(boxes.open & ~done.open), strict=True):
            row = int(done.by[box, clause])
            mixture = None
            if row == MIXED and done.mixtures is not None:
                mixture = done.mixtures[box, clause]
            self.close(int(numbers[box]), int(clause), row, mixture)
        for cut in done.cuts:
            for box in np.flatnonzero(cut.made):
                number, point = int(numbers[box]), float(cut.point[box])
                numbers[box] = self.slice(
                    number, cut.dimension, cut.top, point, cut.rows[box], done.open[box]
                )
        return numbers

    def violate(self, point: Array, clause: int) -> None:
        """Mark the leaf of a clause's tree that holds a point."""
        box = 0
        while (branch := self.branches.get(box)) is not None:
            box = branch.below if point[branch.dimension] <= branch.point else branch.above
        self.mark(box, clause, Leaf("violated"))

    def trees(self) -> tuple[Tree, ...]:
        """A tree for each clause; what has no leaf yet is open."""
        return tuple(self._tree(clause) for clause in range(self.clauses))

    def _tree(self, clause: int) -> Tree:
        entries: list[Branch | Leaf] = [Leaf("open")]
        waiting = [(0, 0)]
        while waiting:
            box, place = waiting.pop()
            leaf, branch = self.leaves.get((box, clause)), self.branches.get(box)
            if leaf is not None:
                entries[place] = leaf
            elif branch is not None:
                below = len(entries)
                entries[place] = Branch(branch.dimension, branch.point, below, below + 1)
                entries += [Leaf("open"), Leaf("open")]
                waiting += [(branch.above, below + 1), (branch.below, below)]
        return Tree(tuple(entries))
