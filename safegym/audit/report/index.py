"""A page over many runs: what each came to, and which of them do not verify."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from safegym.audit import layout
from safegym.audit.rederive import Rederive
from safegym.audit.report import wording
from safegym.audit.report.drawing import read_run
from safegym.audit.report.figures import counted, short, spaced
from safegym.audit.report.integrity import UntrustedLog
from safegym.audit.report.templating import environment
from safegym.audit.sign import PublicKey
from safegym.errors import AuditError, SafegymError

DEEP = 4
"""Folders are searched for runs so deep."""
MOST = 2_000
"""Runs on one page at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run. state: "broken", "open", "incomplete" or "whole". report: address, "" for none."""

    name: str
    state: str
    scenario: str
    headline: str
    policy: str
    claims: tuple[wording.ClaimVerdict, ...]
    counts: str
    last: str
    report: str
    detail: str

    @property
    def rank(self) -> int:
        """Where it stands: what is broken first, what is whole last."""
        return ("broken", "incomplete", "open", "whole").index(self.state)


def runs_in(folders: Iterable[Path]) -> list[Path]:
    """Run folders and bundles: those named, and those found below a folder, in order.

    A folder with a log is a run. Links are not followed. Raises AuditError for what is not there.
    """
    found: dict[Path, None] = {}
    for place in folders:
        if not place.exists():
            raise AuditError(f"There is no run folder or bundle {place}.", step="bounded reads")
        for run in [place] if place.is_file() else _below(place, DEEP):
            found.setdefault(run)
    return list(found)[:MOST]


def _below(folder: Path, deep: int) -> Iterator[Path]:
    if (folder / layout.LOG).is_file():
        yield folder
        return
    if deep == 0:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from _below(Path(entry.path), deep - 1)


def index_page(
    runs: Sequence[Path],
    out: Path,
    *,
    keys: Callable[[Path], Sequence[PublicKey]],
    rederive: Rederive | None = None,
    at: datetime | None = None,
    told: Callable[[int], None] | None = None,
) -> tuple[bytes, list[str]]:
    """The page over these runs, each verified, and the names of the broken ones.

    out: where it will lie, for links to reports.
    keys: the trusted keys of a run. rederive, at: as in `write_report`; without the first the page
    says that no verdict was derived again. told: is called with the number of runs done.
    """
    rows: list[Row] = []
    for at_, run in enumerate(runs):
        rows.append(_row(run, out, keys, rederive, at))
        if told is not None:
            told(at_ + 1)
    rows.sort(key=lambda row: (row.rank, row.name))
    page: str = (
        environment()
        .get_template("index.html.j2")
        .render(rows=rows, derived=rederive is not None, most=MOST)
    )
    return page.encode("utf-8"), [row.name for row in rows if row.state == "broken"]


def _row(
    run: Path,
    out: Path,
    keys: Callable[[Path], Sequence[PublicKey]],
    rederive: Rederive | None,
    at: datetime | None,
) -> Row:
    name, report = _name(run, out), _report(run, out)
    try:
        _, story, box, _ = read_run(run, keys=keys(run), rederive=rederive, at=at)
    except SafegymError as error:
        step = getattr(error, "step", "")
        headline = f'BROKEN at step "{step}"' if step else "cannot be read"
        if isinstance(error, UntrustedLog):
            headline = "NOT TRUSTED: another key signed it"
        detail = short(str(error).replace(", so no report is written", ""), 300)
        return Row(name, "broken", "", headline, "", (), "", "", report, detail)
    outcome = wording.outcome_of(story, incomplete=bool(box.missing))
    state = "open" if not story.closed else "incomplete" if box.missing else "whole"
    counts = (
        f"{counted(len(story.epochs), 'epoch')}, {counted(len(story.attempts), 'attempt')}, "
        f"{spaced(box.records)} records"
    )
    trust = "" if box.trusted else "no trusted key"
    last = story.last_time[:16].replace("T", " ")
    return Row(
        name,
        state,
        story.scenario,
        outcome.headline,
        outcome.policy if outcome.certified else "",
        outcome.verdicts,
        counts,
        last,
        report,
        trust,
    )


def _name(run: Path, out: Path) -> str:
    """The run as seen from the page, or its own name where it lies elsewhere."""
    try:
        return Path(os.path.abspath(run)).relative_to(Path(os.path.abspath(out)).parent).as_posix()
    except ValueError:
        return Path(os.path.abspath(run)).name


def _report(run: Path, out: Path) -> str:
    """A relative address of the run's own report, "" where there is none below the page."""
    page = run.with_suffix(".html") if run.is_file() else run / layout.REPORT
    if not page.is_file():
        return ""
    try:
        below = Path(os.path.abspath(page)).relative_to(Path(os.path.abspath(out)).parent)
    except ValueError:
        return ""
    return "/".join(quote(part, safe="") for part in below.parts)
