"""What exporting commands of `safegym audit` share: verify first, write, and the exit status."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.console import Exit, err, out, shown, working
from safegym.errors import RunFolderError

if TYPE_CHECKING:
    from safegym.audit.exports import Dossier
    from safegym.audit.exports.suspect import Today
    from safegym.audit.rederive import Rederive

Run = Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")]
Keys = Annotated[
    list[Path] | None,
    typer.Option("--key", help="Trusted public key of the run (PEM). Default: your own key."),
]
Fast = Annotated[bool, typer.Option("--fast", help="Derive no verdict again; the export says so.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
To = Annotated[Path | None, typer.Option("--out", help="The file to write; default: print it.")]


def dossier_of(
    run: Path,
    keys: Sequence[Path] | None,
    *,
    fast: bool,
    quiet: bool,
    today: "Today | None" = None,
) -> "Dossier":
    """Verify a run, and read it for an export.

    Of a broken log nothing is exported: says where it broke, and ends the command with 1. Raises
    AuditError for a log that cannot be looked at.
    """
    from safegym.audit.exports import open_dossier
    from safegym.audit.report.integrity import BrokenLog
    from safegym.audit.sign import keys_for

    rederive = None if fast else _rederive()
    with working(f"verifying {shown(run)}", quiet=quiet):
        try:
            found = keys_for(run, keys or ())
            return open_dossier(run, keys=found, rederive=rederive, today=today)
        except BrokenLog as error:
            err.print(f"safegym: {shown(error)}", soft_wrap=True)
            raise typer.Exit(Exit.VIOLATED) from error


def _rederive() -> "Rederive":
    from safegym.gate.rederive import rederive

    return rederive


def exit_status(dossier: "Dossier") -> Exit:
    """0: released on whole, unsuspected evidence. 1: a claim is refuted. 3: anything else."""
    if any(standing.result == "violated" for standing in dossier.standings):
        return Exit.VIOLATED
    whole = dossier.released and dossier.story.closed
    held = all(standing.supported for standing in dossier.standings)
    return Exit.HOLDS if whole and held else Exit.INCONCLUSIVE


def ended(dossier: "Dossier") -> None:
    """End the command with its exit status."""
    status = exit_status(dossier)
    if status is not Exit.HOLDS:
        raise typer.Exit(status)


def tell_cautions(dossier: "Dossier") -> None:
    """What a reader has to know first."""
    for caution in dossier.cautions:
        out.print(f"note: {shown(caution)}", soft_wrap=True)


def write_to(target: Path, data: bytes) -> None:
    """Write the file whole or not at all. Raises RunFolderError."""
    from safegym.audit.report.write import write_bytes

    try:
        write_bytes(target, data)
    except RunFolderError as error:
        raise RunFolderError(str(error).replace("The report ", "The file ", 1)) from error
