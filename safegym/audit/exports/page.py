"""The matrix and the clauses as pages: one HTML file each, no script, no network."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from safegym.audit.exports.clause_map import SAYS, ClauseMap, Found, indices_words
from safegym.audit.exports.matrix import rows_of
from safegym.audit.exports.standing import Dossier
from safegym.audit.report.templating import environment


def matrix_page(dossier: Dossier) -> bytes:
    """The traceability matrix as a page, in bytes."""
    rows = rows_of(dossier)
    suspect = sum(row.link == "suspect" for row in rows)
    return _rendered("matrix.html.j2", dossier, rows=rows, suspect=suspect)


def clauses_page(dossier: Dossier, found: Iterable[tuple[ClauseMap, Sequence[Found]]]) -> bytes:
    """Evidence for clauses as a page, in bytes. Each entry says whether a person checked it."""
    maps = list(found)
    clauses = [row.clause for _, rows in maps for row in rows]
    checked = sum(clause.checked_by is not None for clause in clauses)
    return _rendered(
        "clauses.html.j2",
        dossier,
        maps=maps,
        says=SAYS,
        total=len(clauses),
        checked=checked,
        indices=indices_words,
    )


def _rendered(name: str, dossier: Dossier, **values: Any) -> bytes:
    text: str = _environment().get_template(name).render(dossier=dossier, **values)
    return text.encode("utf-8")


@cache
def _environment() -> Environment:
    """The report's environment, with templates of this package before the report's."""
    own = PackageLoader("safegym.audit.exports", "templates")
    report = PackageLoader("safegym.audit.report", "templates")
    return environment().overlay(loader=ChoiceLoader([own, report]))
