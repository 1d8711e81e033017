"""Certificates of a proof: written, and checked at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safegym.check.neural.certificate import (
    CertificateError,
    CheckReport,
    check_certificate,
    write_certificate,
)
from safegym.check.neural.outcome import SearchOutcome
from safegym.check.neural.problem import Problem
from safegym.check.neural.proof.result import Certificate
from safegym.errors import UnsupportedError

MARK = " (part {} of {} of the region)"
STATEMENT = "verdict.json"


def folder_for(folder: Path, part: int, parts: int) -> Path:
    """Where the certificate of one part of the region goes."""
    return folder if parts == 1 else folder / f"part-{part + 1}"


def text_of_part(text: str, part: int, parts: int) -> str:
    """The property, and which part of the region it is shown for; so none can go missing."""
    return text if parts == 1 else f"{text}{MARK.format(part + 1, parts)}"


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
            claim_text=text_of_part(text, part, len(problems)),
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

    Raises CertificateError for one that does not hold, or a part of a region that is missing;
    UnsupportedError for a folder without any.
    """
    if not folder.is_dir():
        raise UnsupportedError(f"There is no certificate folder {folder}.")
    if (folder / STATEMENT).exists():
        return (check_certificate(folder),)
    parts = sorted((each for each in folder.glob("part-*") if each.is_dir()), key=_number)
    if not parts:
        raise UnsupportedError(
            f"{folder} holds no certificate: neither {STATEMENT} nor folders part-1, part-2, ...; "
            "safegym prove --certificate writes one."
        )
    reports = tuple(check_certificate(each) for each in parts)
    _check_whole(folder, reports)
    return reports


def _number(folder: Path) -> tuple[int, str]:
    digits = folder.name.removeprefix("part-")
    return (int(digits) if digits.isascii() and digits.isdigit() else 0), folder.name


def _check_whole(folder: Path, reports: Sequence[CheckReport]) -> None:
    """Each part once, all of one claim, policy and semantics."""
    count, first = len(reports), reports[0]
    text = first.claim.removesuffix(MARK.format(1, count))
    for at, each in enumerate(reports):
        said = each.claim, each.policy, each.semantics
        if said != (text + MARK.format(at + 1, count), first.policy, first.semantics):
            raise CertificateError(
                f"The certificate in {folder} is refused: its {count} part(s) are not all the "
                f"parts of one region; {each.folder.name} says {each.claim[:200]!r}. Checked by "
                f"itself, {each.folder} proves that part alone."
            )
