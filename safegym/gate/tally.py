"""Counting readings of one attempt in index order, until the attempt is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from safegym.gate.counts import Count, make_count
from safegym.gate.obligation import Obligation
from safegym.gate.plan import Display
from safegym.gate.reading import Reading, as_reading
from safegym.verdict import Status

Outcome = Literal["certified", "refuted", "futile", "exhausted", "unrepeatable", "abandoned"]
"""unrepeatable: the counts would certify, but an episode came out otherwise when run again."""


@dataclass(slots=True)
class Tally:
    """The statistics of attempt number `attempt`: one `Count` an obligation, each at its own level.

    cap: most episodes, whole rounds of `look`. look: episodes between two looks; nothing is
    decided inside a round. display: how verdicts are called where nothing is released.
    Feed every episode in index order with `add`; `outcome` latches.
    """

    obligations: tuple[Obligation, ...]
    attempt: int
    cap: int
    look: int = 1
    display: Display = "one at a time"
    counts: tuple[Count, ...] = ()
    episodes: int = 0
    outcome: Outcome | None = None
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.counts = tuple(make_count(item, self.attempt, self.look) for item in self.obligations)

    @property
    def estimated(self) -> tuple[Count, ...]:
        """The counts that have a level, and so can certify."""
        return tuple(count for count in self.counts if count.level is not None)

    def add(self, readings: Sequence[Reading | Status], stratum: str = "") -> Outcome | None:
        """Count the next episode's readings, one an obligation, and return the outcome so far.

        A bare status is the reading of a claim without a condition.
        """
        if self.outcome is not None:
            return self.outcome
        self.episodes += 1
        for count, reading in zip(self.counts, readings, strict=True):
            count.add(as_reading(reading), stratum)
        if self.episodes % self.look == 0:
            self._settle()
        return self.outcome

    def _settle(self) -> None:
        refuted = [c for c in self.counts if c.decision == "above"]
        if refuted:
            self._end("refuted", [count.refutation() for count in refuted])
            return
        hopeless = [c for c in self.counts if c.hopeless(self.cap)]
        if hopeless:
            self._end("futile", [count.futility(self.cap) for count in hopeless])
        elif all(c.decision == "below" for c in self.estimated):
            self._end("certified", [])
        elif self.episodes >= self.cap:
            open_ = [c for c in self.estimated if c.decision is None]
            self._end("exhausted", [_exhaustion(count) for count in open_])

    def _end(self, outcome: Outcome, reasons: list[str]) -> None:
        self.outcome = outcome
        self.reasons = tuple(reasons)


def _exhaustion(count: Count) -> str:
    return f"{count.obligation.claim.id}: {count.seen.words()} settle nothing within the cap"
