"""Where commands print: tables for people, JSON for machines, and the exit codes."""

import json
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from safegym.verdict import Evidence, Status, Verdict

WIDE = 120
"""Columns where the output is not a terminal."""
out = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)
err = Console(
    markup=False, highlight=False, stderr=True, width=None if sys.stderr.isatty() else WIDE
)
_TURNING = (0x061C, 0x200B, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070))
_CODES = (*range(32), *range(127, 160), *_TURNING, 0xFEFF, *range(0xE0000, 0xE0080))
_UNSEEN = {code: "\N{REPLACEMENT CHARACTER}" for code in _CODES}
"""Characters of control, of direction and without a width, which text from outside must not send
to a terminal: they let one line read as another."""
_ESCAPED = {code: json.dumps(chr(code))[1:-1] for code in _CODES if code > 126}
"""The same as JSON escapes them; those below 32 it escapes itself."""
del _UNSEEN[ord("\n")], _UNSEEN[ord("\t")]


class Exit(IntEnum):
    """What a command's exit status says."""

    HOLDS = 0
    VIOLATED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3


def exit_of(statuses: Iterable[Status]) -> Exit:
    """The exit status of several judgements: the worst of them."""
    seen = set(statuses)
    if "violated" in seen:
        return Exit.VIOLATED
    return Exit.INCONCLUSIVE if "inconclusive" in seen or not seen else Exit.HOLDS


def print_json(value: Any) -> None:
    """One JSON value on standard output. Infinities become the strings "inf" and "-inf"."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    print(text.translate(_ESCAPED))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


MARKS = {
    "satisfied": Text("✔ satisfied", "green"),
    "violated": Text("✘ violated", "red"),
    "inconclusive": Text("? inconclusive", "yellow"),
}


def shown(text: object) -> str:
    """Text as a terminal may have it: control and direction characters replaced."""
    return str(text).translate(_UNSEEN)


@contextmanager
def working(what: str, *, quiet: bool = False) -> Generator[None]:
    """Show on standard error that something takes its time, where that is a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    hidden = quiet or not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=hidden) as bars:
        bars.add_task(what, total=None)
        yield


def plain_table(title: str) -> Table:
    """A table as all commands draw it."""
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)


def verdict_table(title: str, verdicts: Iterable[Verdict]) -> Table:
    """Verdicts of one trace."""
    table = plain_table(title)
    for heading in ("claim", "verdict", "robustness", "decided at", "by"):
        table.add_column(heading, overflow="fold")
    for verdict in verdicts:
        table.add_row(verdict.claim_id, MARKS[verdict.status], *_verdict_cells(verdict))
    return table


def _verdict_cells(verdict: Verdict) -> tuple[str, str, str]:
    robustness, witness = verdict.robustness, verdict.witness
    margin = "not defined" if robustness is None else _interval(robustness.lo, robustness.hi)
    if witness is None:
        return margin, "", "; ".join(verdict.notes)
    return margin, f"{witness.time:.13g} s", witness.subformula


def _interval(lo: float, hi: float) -> str:
    return f"{lo:.4g}" if lo == hi else f"[{lo:.4g}, {hi:.4g}]"


def evidence_table(title: str, evidence: Iterable[Evidence]) -> Table:
    """Evidence of one attempt: what was counted, what it shows, at which confidence."""
    table = plain_table(title)
    for heading in ("claim", "verdict", "kind of evidence", "episodes", "found", "bound"):
        table.add_column(heading, overflow="fold")
    for item in evidence:
        table.add_row(
            shown(item.claim_id),
            MARKS[item.status] if item.kind != "observed" else _observed(item),
            _kind(item),
            _episodes(item),
            _found(item),
            _bound(item),
        )
    return table


def strata_table(evidence: Iterable[Evidence]) -> Table | None:
    """Counts by stratum, a column a claim; None where no strata were declared."""
    listed = [item for item in evidence if item.strata and item.average is None]
    if not listed:
        return None
    table = plain_table("by stratum, observed: violated of episodes that count")
    for heading in ("stratum", "weight", *(item.claim_id for item in listed)):
        table.add_column(shown(heading), overflow="fold")
    for rows in zip(*(item.strata for item in listed), strict=True):
        table.add_row(shown(rows[0]["name"]), shown(rows[0]["weight"]), *map(_stratum, rows))
    return table


def _stratum(row: Mapping[str, Any]) -> str:
    undecided = f" + {row['undecided']} undecided" if row["undecided"] else ""
    skipped = f" ({row['skipped']} skipped)" if row["skipped"] else ""
    return f"{row['violations']}{undecided} of {row['episodes']}{skipped}"


def print_joint(evidence: Iterable[Evidence]) -> None:
    """Print what may be said of several estimates together, if there are any."""
    joint = next((item.joint for item in evidence if item.joint), "")
    if joint:
        out.print(f"  {shown(joint)}", soft_wrap=True)


def _observed(item: Evidence) -> Text:
    if item.status == "satisfied":
        return Text("○ held in all seen", "cyan")
    return MARKS[item.status]


def _kind(item: Evidence) -> str:
    if item.confidence is None:
        return item.kind
    from safegym.audit.report.figures import confidence_text

    return f"{item.kind} at {confidence_text(item.confidence)}"


def _episodes(item: Evidence) -> str:
    """Episodes that count, and those that a condition left out."""
    aside = []
    if item.skipped:
        aside.append(f"{item.skipped} skipped")
    if item.doubtful:
        aside.append(f"{item.doubtful} in doubt")
    return str(item.episodes) + (f" (+ {', '.join(aside)})" if aside else "")


def _found(item: Evidence) -> str:
    if item.average is not None:
        low, high = (f"{end:.4g}" for end in item.average)
        return f"mean {low}" if low == high else f"mean {low} to {high}"
    undecided = f" + {item.undecided} undecided" if item.undecided else ""
    return f"{item.violations} violated{undecided}"


def _bound(item: Evidence) -> str:
    if item.kind == "observed":
        return "none: observed only"
    if item.bound is None or item.threshold is None:
        return "none"
    from safegym.audit.report.figures import limit_sign, limit_text

    shows_upper = item.side == "upper"
    claims_upper = shows_upper != (item.status == "violated")
    limit = limit_text(item.bound, up=shows_upper, against=item.threshold)
    side, wanted = limit_sign(item), "<" if claims_upper else "≥"
    missed = "" if item.status != "inconclusive" else " (not shown)"
    return f"{side} {limit}, claimed {wanted} {item.threshold:g}{missed}"
