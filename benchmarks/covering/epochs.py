"""A gate of a hundred epochs over policies that are all above the threshold, lane by lane.

Screens, attempts, spent levels and the tally are the gate's own. What is left out can only hold a
policy back: rollbacks, patience and the limit on attempts.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from covering.lanes import Lanes, Order
from covering.sequences import tallied
from safegym.check.statistics import Screen
from safegym.formula.claim import Claim

EPOCHS = 100
SCREEN = 100
CAP = 1_000
NAIVE = 299
"""Clean episodes that a reader of a textbook would ask for in each epoch: .99^299 < .05."""
FIRST = 30_000


@dataclass(slots=True)
class Stream:
    """One lane's outcomes, taken in order; more episodes are run as they are needed."""

    lanes: Lanes
    drawn: list[NDArray[np.bool_]]
    lane: int
    at: int = 0
    _column: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def next(self, count: int) -> NDArray[np.bool_]:
        """The next outcomes, not yet used up; `at` says how many were."""
        while sum(map(len, self.drawn)) < self.at + count:
            self.drawn.append(self.lanes.more(2_048))
        if len(self._column) < self.at + count:
            self._column = np.concatenate([part[:, self.lane] for part in self.drawn])
        return self._column[self.at : self.at + count]


def releases(stream: Stream, claim: Claim, level: float) -> bool:
    """Whether the gate releases one of a hundred policies of this lane."""
    attempts = 0
    for _ in range(EPOCHS):
        if not passes(stream):
            continue
        attempts += 1
        ended = tallied(claim, stream.next(CAP), CAP, level=level, attempt=attempts)
        stream.at += ended.episodes
        if ended.outcome == "certified":
            return True
    return False


def passes(stream: Stream) -> bool:
    """Whether a policy passes its screen."""
    screen = Screen(SCREEN, 0)
    for outcome in stream.next(SCREEN).tolist():
        stream.at += 1
        if screen.update("violated" if outcome else "satisfied") is not None:
            break
    return screen.decision == "passed"


def naive(column: NDArray[np.bool_]) -> bool:
    """Whether some epoch's 299 fresh episodes are all clean."""
    whole = column[: EPOCHS * NAIVE].reshape(EPOCHS, NAIVE)
    return bool((~whole.any(axis=1)).any())


def hundred_epochs(failure: str, runs: int, order: Order, seed: int) -> tuple[int, int]:
    """(runs that the gate released, runs that the naive rule released) of one campaign's lanes."""
    with Lanes((failure,) * runs, order, seed) as lanes:
        drawn = [lanes.more(FIRST)]
        columns = drawn[0][: EPOCHS * NAIVE]
        released = sum(
            releases(Stream(lanes, drawn, lane), claim, 0.05)
            for lane, claim in enumerate(lanes.spec.claims)
        )
        return released, sum(naive(columns[:, lane]) for lane in range(runs))
