"""Counting readings of one attempt in index order, until the attempt is decided."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from safegym.gate.counts import Count, make_count
from safegym.gate.obligation import Obligation
from safegym.gate.plan import VERSION, Display
from safegym.gate.reading import Reading, as_reading
from safegym.verdict import Status

Outcome = Literal["certified", "refuted", "futile", "exhausted", "unrepeatable", "abandoned"]
"""unrepeatable: the counts would certify, but an episode came out otherwise when run again."""


MOST_TOLD: Final = 3
"""Reasons why episodes stayed undecided that the end of an attempt tells."""
LONGEST_TOLD: Final = 200


@dataclass(slots=True)
class Tally:
    """The statistics of attempt number `attempt`: one `Count` an obligation, each at its own level.

    cap: most episodes, whole rounds of `look`. look: episodes between two looks; nothing is
    decided inside a round. display: how verdicts are called where nothing is released. version: of
    the plan; under version 1 a limit is the one over all episodes alone.
    Feed every episode in index order with `add`; `outcome` latches.
    """

    obligations: tuple[Obligation, ...]
    attempt: int
    cap: int
    look: int = 1
    display: Display = "one at a time"
    version: int = VERSION
    counts: tuple[Count, ...] = ()
    episodes: int = 0
    outcome: Outcome | None = None
    reasons: tuple[str, ...] = ()
    unsettled: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.counts = tuple(
            make_count(item, self.attempt, self.look, latest=self.version == 1)
            for item in self.obligations
        )

    @property
    def estimated(self) -> tuple[Count, ...]:
        """The counts that have a level, and so can certify."""
        return tuple(count for count in self.counts if count.level is not None)

    def add(
        self, readings: Sequence[Reading | Status], stratum: str = "", ended: str = ""
    ) -> Outcome | None:
        """Count the next episode's readings, one an obligation, and return the outcome so far.

        A bare status is the reading of a claim without a condition. ended: why the episode ended,
        told where it leaves a claim undecided.
        """
        if self.outcome is not None:
            return self.outcome
        self.episodes += 1
        before = self._undecided
        for count, reading in zip(self.counts, readings, strict=True):
            count.add(as_reading(reading), stratum)
        if self._undecided > before:
            self.unsettled[ended] += 1
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

    @property
    def _undecided(self) -> int:
        return sum(count.seen.undecided for count in self.counts)

    def _end(self, outcome: Outcome, reasons: list[str]) -> None:
        self.outcome = outcome
        told = self._why_open() if outcome in ("futile", "exhausted") and self.version > 1 else []
        self.reasons = (*reasons, *told)

    def _why_open(self) -> list[str]:
        """What left episodes undecided, the commonest first."""
        found = sorted(self.unsettled.items(), key=lambda item: (-item[1], item[0]))
        told = [
            f"undecided, {number} times: {_cut(why)}" for why, number in found[:MOST_TOLD] if why
        ]
        more = sum(number for _, number in found[MOST_TOLD:])
        return [*told, f"undecided, {more} times: other reasons"] if more else told


def _cut(why: str) -> str:
    """On one line, and of a length that can be read."""
    line = " ".join(why.split())
    return line if len(line) <= LONGEST_TOLD else f"{line[: LONGEST_TOLD - 1]}…"


def _exhaustion(count: Count) -> str:
    return f"{count.obligation.claim.id}: {count.seen.words()} settle nothing within the cap"
