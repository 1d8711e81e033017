"""What the commands that ask an audit trail have in common: verify first, then answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from safegym.cli.console import Exit, err, out, print_json, shown

if TYPE_CHECKING:
    from safegym.gate.answers.opened import Opened

Place = Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")]
Key = Annotated[
    list[Path] | None,
    typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
]
Pin = Annotated[
    str | None,
    typer.Option("--pin", help="What was noted earlier: checkpoints.txt, or SIZE:sha256:ROOT."),
]
Fast = Annotated[bool, typer.Option("--fast", help="Derive no verdict again; the answer says so.")]
SHOWN = 5
"""Missing things that are listed."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def opened_at(
    place: Path, key: Sequence[Path] | None, pin: str | None, *, fast: bool, quiet: bool
) -> "Opened":
    """The log at `place`, verified; a broken one ends the command with 1. Raises AuditError."""
    from safegym.audit.examine import read_pinned
    from safegym.audit.sign import keys_for
    from safegym.cli.audit_shown import verifying
    from safegym.gate.answers.opened import BrokenLog, open_log

    keys = keys_for(place, key or [])
    pinned = None if pin is None else read_pinned(pin)
    try:
        with verifying(place, fast=fast, quiet=quiet) as (progress, rederive):
            return open_log(place, keys=keys, rederive=rederive, pinned=pinned, progress=progress)
    except BrokenLog as error:
        _tell_broken(error, as_json=quiet)
        raise typer.Exit(Exit.VIOLATED) from error


def _tell_broken(error: Exception, *, as_json: bool) -> None:
    if as_json:
        told = {"type": type(error).__name__, "message": str(error), "exit": int(Exit.VIOLATED)}
        print_json({"error": told})
    else:
        err.print(f"safegym: {shown(error)}", soft_wrap=True)


def log_json(opened: "Opened") -> dict[str, Any]:
    """What was found of the log itself, for an answer in JSON."""
    report = opened.report
    return {
        "place": str(opened.place),
        "run": report.run,
        "result": report.result,
        "rederived": opened.rederived,
        "records": report.size,
        "root": report.root,
        "missing": list(report.missing),
        "warnings": list(report.warnings),
        "slice": None if report.slice is None else report.slice.about,
    }


def print_log(opened: "Opened", *, derived: str = "") -> None:
    """In a few lines what stands behind the answer. derived: what was derived again, in words."""
    report = opened.report
    kind = report.result if report.slice is None else f"{report.result} slice"
    words = derived or _derived(opened)
    out.print(f"log        {kind}; {words}; {report.size} records", soft_wrap=True)
    out.print(f"           root {report.root}", soft_wrap=True)
    for line in report.missing[:SHOWN]:
        out.print(f"missing    {shown(line)}", soft_wrap=True)
    if len(report.missing) > SHOWN:
        out.print(f"           and {len(report.missing) - SHOWN} more; see safegym audit verify")
    if report.slice is not None:
        out.print(
            "note       a slice: records that it leaves out may say otherwise", soft_wrap=True
        )


def _derived(opened: "Opened") -> str:
    if not opened.rederived:
        return "verdicts not derived again"
    whole = opened.report.steps[-1].result == "ok"
    return (
        "every verdict derived again" if whole else "verdicts derived again where traces are here"
    )


def answer(told: dict[str, Any], opened: "Opened") -> None:
    """Print an answer as JSON, with what stands behind it."""
    print_json({**told, "log": log_json(opened)})


def ends(status: Exit, *opened: "Opened") -> typer.Exit:
    """How a command ends: as it found, but never with 0 where a log is incomplete."""
    incomplete = any(each.report.result != "intact" for each in opened)
    return typer.Exit(Exit.INCONCLUSIVE if status is Exit.HOLDS and incomplete else status)
