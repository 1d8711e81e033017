"""Findings kept as files: a picture of each witness, and the witness itself as a trace."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from safegym.check.explanation.explain import explain
from safegym.check.symbolic.finding import Finding, SpecificationReport
from safegym.errors import RunFolderError, SafegymError
from safegym.formula.claim import Claim
from safegym.formula.nodes import all_of
from safegym.trace.model import Trace

LONGEST_NAME = 80


def write_pictures(
    report: SpecificationReport, claims: Mapping[str, Claim], folder: str | Path
) -> list[Path]:
    """Writes one SVG for each witness: its claims' signals, and why the answer is what it is.

    claims: by id. Raises RunFolderError where a file cannot be written.
    """
    return [
        _write(path.with_suffix(".svg"), picture(finding, trace, claims))
        for path, finding, trace in _witnesses(report, folder)
    ]


def write_traces(report: SpecificationReport, folder: str | Path) -> list[Path]:
    """Writes each witness as a trace (JSON), for `safegym check`. Raises RunFolderError."""
    return [
        _write(path.with_suffix(".json"), trace.to_text())
        for path, _, trace in _witnesses(report, folder)
    ]


def picture(finding: Finding, trace: Trace, claims: Mapping[str, Claim]) -> str:
    """A finding's witness as SVG: all of its claims at once where they can be drawn so."""
    named = [claims[each] for each in finding.claims if each in claims]
    title = f"{finding.question}: {finding.answer}"
    if len(named) > 1:
        try:
            together = all_of(claim.property for claim in named)
            return explain(Claim(id="together", statement=together), trace).svg
        except SafegymError:
            pass  # shares of time or roundings that differ: the first claim is drawn
    if not named:
        raise SafegymError(f"{title}: its claims {', '.join(finding.claims)} were not given.")
    drawn = Claim(id=named[0].id, statement=named[0].property, rounding=named[0].rounding)
    return explain(drawn, trace).svg


def _witnesses(
    report: SpecificationReport, folder: str | Path
) -> Iterator[tuple[Path, Finding, Trace]]:
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be made: {error.strerror or error}.") from error
    for number, finding in enumerate(report.findings, 1):
        if finding.witness is not None:
            name = f"{number:02}-{finding.question}-{finding.claims[0] if finding.claims else ''}"
            plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:LONGEST_NAME]
            yield place / f"{plain}.x", finding, finding.witness


def _write(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path
