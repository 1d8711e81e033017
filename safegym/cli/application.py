"""The `safegym` command: one sub-command a file, errors in words, fixed exit codes."""

import sys

import typer

from safegym.cli import audit, certify, check, claims, record, report, scenarios, train
from safegym.cli.console import Exit, err
from safegym.errors import SafegymError
from safegym.version import __version__

app = typer.Typer(
    name="safegym",
    help="Formal policy verification for safety-critical control reinforcement learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"safegym {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks of errors."),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Exit status: 0 the claim holds, 1 it is violated, 2 bad input, 3 inconclusive."""


app.add_typer(scenarios.app, name="scenarios")
app.add_typer(claims.app, name="claims")
app.add_typer(audit.app, name="audit")
app.command("record")(record.record)
app.command("check")(check.check)
app.command("train")(train.train)
app.command("certify")(certify.certify)
app.command("report")(report.report)


def main() -> None:
    """Run the command line. Deliberate refusals print their message and exit with 2."""
    debug = "--debug" in sys.argv
    if debug:  # accepted anywhere on the line
        sys.argv = [sys.argv[0], *(word for word in sys.argv[1:] if word != "--debug")]
    try:
        app()
    except SafegymError as error:
        if debug:
            raise
        err.print(f"[red]safegym:[/] {error}", soft_wrap=True)
        sys.exit(Exit.BAD_INPUT)
    except KeyboardInterrupt:
        if debug:
            raise
        err.print("[yellow]safegym:[/] stopped.")
        sys.exit(130)
