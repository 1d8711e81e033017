"""The boxes that are still open."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.search.contraction import Flags
from safegym.check.neural.search.rows import Array

Integers = NDArray[np.int64]


class Boxes(NamedTuple):
    """Boxes low, high (B, n); open (B, C) clauses; share (B,) of the region's box; worst (B,):
    how near the box's parent was to a proof; depth (B,): splits above it; number (B,) in the tree;
    failing (B,): whether some clause fails at every point of it.
    """

    low: Array
    high: Array
    open: Flags
    share: Array
    worst: Array
    depth: Integers
    number: Integers
    failing: Flags

    def pick(self, at: NDArray[np.intp] | Flags) -> "Boxes":
        """Some of the boxes."""
        return Boxes._make(each[at] for each in self)

    @staticmethod
    def join(parts: "list[Boxes]") -> "Boxes":
        """Several lots in their order."""
        return Boxes._make(np.concatenate(each) for each in zip(*parts, strict=True))


@dataclass(slots=True)
class Frontier:
    """Open boxes; half of a batch are those farthest from a proof, half the most often split.

    The first half finds counterexamples, the second keeps the number of open boxes low. Where
    there are more than `many`, only the most often split are taken.
    """

    boxes: Boxes
    many: int

    def __len__(self) -> int:
        return len(self.boxes.share)

    @property
    def share(self) -> float:
        """Of the region's box."""
        return float(self.boxes.share.sum())

    @property
    def failing_share(self) -> float:
        """Of the region's box, in boxes at every point of which some clause fails."""
        return float(self.boxes.share[self.boxes.failing].sum())

    @property
    def bytes(self) -> int:
        """That the boxes take, counted twice because they are copied."""
        return 2 * sum(each.nbytes for each in self.boxes)

    def put(self, boxes: Boxes) -> None:
        """Add boxes."""
        self.boxes = Boxes.join([self.boxes, boxes])

    def take(self, count: int) -> Boxes:
        """Remove and return up to so many boxes."""
        total = len(self)
        if total <= count:
            taken, self.boxes = self.boxes, self.boxes.pick(np.zeros(total, dtype=np.bool_))
            return taken
        deep = np.argsort(-self.boxes.depth, kind="stable")
        chosen = np.zeros(total, dtype=np.bool_)
        if total <= self.many:
            worst = np.argpartition(self.boxes.worst, count // 2)[: count // 2]
            chosen[worst] = True
        rest = deep[~chosen[deep]][: count - int(chosen.sum())]
        chosen[rest] = True
        taken, self.boxes = self.boxes.pick(chosen), self.boxes.pick(~chosen)
        return taken
