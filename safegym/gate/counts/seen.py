"""Plain counts of what was seen of one claim, in all and by stratum."""

from dataclasses import dataclass, field

from safegym.check.statistics.outcomes import Outcome


@dataclass(slots=True)
class Seen:
    """Episodes by how they enter the counts. run: all of them.

    strata: the same by stratum, in the order in which strata first occurred.
    """

    run: int = 0
    violations: int = 0
    undecided: int = 0
    skipped: int = 0
    doubtful: int = 0
    strata: dict[str, "Seen"] = field(default_factory=dict[str, "Seen"])

    @property
    def episodes(self) -> int:
        """Episodes that count: all but the skipped and doubtful ones."""
        return self.run - self.skipped - self.doubtful

    def add(self, outcome: Outcome, stratum: str = "") -> None:
        """Take in one episode; stratum "": none is declared."""
        self.run += 1
        self.violations += outcome == "violated"
        self.undecided += outcome == "undecided"
        self.skipped += outcome == "skipped"
        self.doubtful += outcome == "doubtful"
        if stratum:
            self.strata.setdefault(stratum, Seen()).add(outcome)

    def words(self) -> str:
        """The counts in words."""
        text = f"{self.violations} violated and {self.undecided} undecided of {self.episodes}"
        aside = self.skipped + self.doubtful
        return f"{text} whose condition held ({self.run} run)" if aside else text
