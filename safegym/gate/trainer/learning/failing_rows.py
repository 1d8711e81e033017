"""The rows of a replay ring that led to a violation, and how many of them a sample gets.

Not a prioritised buffer: the share of failing rows in a sample is raised to a bound and no
importance weight takes that back, so the learner sees the neighbourhood of violations more often
than its own behaviour meets it. Every other row keeps at least 1 - share of its weight.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class FailingRows:
    """Which (row, slot) led to a violation: 8 bytes each, sorted; the ring keeps the transitions.

    slots: columns of the ring.
    """

    slots: int
    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def mark(self, slot: int, first: int, last: int, oldest: int) -> None:
        """Mark rows first..last of a slot that still stand; a row marked twice counts once.

        oldest: the oldest row of the ring; marks below it are dropped.
        """
        fresh = np.arange(max(first, oldest), last + 1, dtype=np.int64) * self.slots + slot
        known = self.standing(oldest)
        places = np.searchsorted(known, fresh)
        new = np.searchsorted(known, fresh, side="right") == places
        self.ids = np.insert(known, places[new], fresh[new])

    def standing(self, oldest: int) -> NDArray[np.int64]:
        """The marks that the ring still holds."""
        return self.ids[np.searchsorted(self.ids, oldest * self.slots) :]

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and slots of these marks."""
        return ids // self.slots, ids % self.slots


def mixed_in(batch: int, share: float, failing: int, total: int) -> int:
    """How many rows of a sample are drawn from the failing ones alone.

    The rest is drawn evenly from all `total` rows, of which `failing` are failing, so that failing
    rows make up `share` of the sample on average. 0 where they do so anyway, at most as many as
    there are, and never the whole sample.
    """
    if not failing or failing >= share * total:
        return 0
    natural = failing / total
    wanted = math.floor(batch * (share - natural) / (1.0 - natural))
    return min(wanted, failing, batch - 1)
