"""Certificates of a proof: written, and checked at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safegym.check.neural.certificate import CheckReport, check_certificate, write_certificate
from safegym.check.neural.outcome import SearchOutcome
from safegym.check.neural.problem import Problem
from safegym.check.neural.proof.result import Certificate
from safegym.errors import UnsupportedError


def folder_for(folder: Path, part: int, parts: int) -> Path:
    """Where the certificate of one part of the region goes."""
    return folder if parts == 1 else folder / f"part-{part + 1}"


def check_folder(folder: Path) -> None:
    """Before any work: a folder that is new or empty. Raises UnsupportedError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UnsupportedError(
            f"The certificate's folder {folder} is there already and not empty; name a new one."
        )
    if not folder.absolute().parent.is_dir():
        raise UnsupportedError(f"There is no folder {folder.parent} to put a certificate into.")


def certify_all(
    folder: Path,
    problems: Sequence[Problem],
    outcomes: Sequence[SearchOutcome],
    *,
    text: str,
    policy_digest: str,
    limits: Mapping[str, Any],
) -> tuple[Certificate, ...]:
    """One certificate a part, each read again by the checker; what failed is said, not hidden."""
    named = {name: str(value) for name, value in limits.items() if value is not None}
    found: list[Certificate] = []
    for part, (problem, outcome) in enumerate(zip(problems, outcomes, strict=True)):
        report = write_certificate(
            folder_for(folder, part, len(problems)),
            problem,
            outcome,
            claim_text=text,
            policy_digest=policy_digest,
            limits=named,
        )
        accepted = report.result == "CERTIFIED" and report.check is not None
        statement = "" if report.check is None else report.check.statement_sha256
        reason = "" if accepted else report.reason
        found.append(Certificate(report.folder, accepted, reason, report.seconds, statement))
    return tuple(found)


def check_all(folder: Path) -> tuple[CheckReport, ...]:
    """What the certificate in a folder proves, one report a part of the region.

    Raises CertificateError for one that does not hold, UnsupportedError for a folder without any.
    """
    if not folder.is_dir():
        raise UnsupportedError(f"There is no certificate folder {folder}.")
    parts = sorted(each for each in folder.glob("part-*") if each.is_dir())
    return tuple(check_certificate(each) for each in parts or [folder])
