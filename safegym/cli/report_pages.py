"""What `safegym report` writes: one run's page or PDF, a comparison, an index."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from safegym.audit.rederive import Rederive
from safegym.cli.console import Exit, err, shown, working
from safegym.errors import AuditError

if TYPE_CHECKING:
    from safegym.audit.report.drawing import Drawing


@dataclass(frozen=True, slots=True)
class Asked:
    """Options that all pages share. to: the file to write, None for the default."""

    to: Path | None
    keys: tuple[Path, ...]
    fast: bool = False
    quiet: bool = False

    @property
    def rederive(self) -> Rederive | None:
        """What derives verdicts again, None if that was not asked for."""
        if self.fast:
            return None
        from safegym.gate.rederive import rederive

        return rederive


@dataclass(frozen=True, slots=True)
class Written:
    """A page that was written. facts: for JSON; words: lines for people."""

    page: Path
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    words: tuple[str, ...] = ()
    exit: Exit = Exit.HOLDS


def single(run: Path, asked: Asked, *, pdf: bool) -> Written:
    """One run's page or PDF. Of a broken log the page says where it broke, and nothing else.

    Raises AuditError, and writes nothing, if another key signed the log than those trusted.
    """
    from safegym.audit.report.drawing import drawing_of
    from safegym.audit.report.integrity import UntrustedLog
    from safegym.audit.report.write import page_of, write_broken, write_bytes
    from safegym.audit.sign import keys_for

    ending = ".pdf" if pdf else ".html"
    beside = run.with_suffix(ending) if run.is_file() else run / f"report{ending}"
    target, keys = asked.to or beside, keys_for(run, asked.keys)
    try:
        found = drawing_of(run, target, keys=keys, rederive=asked.rederive)
    except UntrustedLog:
        raise
    except AuditError as error:
        if not _is_log(run):
            raise
        page = write_broken(run, target.with_suffix(".html") if pdf else target, error)
        detail = str(error).replace(", so no report is written", "")
        words = ["the page says so, and nothing else"]
        words += ["no PDF is made of a broken log"] if pdf else []
        facts = {"result": "broken", "step": error.step, "detail": detail}
        return Written(page, facts, (f"BROKEN: {detail}", *words), Exit.VIOLATED)
    content = _pdf(found) if pdf else page_of(found)
    return Written(write_bytes(target, content), *_state(found))


def _is_log(run: Path) -> bool:
    """Whether there is a log that can be broken, rather than nothing to read at all."""
    from safegym.audit import layout

    log = run / layout.LOG
    return run.is_file() or (log.is_file() and log.stat().st_size > 0)


def _pdf(found: "Drawing") -> bytes:
    from safegym.audit.report.pdf import pdf_of

    return pdf_of(found)


def _state(found: "Drawing") -> tuple[dict[str, Any], tuple[str, ...], Exit]:
    """What a whole log comes to: JSON, words, and the exit status."""
    from safegym.audit.report.evidence import evidence_of

    told = evidence_of(found.records, found.story, found.box, found.drawn.unread)
    del told["rests_on"]
    words: list[str] = []
    if not found.story.closed:
        words.append("this run is not closed: it still goes on, or it was broken off")
    if found.box.missing:
        words.append(f"incomplete: {'; '.join(found.box.missing[:3])}")
    words += [f"{item.claim_id}: {item.words}" for item in found.story.waivers]
    result = "incomplete" if found.box.missing else "intact"
    status = Exit.INCONCLUSIVE if found.box.missing else Exit.HOLDS
    return {"result": result, **told}, tuple(words), status


def comparison(runs: tuple[Path, Path], asked: Asked) -> Written:
    """The page that compares two runs."""
    from safegym.audit.report.compare import compare
    from safegym.audit.report.write import write_bytes
    from safegym.audit.sign import keys_for

    with working("verifying and comparing two runs", quiet=asked.quiet):
        page = compare(
            *runs, keys=lambda place: keys_for(place, asked.keys), rederive=asked.rederive
        )
    target = write_bytes(asked.to or Path("compare.html"), page)
    return Written(target, {"runs": [str(run) for run in runs]})


def overview(places: Sequence[Path], asked: Asked) -> Written:
    """The page over every run in these folders."""
    from safegym.audit.report.index import index_page, runs_in
    from safegym.audit.report.write import write_bytes
    from safegym.audit.sign import keys_for

    target = asked.to or Path("index.html")
    runs = runs_in(places)
    if not runs:
        raise AuditError(
            f"No run lies in {', '.join(str(place) for place in places)}: a run is a folder with a "
            "log.jsonl. Name a folder of runs: safegym report --index RUNS",
            step="bounded reads",
        )
    with _counting(len(runs), quiet=asked.quiet) as told:
        page, broken = index_page(
            runs,
            target,
            keys=lambda run: keys_for(run, asked.keys),
            rederive=asked.rederive,
            told=told,
        )
    facts = {"runs": len(runs), "broken": broken}
    verb = "does" if len(broken) == 1 else "do"
    words = (f"{len(broken)} of {len(runs)} runs {verb} not verify: {', '.join(broken)}",)
    return Written(
        write_bytes(target, page),
        facts,
        words if broken else (f"{len(runs)} of {len(runs)} runs verify",),
        Exit.VIOLATED if broken else Exit.HOLDS,
    )


@contextmanager
def _counting(number: int, *, quiet: bool) -> Generator[Callable[[int], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    hidden = quiet or not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=hidden) as bars:
        task = bars.add_task(shown("verifying runs"), total=number)

        def told(done: int) -> None:
            bars.update(task, completed=done)

        yield told
