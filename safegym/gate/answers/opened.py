"""A log that was verified before anything is said from it."""

import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safegym.audit.artifacts import PIECE, digest_stream
from safegym.audit.examine import Pinned
from safegym.audit.limits import Limits
from safegym.audit.record import AuditRecord
from safegym.audit.rederive import Rederive
from safegym.audit.sign import PublicKey
from safegym.audit.source import open_source
from safegym.audit.verify import Progress, verify
from safegym.audit.verify_report import VerifyReport
from safegym.errors import AuditError
from safegym.formula.claim import Claim


class BrokenLog(AuditError):
    """The log does not verify, so nothing that it says counts."""


@dataclass(frozen=True)
class Opened:
    """A run folder or bundle whose log is not broken.

    rederived: whether every verdict was derived again from its traces.
    """

    place: Path
    report: VerifyReport
    rederived: bool

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """All records, superseded ones too; of a slice, those that it has."""
        return self.report.records

    @cached_property
    def by_index(self) -> Mapping[int, AuditRecord]:
        """Index in the log -> record."""
        return {record.index: record for record in self.records}

    @cached_property
    def live(self) -> tuple[AuditRecord, ...]:
        """The records that no resumption set aside."""
        gone = self.report.superseded
        return tuple(record for record in self.records if record.index not in gone)

    @property
    def sealed(self) -> int:
        """Records under the last signed checkpoint."""
        checkpoints = self.report.checkpoints
        return checkpoints[-1].size if checkpoints else 0

    def first(self, kind: str) -> Mapping[str, Any]:
        """The payload of the first live record of a kind; {} without one."""
        return next((r.payload for r in self.live if r.kind == kind), {})

    @cached_property
    def claims(self) -> Mapping[str, Mapping[str, Any]]:
        """Claim id -> its entry in the registration: id, text, digest, and mostly claim."""
        return {entry["id"]: entry for entry in self.first("spec_registered").get("claims", ())}

    def claim(self, claim_id: str) -> Claim:
        """The registered claim. Raises AuditError if it is not there, or as text alone."""
        entry = self.claims.get(claim_id)
        if entry is None:
            known = ", ".join(self.claims) or "none"
            raise AuditError(f"The log registers no claim {claim_id!r}; its claims are: {known}.")
        if "claim" not in entry:
            raise AuditError(f"The log holds the text of claim {claim_id} alone, not the claim.")
        return Claim.from_json(entry["claim"])

    def readable(self, claim_id: str) -> bool:
        """Whether the log holds the claim itself, and not its text alone."""
        return "claim" in self.claims.get(claim_id, {})

    def stated(self, claim_id: str, name: str) -> str:
        """A word of the claim: its statement, hazard, source or severity; "" where it has none."""
        told = self.claims.get(claim_id, {}).get("claim", {})
        return str(told.get(name) or "") if isinstance(told, dict) else ""

    def refuse_slice(self, question: str) -> None:
        """Raise AuditError if this is a slice, which cannot answer the question."""
        if self.report.slice is not None:
            raise AuditError(
                f"{self.place} is a slice about {self.report.slice.about}: it cannot show "
                f"{question}, since a later record may be left out of it. Ask for the whole bundle."
            )


def open_log(
    place: Path,
    *,
    keys: Iterable[PublicKey],
    rederive: Rederive | None = None,
    pinned: Pinned | None = None,
    progress: Progress | None = None,
) -> Opened:
    """Verify a run folder or bundle; arguments as in `audit.verify.verify`.

    Raises BrokenLog where it is broken, naming the step, AuditError where a later version wrote it.
    """
    report = verify(place, keys=keys, rederive=rederive, pinned=pinned, progress=progress)
    broken = report.broken
    if broken is not None:
        raise BrokenLog(
            f"The log of {place} is broken at step {broken.number}, {broken.name}: "
            f"{broken.detail.rstrip('.')}. Nothing that it says counts; see: "
            f"safegym audit verify {place}",
            step=broken.name,
        )
    if any(step.name == "references" and step.result == "skipped" for step in report.steps):
        raise AuditError(
            f"A later version of safegym wrote the log of {place}, so this one cannot say what it "
            "means. Ask with the version that wrote it.",
            step="references",
        )
    return Opened(place, report, rederived=report.steps[-1].result != "skipped")


@contextmanager
def unpacked(opened: Opened, artifacts: Iterable[Mapping[str, Any]]) -> Generator[Path]:
    """A folder with these artifacts, each checked by digest; missing ones are left out.

    Of a bundle they are copied out for as long as the context lasts. Raises AuditError where one
    is not the file that the log names.
    """
    source = open_source(opened.place, Limits())
    try:
        with tempfile.TemporaryDirectory(prefix="safegym-ask-") as name:
            folder = Path(name)
            for artifact in artifacts:
                path = str(artifact["artifact"])
                target = folder / path
                if not source.has(path) or target.exists():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with source.open(path) as file, target.open("xb") as copy:
                    while piece := file.read(PIECE):
                        copy.write(piece)
                with target.open("rb") as file:
                    digest, _ = digest_stream(file)
                if digest != artifact["digest"]:
                    raise AuditError(
                        f"{path} is not the file that the log names.", step="artifacts"
                    )
            yield folder
    finally:
        source.close()
