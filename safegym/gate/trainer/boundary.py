"""The last epoch boundary of a run, as its folder keeps it (`last.json`)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from safegym.errors import RunFolderError
from safegym.gate.trainer.events import EpochReport
from safegym.gate.trainer.folder import LAST, RunFolder


@dataclass(frozen=True, slots=True)
class LastBoundary:
    """report: of the epoch that ended there. policies: epoch -> policy digest of its checkpoint."""

    report: EpochReport
    policies: Mapping[int, str]

    @property
    def epoch(self) -> int:
        """The epoch that ended there, 0 before the first."""
        return self.report.epoch

    def write(self, folder: RunFolder) -> None:
        """Put it into the run folder, durably."""
        plain = {k: value for k, value in asdict(self.report).items() if k != "checkpoint"}
        policies = {str(epoch): digest for epoch, digest in self.policies.items()}
        folder.write(LAST, {"epoch": self.epoch, "policies": policies, "report": plain})


def last_boundary(folder: RunFolder) -> LastBoundary | None:
    """The last boundary of a run, None before its first checkpoint.

    Raises RunFolderError when the file is malformed.
    """
    document = folder.read(LAST)
    if document is None:
        return None
    try:
        numbers: dict[str, Any] = document["report"]
        report = EpochReport(checkpoint=folder.checkpoint(int(document["epoch"])), **numbers)
        policies = {int(epoch): str(name) for epoch, name in document["policies"].items()}
        steps: Any = report.steps
        whole = isinstance(steps, int) and report.epoch == document["epoch"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _malformed(folder, repr(error)) from error
    if not whole:
        raise _malformed(folder, "its epoch or its steps are not those of a report")
    return LastBoundary(report, policies)


def _malformed(folder: RunFolder, why: str) -> RunFolderError:
    return RunFolderError(
        f"{folder.path / LAST} is malformed ({why}), so the run cannot go on from it; put back the "
        "file as the run wrote it, or start a new run with --out."
    )
