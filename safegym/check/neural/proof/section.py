"""A cross-section of the boxes of a proof: over two inputs, the others held."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from safegym.check.neural.graph import Vector
from safegym.check.neural.outcome import Branch, Leaf, LeafKind, Tree
from safegym.check.neural.problem import Region

Fate = Literal["proved", "violated", "unknown", "outside"]
FATES: Mapping[LeafKind, Fate] = {
    "bound": "proved",
    "linear programme": "proved",
    "z3": "proved",
    "outside": "outside",
    "violated": "violated",
    "open": "unknown",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A leaf's box in the section: (low, high) along each drawn input, and what became of it."""

    fate: Fate
    x: tuple[float, float]
    y: tuple[float, float]


def cells(
    tree: Tree, region: Region, drawn: tuple[int, int | None], held: Sequence[float]
) -> Iterator[Cell]:
    """The leaves that the section at `held` meets; none where it misses the region's box.

    drawn: inputs along x and y (None: one input only). held: a value for each input; those of drawn
    ones are not looked at. On a cut between two boxes the lower one is taken.
    """
    low, high = region.outward()
    others = [at for at in range(len(low)) if at not in drawn]
    if any(not low[at] <= held[at] <= high[at] for at in others):
        return
    waiting = [(0, low, high)]
    while waiting:
        at, low, high = waiting.pop()
        entry = tree.entries[at]
        if isinstance(entry, Leaf):
            x, y = drawn
            across = (0.0, 1.0) if y is None else (float(low[y]), float(high[y]))
            yield Cell(FATES[entry.kind], (float(low[x]), float(high[x])), across)
            continue
        waiting += _sides(entry, low, high, drawn, held)


def _sides(
    entry: Branch, low: Vector, high: Vector, drawn: tuple[int, int | None], held: Sequence[float]
) -> list[tuple[int, Vector, Vector]]:
    cut = entry.dimension
    upper, lower = high.copy(), low.copy()
    upper[cut] = lower[cut] = entry.point
    below, above = (entry.below, low, upper), (entry.above, lower, high)
    if cut in drawn:
        return [below, above]
    return [below if held[cut] <= entry.point else above]
