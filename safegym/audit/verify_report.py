"""What a verification found."""

from dataclasses import dataclass
from typing import Any, Literal

from safegym.audit.note import Checkpoint
from safegym.audit.record import AuditRecord

Result = Literal["intact", "broken", "incomplete"]
StepResult = Literal["ok", "broken", "incomplete", "skipped"]


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered step: its result, and what it found, in words."""

    number: int
    name: str
    result: StepResult
    details: tuple[str, ...] = ()

    @property
    def detail(self) -> str:
        """What it found, in one line."""
        return "; ".join(self.details)


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """What a slice is about, in words, and the size of the log that it was cut from, in records."""

    about: str
    of: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of `verify.verify`.

    result: intact (every step holds), broken (the first broken step says where) or incomplete
    (nothing contradicts, but something is missing). records: those that were read, superseded
    ones included. root: Merkle root over them, "sha256:...", "" if the tree was not reached.
    checkpoints: the signed ones, in order. superseded: indices that resumptions set aside.
    warnings: what a reviewer should know although nothing is broken. slice: what was verified is
    a slice of a log, which shows that its records stand there and no more; None for a whole log.
    """

    result: Result
    steps: tuple[Step, ...]
    records: tuple[AuditRecord, ...]
    root: str
    warnings: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    superseded: frozenset[int] = frozenset()
    run: str = ""
    slice: SliceFacts | None = None

    @property
    def size(self) -> int:
        """Number of records read."""
        return len(self.records)

    @property
    def words(self) -> str:
        """The result as people read it: also that it is a slice, or that step 8 was left out."""
        told = self.result if self.slice is None else f"{self.result} slice"
        derived = self.steps[-1].result != "skipped"
        return told if derived or self.result == "broken" else f"{told}, nothing derived again"

    @property
    def broken(self) -> Step | None:
        """The first broken step, or None."""
        return next((step for step in self.steps if step.result == "broken"), None)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is missing, in words."""
        return tuple(d for s in self.steps if s.result == "incomplete" for d in s.details)

    def to_json(self) -> dict[str, Any]:
        """The report without the records, for machines."""
        return {
            "result": self.result,
            "run": self.run,
            "records": len(self.records),
            "root": self.root,
            "steps": [
                {"number": s.number, "name": s.name, "result": s.result, "details": list(s.details)}
                for s in self.steps
            ],
            "warnings": list(self.warnings),
            **({} if self.slice is None else {"slice": _slice_json(self.slice)}),
        }

    def __bool__(self) -> bool:
        raise TypeError(
            "A verification has three results, so `if report:` is not defined. "
            'Write `if report.result == "intact":`.'
        )


def _slice_json(facts: SliceFacts) -> dict[str, Any]:
    return {"about": facts.about, "of": facts.of}
