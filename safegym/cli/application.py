"""The `safegym` command: one sub-command a file, errors in words, fixed exit codes."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from safegym.cli import (
    audit,
    bank,
    blend,
    certify,
    check,
    claims,
    distil,
    falsify,
    keys,
    policy,
    prove,
    record,
    report,
    scenarios,
    train,
)
from safegym.cli.console import Exit, err, print_json, shown
from safegym.errors import PolicyUnavailableError, SafegymError
from safegym.version import __version__

SIGINT_STATUS = 130
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
    """Exit status: 0 the claim holds, 1 it is violated, 2 bad input, 3 inconclusive.

    With --json, standard output holds one JSON value, also on errors:
    {"error": {"type", "message", "exit"}}.
    """


app.add_typer(scenarios.app, name="scenarios")
app.add_typer(claims.app, name="claims")
app.add_typer(audit.app, name="audit")
app.add_typer(bank.app, name="bank")
app.add_typer(policy.app, name="policy")
app.add_typer(keys.app, name="keys")
app.add_typer(blend.app, name="blend")
app.command("record")(record.record)
app.command("check")(check.check)
app.command("train")(train.train)
app.command("certify")(certify.certify)
app.command("falsify")(falsify.falsify)
app.command("prove")(prove.prove)
app.command("distil")(distil.distil)
app.command("report")(report.report)


def main() -> None:
    """Run the command line and exit with its status."""
    words = sys.argv[1:]
    debug = "--debug" in words  # accepted anywhere on the line
    try:
        status = run([word for word in words if word != "--debug"], debug=debug)
        sys.stdout.flush()
    except BrokenPipeError:
        status = _unread()
    sys.exit(status)


def run(words: Sequence[str], *, debug: bool = False) -> int:
    """Run one command line; returns its exit status.

    Raises BrokenPipeError where nobody reads the output any more. Every other failure says why on
    standard error (with --json also as an object on standard output). None ends with the status of
    a violated claim.
    """
    as_json = "--json" in words
    try:
        status: Any = app(args=list(words), prog_name="safegym", standalone_mode=False)
    except SystemExit as gone:  # what typer makes of a broken pipe
        raise BrokenPipeError from gone
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, typer.Abort):
        status = SIGINT_STATUS
    except PolicyUnavailableError as error:  # what had begun can go on later
        return _failed(type(error).__name__, str(error), Exit.INCONCLUSIVE, as_json)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _failed(type(error).__name__, _explained(error), Exit.BAD_INPUT, as_json)
    if status == SIGINT_STATUS:
        return _failed("Interrupted", "stopped by Ctrl-C.", Exit.INCONCLUSIVE, as_json)
    return int(status or 0)


def _explained(error: Exception) -> str:
    """What a person should read of an error."""
    if isinstance(error, SafegymError):
        return str(error)
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        line = "" if context is None else f" See: {context.command_path} --help"
        said = str(usage()).rstrip(".")
        return f"{said}.{line}" if said else ""
    if isinstance(error, OSError):
        about = "" if error.filename is None else f"{error.filename}: "
        return f"{about}{error.strerror or error}."
    return (
        f"internal error, {type(error).__name__}: {error}. This is a fault of safegym: run again "
        "with --debug, and report what it shows."
    )


def _failed(kind: str, message: str, status: Exit, as_json: bool) -> int:
    if message:  # a command without words has printed its help
        err.print(Text.assemble(("safegym: ", "red"), shown(message)), soft_wrap=True)
    if as_json:
        print_json({"error": {"type": kind, "message": message, "exit": int(status)}})
    return int(status)


def _unread() -> int:
    """Whoever reads our output has gone; nothing more can be said to anybody."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(Exit.INCONCLUSIVE)
