"""Invariants: one violation holds the gate, clean episodes are observed, nothing is certified."""

from decimal import Decimal
from fractions import Fraction

from safegym.check.statistics.outcomes import Decision
from safegym.gate.counts.count import Figures
from safegym.gate.counts.seen import Seen
from safegym.gate.obligation import Obligation
from safegym.gate.reading import Reading
from safegym.verdict import Status

OBSERVED = "count of violated episodes; no probability is claimed"


class InvariantCount:
    """Counts what was seen, and no more."""

    def __init__(self, obligation: Obligation) -> None:
        self.obligation = obligation
        self.seen = Seen()
        self.crossed_at: int | None = None
        self.level: Fraction | None = None
        self.first_clean = 0

    @property
    def decision(self) -> Decision | None:
        """Refuted ("above") after one violation; never shown."""
        return "above" if self.seen.violations else None

    def add(self, reading: Reading, stratum: str = "") -> None:
        """Take in one episode."""
        self.seen.add(reading.outcome, stratum)

    def hopeless(self, cap: int) -> bool:
        """Whether an episode was undecided, so that the invariant was not seen to hold in all."""
        return self.seen.undecided > 0

    def futility(self, cap: int) -> str:
        """Why it is hopeless."""
        return (
            f"{self.obligation.claim.id}: {self.seen.undecided} undecided episode; an invariant "
            "must be seen to hold"
        )

    def refutation(self) -> str:
        """What refutes it."""
        seen = self.seen
        return f"{self.obligation.claim.id}: violated in {seen.violations} of {seen.run} episodes"

    def e_value(self) -> Decimal:
        """1: nothing is estimated."""
        return Decimal(1)

    def figures(self) -> Figures:
        """What was seen."""
        return Figures("observed", self._status(), None, None, "exact", OBSERVED)

    def _status(self) -> Status:
        if self.seen.violations:
            return "violated"
        return "inconclusive" if self.seen.undecided or not self.seen.run else "satisfied"
