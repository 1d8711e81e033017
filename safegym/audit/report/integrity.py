"""What the report itself has checked of the log, and what it has not."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safegym.audit import layout
from safegym.audit.limits import Limits
from safegym.audit.rederive import Rederive
from safegym.audit.references import named_artifacts
from safegym.audit.sign import LARGEST_KEY_FILE, PublicKey, parse_key
from safegym.audit.source import open_source
from safegym.audit.verify import verify
from safegym.audit.verify_report import Step, VerifyReport
from safegym.errors import AuditError

PDF = "report.pdf"
"""The report as PDF, beside the page."""
UNCOVERED = "The log does not cover"
UNDERIVED = "Verdicts were not re-derived"
UNPINNED = "No pinned checkpoint"


@dataclass(frozen=True, slots=True)
class Integrity:
    """The integrity box. trusted: the signatures were checked with keys that the caller trusts.

    derived: verdicts and evidence were derived again. missing, warnings: in words. uncovered: files
    that no record names. signed: who signed what: the run's key, and trusted
    cosignatures, reviews and time stamps.
    """

    run: str
    records: int
    root: str
    key: str
    trusted: bool
    derived: bool
    steps: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    warnings: tuple[str, ...]
    uncovered: tuple[str, ...]
    checkpoints: int
    command: str
    signed: tuple[str, ...] = ()


class UntrustedLog(AuditError):
    """A log that none of the trusted keys signed: what it says cannot be looked at with them."""


class BrokenLog(AuditError):
    """A log that does not verify. steps: (name, result) of each step that was looked at."""

    def __init__(self, message: str, *, step: str, steps: tuple[tuple[str, str], ...]) -> None:
        super().__init__(message, step=step)
        self.steps = steps


def examine(
    place: Path, out: Path | None, keys: Sequence[PublicKey], rederive: Rederive | None
) -> tuple[VerifyReport, Integrity]:
    """Verify the log, and say how far that goes.

    keys: those the caller trusts; without any, the run's own public key checks that the signatures
    fit together, which is no trust. Raises AuditError if anything is broken, naming the step.
    """
    report = verify(place, keys=keys or [own_key(place)], rederive=rederive)
    if report.broken is not None:
        raise _refusal(place, report, report.broken, keys)
    if report.slice is not None:
        raise AuditError(
            f"{place.name} is a slice about {report.slice.about}: it holds some records of a log, "
            "and a report is of a whole run. Look at it with: " + verify_command(place),
            step="format",
        )
    if not report.records:
        raise AuditError(f"{place.name} holds no whole record to report on.", step="format")
    box = Integrity(
        run=report.run,
        records=report.size,
        root=report.root,
        key=report.records[0].actor,
        trusted=bool(keys),
        derived=rederive is not None,
        steps=tuple((step.name, step.result) for step in report.steps),
        missing=report.missing,
        warnings=tuple(
            warning
            for warning in report.warnings
            if not warning.startswith((UNCOVERED, UNDERIVED, UNPINNED))
        ),
        uncovered=tuple(_uncovered(place, out, report)),
        checkpoints=len(report.checkpoints),
        command=verify_command(place),
        signed=next((step.details for step in report.steps if step.name == "signatures"), ()),
    )
    return report, box


def _refusal(
    place: Path, report: VerifyReport, broken: Step, keys: Sequence[PublicKey]
) -> AuditError:
    """Why no report is written: another signer than those trusted, or a broken log."""
    words = (
        f"{place.name} does not verify, so no report is written: step {broken.number} "
        f"({broken.name}): {broken.detail}"
    )
    signers = {record.actor for record in report.records[:1]}
    if keys and broken.name == "signatures" and not signers & {key.keyid for key in keys}:
        return UntrustedLog(f"{words} Name the signer's key: --key KEY.pub.pem", step=broken.name)
    steps = tuple((step.name, step.result) for step in report.steps)
    return BrokenLog(words, step=broken.name, steps=steps)


def verify_command(place: Path) -> str:
    """The line that verifies a run or bundle again."""
    return f"safegym audit verify {shlex.quote(place.name or '.')} --key KEY.pem"


def own_key(place: Path) -> PublicKey:
    """The public key that lies in the run. It proves nothing about who signed.

    Raises AuditError if there is none.
    """
    source = open_source(place, Limits())
    try:
        if not source.has(layout.PUBLIC_KEY):
            raise AuditError(
                f"{place.name} holds no {layout.PUBLIC_KEY} to look at its signatures with; "
                'pass the signer\'s key: write_report(run, out, keys=[read_key("KEY.pem")]).',
                step="signatures",
            )
        return parse_key(source.read(layout.PUBLIC_KEY, LARGEST_KEY_FILE))
    finally:
        source.close()


def _uncovered(place: Path, out: Path | None, report: VerifyReport) -> Iterable[str]:
    """Files beside the log that no live record names; earlier reports and `out` are left out."""
    named = {
        artifact["artifact"]
        for record in report.records
        if record.index not in report.superseded
        for artifact in named_artifacts(record.payload)
    }
    source = open_source(place, Limits())
    try:
        names = source.names()
    finally:
        source.close()
    for name in names:
        own = name in (*layout.OWN, layout.REPORT, PDF) or (out is not None and place / name == out)
        if name not in named and not own:
            yield name
