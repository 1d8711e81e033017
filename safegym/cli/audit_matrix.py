"""`safegym audit matrix`: hazard x claim x verdict x evidence, with suspect links."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.audit_exporting import (
    AsJson,
    Fast,
    Keys,
    Run,
    dossier_of,
    ended,
    tell_cautions,
    write_to,
)
from safegym.cli.console import out, plain_table, print_json, shown

if TYPE_CHECKING:
    from safegym.audit.exports import Dossier
    from safegym.audit.exports.suspect import Today


def matrix(
    run: Run,
    to: Annotated[
        Path | None, typer.Option("--out", help="Write it as .csv, or as a page, .html.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            help="Compare with this installed scenario and its claims as they are now.",
        ),
    ] = None,
    key: Keys = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Verify a run and trace hazards to claims, verdicts and the records of their evidence.

    A link is suspect where the claim or the scenario changed after its evidence, or where something
    that the evidence rests on is missing.
    Exit status: 0 every link is sound and a policy is released on every claim, 1 a claim is
    refuted, 3 anything between.
    """
    from safegym.audit.exports.matrix import matrix_csv, matrix_json
    from safegym.audit.exports.page import matrix_page

    if to is not None and to.suffix.lower() not in (".csv", ".html"):
        raise typer.BadParameter(f"{to}: name a .csv file, or a page, .html")
    today = None if scenario is None else _today(scenario)
    dossier = dossier_of(run, key, fast=fast, quiet=as_json, today=today)
    if to is not None:
        csv = to.suffix.lower() == ".csv"
        write_to(to, matrix_csv(dossier).encode("utf-8") if csv else matrix_page(dossier))
    if as_json:
        print_json(matrix_json(dossier))
    else:
        _tell(dossier, today)
        if to is not None:
            out.print(f"written to {shown(to)}", soft_wrap=True)
    ended(dossier)


def _today(name: str) -> "Today":
    """Claims and scenario as installed now."""
    from safegym.audit.exports.suspect import Today
    from safegym.scenario.registry import find

    spec = find(name)
    claims = {claim.id: claim.digest for claim in spec.claims}
    return Today(f"the installed {name}", claims, spec.digest)


def _tell(dossier: "Dossier", today: "Today | None") -> None:
    from safegym.audit.exports.matrix import rows_of

    table = plain_table(f"hazards, claims and evidence: {shown(dossier.name)}")
    for heading in ("hazard", "claim", "verdict", "evidence", "record", "link"):
        table.add_column(heading, overflow="fold")
    rows = rows_of(dossier)
    for row in rows:
        one = row.standing
        record = "" if one.record is None else str(one.record.index)
        table.add_row(
            shown(f"{row.hazard or 'none named'}{f' ({one.severity})' if one.severity else ''}"),
            shown(f"{one.claim.id}: {one.claim.statement}"),
            shown(row.verdict),
            shown(one.verdict.text),
            record,
            _link(row.link),
        )
    out.print(table)
    for reason in dict.fromkeys(reason for row in rows for reason in row.standing.suspect):
        about = [row.standing.claim.id for row in rows if reason in row.standing.suspect]
        which = "every claim" if len(about) == len(rows) > 1 else ", ".join(about)
        out.print(f"suspect: {shown(which)}: {shown(reason)}", soft_wrap=True)
    if today is None:
        out.print(
            "Links were looked at inside this log alone; to compare with what is installed now: "
            f"--scenario {shown(dossier.story.scenario)}",
            soft_wrap=True,
        )
    tell_cautions(dossier)


def _link(link: str) -> Text:
    return {
        "sound": Text("→ sound", "green"),
        "suspect": Text("⚠ suspect", "yellow"),
    }.get(link, Text("- none"))
