"""`safegym audit changed`: what changed since the last release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.audit_asked import AsJson, Fast, Key, ends, log_json, opened_at, print_log
from safegym.cli.console import Exit, out, plain_table, print_json, shown

if TYPE_CHECKING:
    from safegym.gate.answers.changed import Changes


def changed(
    earlier: Annotated[
        Path,
        typer.Argument(help="The run or bundle released before; alone: its last two releases."),
    ],
    later: Annotated[
        Path | None, typer.Argument(help="The run or bundle to compare with it.")
    ] = None,
    key: Key = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """Say what changed since a release, from claims and scenario to verdicts and versions.

    Exit status: 0 no verdict got worse, 1 one did or a claim is gone, 3 one of the two is not
    released, verdicts are not about the same claim and scenario, or a log is incomplete.
    """
    from safegym.gate.answers.changed import changes

    before = opened_at(earlier, key, None, fast=fast, quiet=as_json)
    after = None if later is None else opened_at(later, key, None, fast=fast, quiet=as_json)
    found = changes(before, after)
    logs = [each for each in (before, after) if each is not None]
    if as_json:
        print_json({**found.to_json(), "logs": [log_json(each) for each in logs]})
    else:
        _print(found)
        for each in logs:
            print_log(each)
    status = Exit.HOLDS if found.both_released and found.comparable else Exit.INCONCLUSIVE
    raise ends(Exit.VIOLATED if found.worse else status, *logs)


def _print(found: "Changes") -> None:
    from safegym.gate.answers.changed import AREAS

    out.print(f"before     {shown(found.before)}", soft_wrap=True)
    out.print(f"after      {shown(found.after)}", soft_wrap=True)
    same = [area for area in AREAS if not found.in_area(area)]
    if same:
        out.print(f"the same   {', '.join(same)}", soft_wrap=True)
    if not found.changes:
        out.print("nothing changed")
        return
    table = plain_table("what changed")
    for heading in ("", "what", "before", "after", "note"):
        table.add_column(heading, overflow="fold")
    for area in AREAS:
        for place, change in enumerate(found.in_area(area)):
            note = shown(change.note)
            worse = change.worse and area == "verdicts"
            table.add_row(
                Text("" if place else area, "bold"),
                shown(change.what),
                shown(change.before),
                Text(shown(change.after), "red" if change.worse else ""),
                Text("; ".join(filter(None, ("worse" if worse else "", note)))),
            )
    out.print(table)
