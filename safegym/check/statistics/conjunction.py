"""Several claims on the same episodes: all must pass, each at its own level."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.levels import joint_statement, release_level
from safegym.check.statistics.outcomes import Outcome, read_outcome
from safegym.check.statistics.statements import statement
from safegym.errors import EvidenceError
from safegym.verdict import Status


class Conjunction:
    """The e-processes of a release, by claim id, fed with one shared episode at a time.

    Satisfied when every claim's process has decided "below", violated as soon as one has decided
    "above", inconclusive otherwise. A claim that has decided takes no more episodes (they are its
    surplus) while the others go on. A false release needs some false claim to pass, so its
    probability is at most `level`, the largest of the claims' own (intersection-union).
    Raises EvidenceError without any claim.
    """

    __slots__ = ("_processes",)

    def __init__(self, processes: Mapping[str, EProcess]) -> None:
        if not processes:
            raise EvidenceError(
                "A conjunction needs at least one claim: there is nothing to release."
            )
        self._processes = MappingProxyType(dict(processes))

    @property
    def processes(self) -> Mapping[str, EProcess]:
        """The e-process of each claim, by id."""
        return self._processes

    @property
    def level(self) -> float:
        """Level of the whole release."""
        return release_level(float(process.level) for process in self._processes.values())

    @property
    def status(self) -> Status:
        """satisfied, violated or inconclusive, as the class says."""
        decisions = {process.decision for process in self._processes.values()}
        if "above" in decisions:
            return "violated"
        return "satisfied" if decisions == {"below"} else "inconclusive"

    def update(self, outcomes: Mapping[str, Outcome | Status]) -> Status:
        """Add one episode's outcome for every claim, in index order; return the status.

        Raises EvidenceError, and counts nothing, if a claim is missing or unknown.
        """
        if outcomes.keys() != self._processes.keys():
            raise EvidenceError(
                f"An episode needs an outcome for each of {sorted(self._processes)}, "
                f"got {sorted(outcomes)}."
            )
        read = {name: read_outcome(outcome) for name, outcome in outcomes.items()}
        for name, process in self._processes.items():
            process.update(
                violations=int(read[name] == "violated"), undecided=int(read[name] == "undecided")
            )
        return self.status

    def futile(self, cap: int) -> bool:
        """Whether some claim can no longer pass within `cap` episodes in all."""
        return any(process.futile(cap) for process in self._processes.values())

    def statements(self, *, attempt: int = 0) -> Mapping[str, str]:
        """The statement of each claim, by id."""
        return {name: statement(p, attempt=attempt) for name, p in self._processes.items()}

    def joint_statement(self) -> str:
        """What may be said of all claims together, given how they stand."""
        levels = [float(process.level) for process in self._processes.values()]
        return joint_statement(levels, "release" if self.status == "satisfied" else "one at a time")

    def state(self) -> dict[str, Any]:
        """Everything, as a JSON value. `Conjunction.from_state` reads it back."""
        return {name: process.state() for name, process in self._processes.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The conjunction as it was at `state()`. Raises EvidenceError if it is malformed."""
        return cls({name: EProcess.from_state(part) for name, part in state.items()})
