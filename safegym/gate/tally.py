"""Counting verdicts of one attempt in index order, until the attempt is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.levels import spent_level
from safegym.gate.obligation import Obligation
from safegym.verdict import Status

Outcome = Literal["certified", "refuted", "futile", "exhausted", "abandoned"]


@dataclass(slots=True)
class Count:
    """Running counts of one obligation. `crossed_at`: episode number at which it was decided."""

    obligation: Obligation
    process: EProcess | None
    episodes: int = 0
    violations: int = 0
    undecided: int = 0
    crossed_at: int | None = None

    def add(self, status: Status) -> None:
        """Count one episode's status."""
        self.episodes += 1
        self.violations += status == "violated"
        self.undecided += status == "inconclusive"
        if self.process is None or self.crossed_at is not None:
            return
        self.process.update(
            violations=int(status == "violated"), undecided=int(status == "inconclusive")
        )
        if self.process.decision is not None:
            self.crossed_at = self.episodes

    @property
    def decision(self) -> Literal["below", "above"] | None:
        """What the e-process has shown; for an invariant, "above" after one violation."""
        if self.process is not None:
            return self.process.decision
        return "above" if self.violations else None

    def hopeless(self, cap: int) -> bool:
        """Whether no continuation within `cap` episodes can still show the claim."""
        if self.process is None:
            return self.undecided > 0
        return self.process.futile(cap)


@dataclass(slots=True)
class Tally:
    """The statistics of attempt number `attempt`: one `Count` an obligation, each at its own level.

    Feed every episode in index order with `add`; `outcome` latches.
    """

    obligations: tuple[Obligation, ...]
    attempt: int
    cap: int
    counts: tuple[Count, ...] = ()
    episodes: int = 0
    outcome: Outcome | None = None
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.counts = tuple(
            Count(item, self._process(item, self.attempt)) for item in self.obligations
        )

    @staticmethod
    def _process(item: Obligation, attempt: int) -> EProcess | None:
        if item.threshold is None:
            return None
        return EProcess(threshold=item.threshold, level=spent_level(item.level, attempt))

    def add(self, statuses: Sequence[Status]) -> Outcome | None:
        """Count the next episode's statuses, one an obligation, and return the outcome so far."""
        if self.outcome is not None:
            return self.outcome
        self.episodes += 1
        for count, status in zip(self.counts, statuses, strict=True):
            count.add(status)
        self._settle()
        return self.outcome

    def _settle(self) -> None:
        refuted = [c for c in self.counts if c.decision == "above"]
        if refuted:
            self._end("refuted", [_refutation(count) for count in refuted])
            return
        hopeless = [c for c in self.counts if c.hopeless(self.cap)]
        if hopeless:
            self._end("futile", [self._futility(count) for count in hopeless])
        elif all(c.decision == "below" for c in self.counts if c.process is not None):
            self._end("certified", [])
        elif self.episodes >= self.cap:
            open_ = [c for c in self.counts if c.process is not None and c.decision is None]
            self._end("exhausted", [self._exhaustion(count) for count in open_])

    def _end(self, outcome: Outcome, reasons: list[str]) -> None:
        self.outcome = outcome
        self.reasons = tuple(reasons)

    def _futility(self, count: Count) -> str:
        name = count.obligation.claim.id
        if count.process is None:
            return f"{name}: {count.undecided} undecided episode; an invariant must be seen to hold"
        seen = f"{count.violations} violated and {count.undecided} undecided of {count.episodes}"
        most, clean = count.process.kmax(self.cap), count.process.first_clean
        if most < 0:
            return f"{name}: {seen}; not even {self.cap} clean episodes settle it, {clean} would"
        return f"{name}: {seen}; at most {most} would pass within {self.cap} episodes"

    def _exhaustion(self, count: Count) -> str:
        return (
            f"{count.obligation.claim.id}: {count.violations} violated and {count.undecided} "
            f"undecided of {count.episodes} settle nothing within the cap"
        )


def _refutation(count: Count) -> str:
    item = count.obligation
    if item.threshold is None:
        return f"{item.claim.id}: violated in {count.violations} of {count.episodes} episodes"
    return (
        f"{item.claim.id}: failure probability shown to be above {float(item.threshold):.6g} "
        f"({count.violations} of {count.episodes})"
    )
