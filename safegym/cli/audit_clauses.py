"""`safegym audit clauses`: evidence for clauses of standards and laws. It judges none of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.audit_exporting import (
    AsJson,
    Fast,
    Keys,
    dossier_of,
    ended,
    tell_cautions,
    write_to,
)
from safegym.cli.console import out, plain_table, print_json, shown

if TYPE_CHECKING:
    from safegym.audit.exports.clause_map import ClauseMap, Found


def clauses(
    run: Annotated[
        Path | None, typer.Argument(help="A run folder, or a bundle (.zip); none lists the maps.")
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option("--map", help="A map by name, or a file of your own (.json); default: all."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--out", help="Write a page, .html.")] = None,
    key: Keys = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Verify a run and list, clause by clause, which of its records are evidence for it.

    Whether a clause is met is a judgement over people, process and product; none is made here.
    Exit status: 0 a policy is released on every claim, 1 a claim is refuted, 3 anything between.
    """
    from safegym.audit.exports import clause_map
    from safegym.audit.exports.page import clauses_page
    from safegym.audit.exports.told import run_json

    chosen = [clause_map.load_map(name) for name in maps or clause_map.map_names()]
    if run is None:
        _list(chosen, as_json=as_json)
        return
    if to is not None and to.suffix.lower() != ".html":
        raise typer.BadParameter(f"{to}: name a page, .html")
    dossier = dossier_of(run, key, fast=fast, quiet=as_json)
    found = [(one, clause_map.evidence_for(dossier, one)) for one in chosen]
    if to is not None:
        write_to(to, clauses_page(dossier, found))
    if as_json:
        listed = [clause_map.map_json(one, rows) for one, rows in found]
        print_json({**run_json(dossier), "says": clause_map.SAYS, "maps": listed})
        ended(dossier)
        return
    for one, rows in found:
        _tell(one, rows)
    out.print(clause_map.SAYS, soft_wrap=True)
    tell_cautions(dossier)
    if to is not None:
        out.print(f"written to {shown(to)}", soft_wrap=True)
    ended(dossier)


def _list(maps: "list[ClauseMap]", *, as_json: bool) -> None:
    if as_json:
        print_json([{"name": m.name, "title": m.title, "edition": m.edition} for m in maps])
        return
    table = plain_table("clause maps")
    for heading in ("map", "standard", "edition", "clauses", "checked"):
        table.add_column(heading, overflow="fold")
    for one in maps:
        read = sum(clause.checked_by is not None for clause in one.clauses)
        checked = f"{read} of {len(one.clauses)} by a person"
        table.add_row(
            shown(one.name), shown(one.title), shown(one.edition), str(len(one.clauses)), checked
        )
    out.print(table)


def _tell(clauses: "ClauseMap", rows: "tuple[Found, ...]") -> None:
    from safegym.audit.exports.clause_map import indices_words

    table = plain_table(f"Evidence for {shown(clauses.title)} ({shown(clauses.edition)})")
    for heading in ("evidence for clause", "on", "records of this log", "not in any log", "map"):
        table.add_column(heading, overflow="fold")
    for found in rows:
        held = [f"{name}: {indices_words(where)}" for name, where in found.records.items()]
        held += [f"{name}: none" for name in found.missing]
        clause = found.clause
        table.add_row(
            shown(clause.clause),
            shown(clause.subject),
            "\n".join(held) or "nothing of it can be in a log",
            shown(clause.lacks),
            shown(clause.checked),
        )
    out.print(table)
