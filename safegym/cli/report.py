"""`safegym report`: one HTML file that shows what a run showed."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import out, print_json


def report(
    run: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    to: Annotated[
        Path | None, typer.Option("--out", help="The page to write; default RUN/report.html.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write the report of a run: one HTML file, no script, no network."""
    from safegym.audit.report import write_report

    page = write_report(run, to or run / "report.html")
    if as_json:
        print_json({"report": str(page), "bytes": page.stat().st_size})
    else:
        out.print(f"report written to {page}")
