"""`safegym audit rederive`: one verdict or bound derived again, beside what the log says."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.audit_asked import AsJson, Key, Pin, Place, answer, ends, opened_at, print_log
from safegym.cli.console import Exit, out, plain_table, shown, working

if TYPE_CHECKING:
    from safegym.gate.answers.derivation import Derived

SHOWN = 40
"""Rows of one record that are shown."""
LONGEST = 90
"""Characters of one value that are shown; --json has all."""


def rederive(
    run: Place,
    claim: Annotated[
        str | None, typer.Option("--claim", help="The claim (id): the evidence on it that counts.")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option("--attempt", help="With --claim: of this attempt.", min=0)
    ] = None,
    episode: Annotated[
        int | None,
        typer.Option("--episode", help="With --claim: the verdict on this episode.", min=0),
    ] = None,
    leaf: Annotated[
        int | None,
        typer.Option("--leaf", "--record", help="A record of the log, by its index.", min=0),
    ] = None,
    key: Key = None,
    pin: Pin = None,
    as_json: AsJson = False,
) -> None:
    """Derive one verdict, bound or proof again, and show it beside what the log says.

    Exit status: 0 it comes out as logged, 1 it does not, 3 its traces are missing.
    """
    from safegym.gate.answers.derived import derive

    if leaf is not None and (claim, attempt, episode) != (None, None, None):
        raise typer.BadParameter("--leaf names the record alone; leave the other options out")
    opened = opened_at(run, key, pin, fast=True, quiet=as_json)
    with working("deriving it again", quiet=as_json):
        found = derive(opened, claim=claim, attempt=attempt, episode=episode, leaf=leaf)
    if as_json:
        answer(found.to_json(), opened)
    else:
        _print(found)
        print_log(opened, derived="of its verdicts this one alone derived again")
    if found.missing:
        raise typer.Exit(Exit.INCONCLUSIVE)
    raise ends(Exit.HOLDS if found.same else Exit.VIOLATED, opened)


def _print(found: "Derived") -> None:
    table = plain_table(f"record {found.leaf}, {found.kind} on {shown(found.claim_id)}")
    for heading in ("field", "logged", "derived again", ""):
        table.add_column(heading, overflow="fold")
    ordered = sorted(found.rows, key=lambda row: row.same)
    for row in ordered[:SHOWN]:
        mark = Text("✔ same", "green") if row.same else Text("✘ differs", "red")
        table.add_row(shown(row.field), _cut(row.logged), _cut(row.again), mark)
    out.print(table)
    if len(ordered) > SHOWN:
        out.print(f"and {len(ordered) - SHOWN} more; see --json", soft_wrap=True)
    out.print(f"how        {shown(found.work)}", soft_wrap=True)
    if found.told:
        told = f"{', '.join(found.told)}: told by the run, derived from nothing"
        out.print(f"not again  {told}", soft_wrap=True)
    if found.missing:
        out.print(Text(f"missing    {shown(found.missing)}", "yellow"), soft_wrap=True)
        return
    if found.same:
        out.print(Text("it comes out as logged", "bold green"))
    else:
        out.print(Text("it does NOT come out as logged", "bold red"))


def _cut(text: str) -> str:
    shown_ = shown(text)
    return shown_ if len(shown_) <= LONGEST else f"{shown_[: LONGEST - 1]}…"
