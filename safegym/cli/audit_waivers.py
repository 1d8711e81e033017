"""`safegym audit waivers`: which claims were waived, by whom, until when, in force or not."""

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

COLOURS = {"in force": "yellow", "expired": "dim", "replaced": "dim"}


def waivers(
    run: Place, key: Key = None, pin: Pin = None, fast: Fast = False, as_json: AsJson = False
) -> None:
    """List every waiver of a log: claim, who, why, until when, in force or not, and the verdict.

    Exit status: 0 answered (also with none), 3 the log is incomplete.
    """
    from safegym.gate.answers.changed import verdict_words
    from safegym.gate.answers.waived import waived

    opened = opened_at(run, key, pin, fast=fast, quiet=as_json)
    found = waived(opened)
    force = sum(each.waiver.state == "in force" for each in found)
    if as_json:
        answer({"in_force": force, "waivers": [each.to_json() for each in found]}, opened)
        raise ends(Exit.HOLDS, opened)
    if not found:
        out.print("no claim was ever waived")
    else:
        count = f"{force} waiver{'s' * (force != 1)} in force of {len(found)} given"
        table = plain_table(f"{count}; a waiver turns no verdict")
        for heading in ("claim", "now", "until", "who", "why", "given", "leaf", "evidence"):
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
        out.print(table)
    print_log(opened)
    raise ends(Exit.HOLDS, opened)
