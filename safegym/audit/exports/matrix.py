"""The traceability matrix: hazard x claim x verdict x evidence leaf, suspect links marked."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from safegym.audit.exports.standing import Dossier, Standing
from safegym.audit.exports.told import claim_json, run_json
from safegym.audit.report.figures import visible

HEADINGS = (
    *(
        "hazard",
        "severity",
        "claim",
        "statement",
        "claim digest",
        "verdict",
        "evidence",
        "in words",
    ),
    *("record", "leaf", "waiver", "link", "why suspect"),
)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for a formula."""


@dataclass(frozen=True, slots=True)
class Row:
    """One claim under its hazard. link: "sound", "suspect", or "none" without evidence."""

    hazard: str
    standing: Standing

    @property
    def link(self) -> str:
        """Whether the evidence is still about this claim in this scenario."""
        if self.standing.record is None:
            return "none"
        return "suspect" if self.standing.suspect else "sound"

    @property
    def verdict(self) -> str:
        """The verdict; of a waived claim that it is waived, and what the verdict stays."""
        result = self.standing.result
        return f"waived ({result})" if self.standing.waiver else result


def rows_of(dossier: Dossier) -> tuple[Row, ...]:
    """A row for each claim, hazards together in the order in which claims name them first."""
    order: dict[str, list[Standing]] = {}
    for standing in dossier.standings:
        order.setdefault(standing.hazard, []).append(standing)
    return tuple(Row(hazard, one) for hazard, group in order.items() for one in group)


def matrix_csv(dossier: Dossier) -> str:
    """The matrix as CSV (RFC 4180), a heading line first. No cell can act as a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADINGS)
    for row in rows_of(dossier):
        writer.writerow(_cell(value) for value in _values(row))
    return text.getvalue()


def matrix_json(dossier: Dossier) -> dict[str, Any]:
    """The matrix as JSON: what it is of, and a row for each claim."""
    rows = [
        {**claim_json(row.standing), "verdict": row.verdict, "link": row.link}
        for row in rows_of(dossier)
    ]
    return {**run_json(dossier), "rows": rows}


def _values(row: Row) -> Iterator[str]:
    one, record = row.standing, row.standing.record
    yield from (row.hazard, one.severity, one.claim.id, one.claim.statement, one.claim.digest)
    yield from (row.verdict, one.evidence_kind, one.verdict.text)
    yield from ("", "") if record is None else (str(record.index), record.digest)
    yield from (one.waiver.words if one.waiver else "", row.link, "; ".join(one.suspect))


def _cell(value: str) -> str:
    shown = visible(value)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown
