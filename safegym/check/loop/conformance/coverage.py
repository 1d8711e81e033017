"""How much of a set of states was visited."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.plant import Floats, Plant
from safegym.check.loop.reach.cells import outward
from safegym.check.loop.sets import pieces_of, region_box
from safegym.check.loop.values import truth
from safegym.errors import UnsupportedError
from safegym.formula.formulas import Formula

CELLS = 1_000
"""About how many cells a set's box is cut into."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells over the box of a set; those whose middle is in the set count."""

    low: Floats
    high: Floats
    parts: int
    counted: frozenset[int]

    @classmethod
    def over(cls, inside: Formula, plant: Plant) -> "Grid":
        """The grid of a set that linear comparisons bound. Raises UnsupportedError."""
        boxes = [
            outward(*region_box(piece, "the set S")) for piece in pieces_of(inside, plant, "S")
        ]
        if not boxes:
            raise UnsupportedError("The set S is empty.")
        low = np.min([each[0] for each in boxes], axis=0)
        high = np.max([each[1] for each in boxes], axis=0)
        parts = max(2, round(CELLS ** (1.0 / low.size)))
        if parts**low.size > 1_000_000:
            raise UnsupportedError(f"A set in {low.size} dimensions has no grid of cells.")
        places = np.stack(np.unravel_index(np.arange(parts**low.size), (parts,) * low.size), axis=1)
        middles = low + (places + 0.5) / parts * (high - low)
        given = {signal.name: middles[:, at] for at, signal in enumerate(plant.states)}
        held = truth(inside, given, len(middles))
        return cls(low, high, parts, frozenset(int(at) for at in np.flatnonzero(held)))

    def cells(self, states: Floats) -> set[int]:
        """The counted cells that states (m, n) lie in."""
        if not len(states):
            return set()
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        share = (states - self.low) / width
        places: NDArray[np.int64] = np.clip(share * self.parts, 0, self.parts - 1).astype(np.int64)
        flat = np.ravel_multi_index(tuple(places.T), (self.parts,) * self.low.size)
        return {int(at) for at in np.unique(flat)} & self.counted
