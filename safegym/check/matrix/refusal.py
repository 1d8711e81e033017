"""What a backend refuses, and that its `support` says so beforehand."""

from collections.abc import Callable
from dataclasses import dataclass

from safegym.check.matrix.probes import Probe
from safegym.errors import FormulaError, SafegymError, UnsupportedError
from safegym.trace.episode import END_KINDS
from safegym.trace.model import EndKind
from safegym.verdict import Support

REFUSALS = (UnsupportedError, FormulaError, TypeError)


class MatrixError(SafegymError):
    """Two backends disagree, or one's `support` does not fit what it does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """word: what stands in the cell. reason: why not, where something is refused."""

    word: str
    reason: str = ""


def over_kinds(probe: Probe, said: Support, run: Callable[[EndKind], None]) -> Answer:
    """Runs a probe at every kind of end. Raises MatrixError where `said` does not fit."""
    refused: dict[EndKind, str] = {}
    for kind in END_KINDS:
        try:
            run(kind)
        except REFUSALS as error:
            refused[kind] = str(error)
    if said.ok and len(refused) == len(END_KINDS):
        raise MatrixError(f"`support` takes {probe.name}, but: {next(iter(refused.values()))}")
    if not said.ok:
        if len(refused) < len(END_KINDS):
            raise MatrixError(f"`support` refuses {probe.name}, but it runs: {said.reason}")
        return Answer("no", said.reason)
    if refused:
        reason = next(iter(refused.values()))
        return Answer("yes, not " + ", ".join(refused), reason)
    return Answer("yes")
