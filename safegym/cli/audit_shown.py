"""How `safegym audit` shows a verification: a bar while it goes on, then steps and result."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from safegym.audit.bundle import Reporter
from safegym.audit.rederive import Rederive
from safegym.audit.verify import STEPS
from safegym.audit.verify_report import VerifyReport
from safegym.cli.console import err, out, plain_table, shown

SHOWN = 8
"""Details of one step that the table shows."""
Told = Callable[[int, str], None]


@contextmanager
def verifying(place: Path, *, fast: bool, quiet: bool) -> Generator[tuple[Told, Rederive | None]]:
    """A bar on standard error, and what tells it: of the steps, and of records derived again."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    hidden = quiet or not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=hidden) as bars:
        steps = bars.add_task(f"verifying {shown(place)}", total=len(STEPS))

        def told(number: int, name: str) -> None:
            bars.update(steps, completed=number - 1, description=f"step {number} of 8: {name}")

        def derived(done: int, total: int) -> None:
            share = done / max(1, total)
            bars.update(steps, completed=len(STEPS) - 1 + share)

        if fast:
            yield told, None
            return
        from safegym.gate.rederive import rederive

        yield told, partial(rederive, progress=derived)


def print_report(title: str, report: VerifyReport) -> None:
    """Steps, remarks and the result, for people."""
    table = plain_table(shown(title))
    for heading in ("", "step", "result", "detail"):
        table.add_column(heading, overflow="fold")
    for step in report.steps:
        table.add_row(str(step.number), step.name, step.result, shown(_few(step.details)))
    out.print(table)
    for warning in report.warnings:
        out.print(f"note: {shown(warning)}", soft_wrap=True)
    colour = {"intact": "green", "broken": "red", "incomplete": "yellow"}[report.result]
    held = f"{report.size} records"
    if report.slice is not None:
        held = f"{report.size} of {report.slice.of} records"
    tree = f"  {held}, root {report.root or 'not reached'}"
    out.print(Text.assemble((report.words, f"bold {colour}"), tree), soft_wrap=True)


def _few(details: Sequence[str]) -> str:
    more = len(details) - SHOWN
    return "\n".join([*details[:SHOWN], *([f"and {more} more"] if more > 0 else [])])


def reporter() -> Reporter:
    """Writes the report that goes into a bundle, verified with the keys you trust if they fit."""

    def write(run: Path, page: Path) -> object:
        from safegym.audit.read import read_log
        from safegym.audit.report import write_report
        from safegym.audit.sign import trusted_keys
        from safegym.errors import AuditError
        from safegym.gate.rederive import rederive

        records = read_log(run)
        try:
            keys = trusted_keys(())
        except AuditError:  # no key of one's own: the page says that nobody vouches for the run's
            return write_report(run, page, rederive=rederive)
        signer = records[0].actor if records else ""
        fits = any(key.keyid == signer for key in keys)
        return write_report(run, page, keys=keys if fits else (), rederive=rederive)

    return write
