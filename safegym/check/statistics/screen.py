"""Screens: cheap, sequential, and without any claim."""

from collections.abc import Iterable
from typing import Literal, SupportsIndex

from safegym.check.statistics.exact import count
from safegym.check.statistics.outcomes import Outcome, read_outcome, read_outcomes
from safegym.errors import EvidenceError
from safegym.verdict import Status

ScreenDecision = Literal["passed", "failed"]


class Screen:
    """Decides whether a policy is worth a certification attempt. It makes no claim.

    `episodes` are run at most; the screen passes when all are in with at most `allowed` of them
    violated or undecided, and fails at the futility crossing: as soon as there are more. A passed
    screen is not evidence: its episodes never enter a certificate, and no confidence goes with it.
    Under a condition, skipped and doubtful episodes are run and not bad.
    Raises EvidenceError unless 0 <= allowed < episodes.
    """

    __slots__ = (
        "_allowed",
        "_cap",
        "_decision",
        "_episodes",
        "_skipped",
        "_undecided",
        "_violations",
    )

    def __init__(self, episodes: SupportsIndex, allowed: SupportsIndex = 0) -> None:
        self._cap = count(episodes, "episodes")
        self._allowed = count(allowed, "allowed")
        if self._allowed >= self._cap:
            raise EvidenceError(
                f"A screen of {self._cap} episodes that allows {self._allowed} can never fail; "
                f"write for example Screen({max(self._cap, 1)}, allowed=0)."
            )
        self._episodes = 0
        self._violations = 0
        self._undecided = 0
        self._skipped = 0
        self._decision: ScreenDecision | None = None

    @property
    def cap(self) -> int:
        """Most episodes it runs."""
        return self._cap

    @property
    def allowed(self) -> int:
        """Most violated or undecided episodes with which it passes."""
        return self._allowed

    @property
    def episodes(self) -> int:
        """Episodes run up to the decision, skipped and doubtful ones included."""
        return self._episodes

    @property
    def violations(self) -> int:
        """Violated episodes up to the decision."""
        return self._violations

    @property
    def undecided(self) -> int:
        """Undecided episodes up to the decision; they count like violations."""
        return self._undecided

    @property
    def skipped(self) -> int:
        """Skipped and doubtful episodes up to the decision."""
        return self._skipped

    @property
    def decision(self) -> ScreenDecision | None:
        """Latched: "passed", "failed", or None while it runs."""
        return self._decision

    def update(self, outcome: Outcome | Status) -> ScreenDecision | None:
        """Add one episode, in index order, and return the decision; ignored once decided."""
        read = read_outcome(outcome)
        if self._decision is None:
            self._episodes += 1
            self._violations += read == "violated"
            self._undecided += read == "undecided"
            self._skipped += read in ("skipped", "doubtful")
            if self._violations + self._undecided > self._allowed:
                self._decision = "failed"
            elif self._episodes == self._cap:
                self._decision = "passed"
        return self._decision

    def update_each(self, outcomes: Iterable[Outcome | Status]) -> ScreenDecision | None:
        """Add episodes in index order and return the decision."""
        for outcome in read_outcomes(outcomes):
            self.update(outcome)
        return self._decision

    def text(self) -> str:
        """One line that says what happened, and that it claims nothing."""
        bad = self._violations + self._undecided
        aside = f", {self._skipped} without the condition" if self._skipped else ""
        return (
            f"screen {self._decision or 'open'}: {bad} of {self._episodes} failed or undecided "
            f"(at most {self._allowed} of {self._cap} allowed){aside}; makes no claim"
        )
