"""`safegym report`: one HTML file that shows what a run showed; two runs compared; many listed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.console import Exit, err, out, print_json, shown

if TYPE_CHECKING:
    from safegym.cli import report_pages


def report(
    run: Annotated[
        list[Path],
        typer.Argument(
            help="A run folder, or a bundle (.zip); two with --compare; any number, or folders of "
            "runs, with --index.",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The page to write; default RUN/report.html, BUNDLE.html, and compare.html or "
            "index.html here.",
        ),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
    ] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Write PDF/A-3b, with the evidence attached as JSON.")
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="One page that compares two runs.")
    ] = False,
    index: Annotated[
        bool, typer.Option("--index", help="One page that lists the runs in these folders.")
    ] = False,
    fast: Annotated[
        bool, typer.Option("--fast", help="Derive no verdict again; the page says so.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option("--serve", help="Show the run, or a folder of runs, while it goes on."),
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", help="With --serve: 0 for any free one; default 8731.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Verify a run and write its report: one HTML file, no script, no network.

    Ends with 0; with 1 for a log that is broken (the page says where, and nothing else); with 3
    for one from which something is missing.
    """
    if sum((pdf, compare, index, live)) > 1:
        raise typer.BadParameter("use one of --pdf, --compare, --index and --serve")
    if live:
        if to is not None:
            raise typer.BadParameter("--serve writes no file; leave --out or --serve out")
        from safegym.cli.report_serve import PORT, serve

        serve(_one(run), PORT if port is None else port, key or [], as_json=as_json)
        return
    if port is not None:
        raise typer.BadParameter("--port goes with --serve: safegym report RUN --serve --port 8800")
    from safegym.cli import report_pages

    asked = report_pages.Asked(to, tuple(key or ()), fast=fast, quiet=as_json)
    if compare:
        written = report_pages.comparison(_two(run), asked)
    elif index:
        written = report_pages.overview(run, asked)
    else:
        with err.status("verifying the run and drawing its report"):
            written = report_pages.single(_one(run), asked, pdf=pdf)
    _tell(written, as_json=as_json)


def _one(runs: list[Path]) -> Path:
    if len(runs) != 1:
        raise typer.BadParameter(
            f"{len(runs)} runs were given, one is shown; for several: safegym report --index "
            "FOLDER..., or --compare A B"
        )
    return runs[0]


def _two(runs: list[Path]) -> tuple[Path, Path]:
    if len(runs) != 2:
        raise typer.BadParameter(f"--compare takes two runs, {len(runs)} were given")
    return runs[0], runs[1]


def _tell(written: "report_pages.Written", *, as_json: bool) -> None:
    size = written.page.stat().st_size
    if as_json:
        print_json({"report": str(written.page), "bytes": size, **written.facts})
    else:
        for words in (*written.words, f"report written to {written.page}"):
            out.print(shown(words), soft_wrap=True)
    if written.exit is not Exit.HOLDS:
        raise typer.Exit(written.exit)


def write(run: Path, to: Path | None, keys: list[Path]) -> Path:
    """Write the report of a run or bundle, its verdicts derived again; returns the page."""
    from safegym.audit.report import write_report
    from safegym.audit.sign import keys_for
    from safegym.gate.rederive import rederive

    default = run.with_suffix(".html") if run.is_file() else run / "report.html"
    return write_report(run, to or default, keys=keys_for(run, keys), rederive=rederive)
