"""`safegym audit waivers`: which claims were waived, by whom, until when, in force or not."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from safegym.cli.audit_asked import (
    AsJson,
    Fast,
    Key,
    Pin,
    Place,
    answer,
    ends,
    opened_at,
    print_log,
)
from safegym.cli.console import Exit, out, plain_table, shown

if TYPE_CHECKING:
    from safegym.gate.answers.waived import Waived

COLOURS = {"in force": "yellow", "expired": "dim", "replaced": "dim"}


def waivers(
    run: Place,
    on: Annotated[
        str | None,
        typer.Option("--on", help="As of the end of this day, or this time (UTC). Default: now."),
    ] = None,
    key: Key = None,
    pin: Pin = None,
    fast: Fast = False,
    as_json: AsJson = False,
) -> None:
    """List every waiver of a log: claim, who, why, until when, in force or not, and the verdict.

    Exit status: 0 answered (also with none), 3 the log is incomplete.
    """
    from safegym.audit.trust_file import stamp
    from safegym.gate.answers.waived import waived

    at = None if on is None else _time(on)
    opened = opened_at(run, key, pin, fast=fast, quiet=as_json)
    found = waived(opened, at=at)
    if as_json:
        told = {"on": stamp(at or datetime.now(UTC)), "in_force": _in_force(found)}
        answer({**told, "waivers": [each.to_json() for each in found]}, opened)
        raise ends(Exit.HOLDS, opened)
    if found:
        out.print(_table(found, on))
    else:
        out.print("no claim was ever waived" if on is None else f"no claim was waived by {on}")
    print_log(opened)
    raise ends(Exit.HOLDS, opened)


def _in_force(found: "tuple[Waived, ...]") -> int:
    return sum(each.waiver.state == "in force" for each in found)


def _table(found: "tuple[Waived, ...]", on: str | None) -> Table:
    """Every waiver. on: the day or time that was asked about, None for now."""
    from safegym.gate.answers.changed import verdict_words

    force, then = _in_force(found), "now" if on is None else f"on {on}"
    count = f"{force} waiver{'s' * (force != 1)} in force of {len(found)} given"
    if on is not None:
        count = f"{then}: {count} by then"
    table = plain_table(f"{count}; a waiver turns no verdict")
    for heading in ("claim", then, "until", "who", "why", "given", "leaf", "evidence now"):
        table.add_column(heading, overflow="fold")
    for each in found:
        given = each.waiver
        table.add_row(
            shown(given.claim_id),
            Text(given.state, COLOURS[given.state]),
            shown(given.expiry),
            shown(given.who),
            shown(given.why),
            given.time[:10],
            str(given.record),
            shown(verdict_words(each.found)),
        )
    return table


def _time(text: str) -> datetime:
    """The time that was asked about: of a day, its last second. Raises typer.BadParameter."""
    from safegym.audit.schema import DATE
    from safegym.audit.trust_file import read_stamp

    try:
        if DATE.match(text) is None:
            raise ValueError(text)
        when = read_stamp(text)
        return when if "T" in text else when + timedelta(days=1, seconds=-1)
    except ValueError as error:
        raise typer.BadParameter(
            f"{shown(text)!r} is not a date. Write --on 2027-01-31, or 2027-01-31T12:00:00Z (UTC)."
        ) from error
