"""How far a distillation has come, and which student is the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass

from safegym.errors import PolicyError
from safegym.gate.distill.taught import Round
from safegym.policy.base import Policy


@dataclass(slots=True)
class Progress:
    """rounds: those that ended. best: number of the best, from 0, and its student. newest: the
    student that leads the next round.
    """

    rounds: list[Round]
    best: int = 0
    student: Policy | None = None
    newest: Policy | None = None

    def add(self, student: Policy, ended: Round, bars: Sequence[float]) -> None:
        """One more round, and its student. bars: the teachers' mean returns."""
        self.rounds.append(ended)
        self.newest = student
        if self.student is None or _rank(ended, bars) < _rank(self.rounds[self.best], bars):
            self.best, self.student = len(self.rounds) - 1, student

    @property
    def chosen(self) -> Policy:
        """The best student. Raises PolicyError before the first round."""
        if self.student is None:
            raise PolicyError("No round has ended, so there is no student yet.")
        return self.student


def _rank(ended: Round, bars: Sequence[float]) -> tuple[int, float]:
    """Violations of all claims on all scenarios, then the return that is missing.

    The latter in multiples of each teacher's own return, so that scenarios with large rewards do
    not decide alone. With one teacher this is the order of its returns.
    """
    missing = (
        (bar - own) / (abs(bar) or 1.0) for bar, own in zip(bars, ended.returned, strict=True)
    )
    return sum(ended.violations), sum(missing)
