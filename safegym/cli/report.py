"""`safegym report`: one HTML file that shows what a run showed."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import err, out, print_json


def report(
    run: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    to: Annotated[
        Path | None,
        typer.Option("--out", help="The page to write; default RUN/report.html, BUNDLE.html."),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Verify a run and write its report: one HTML file, no script, no network."""
    with err.status("verifying the run and drawing its report"):
        page = write(run, to, key or [])
    if as_json:
        print_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        out.print(f"report written to {page}", soft_wrap=True)


def write(run: Path, to: Path | None, keys: list[Path]) -> Path:
    """Write the report of a run or bundle, its verdicts derived again; returns the page."""
    from safegym.audit.report import write_report
    from safegym.audit.sign import keys_for
    from safegym.gate.rederive import rederive

    default = run.with_suffix(".html") if run.is_file() else run / "report.html"
    return write_report(run, to or default, keys=keys_for(run, keys), rederive=rederive)
