"""What a search found, and the tree of boxes by which it found it."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SearchResult = Literal["PROVED", "COUNTEREXAMPLE", "UNKNOWN"]
LeafKind = Literal["bound", "outside", "linear programme", "z3", "violated", "open"]


@dataclass(frozen=True, slots=True)
class Branch:
    """A box cut at `point` of input `dimension`; both halves hold the cut. Both are indices."""

    dimension: int
    point: float
    below: int
    above: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A box that is not cut further.

    bound: output `output` is positive on the whole box by linear bounds, or, where there is a
    mixture, the sum of its weights (none negative) times its rows is: rows are outputs by their
    index, and then the region's cuts as `coefficients . x - bound`; `output` is the heaviest.
    outside: the box lies outside the region's cuts. violated: holds a point that was found to
    violate the clause, or that violates it at every point by certified bounds.
    """

    kind: LeafKind
    output: int = -1
    mixture: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """The boxes of one clause; entry 0 is the region's outward box."""

    entries: tuple[Branch | Leaf, ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the region's box by volume, adding up to 1.

    proved: in boxes on which every clause holds, or that lie outside the region's cuts. violated:
    in boxes at every point of which some clause fails. Both by certified bounds. unknown: the rest.
    A search ends at the first violation that it finds, so that most of what violates is unknown.
    """

    proved: float
    violated: float
    unknown: float


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The answer of one search over one problem.

    point: a candidate that violates a clause in binary64 evaluation, for the caller to replay.
    trees: one a clause, where the search kept them. reason: why it ended, in words.
    """

    result: SearchResult
    shares: Shares
    boxes: int
    seconds: float
    reason: str
    clause: int | None = None
    point: NDArray[np.float64] | None = None
    trees: tuple[Tree, ...] = ()
    notes: tuple[str, ...] = field(default=())
