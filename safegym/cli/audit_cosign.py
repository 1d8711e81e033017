"""`safegym audit cosign`: a second key signs a checkpoint of somebody's log."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import out, print_json, shown, working


def cosign(
    run: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    key_file: Annotated[
        Path | None, typer.Option("--key-file", help="The second private key (PEM).")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--as", help="Name on the signature line, such as example.org/ann."),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key of the run (PEM). Default: your own key."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Write the note here instead of into the run."),
    ] = None,
    take: Annotated[
        Path | None,
        typer.Option("--take", help="Take in a note that a cosigner sent: NOTE.txt."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Verify a log, then sign its last checkpoint with a second key.

    In a run folder the signature line joins checkpoints.txt. From a bundle the note goes to a file
    (--out), which the run's owner takes in with --take.
    """
    from safegym.audit import cosign as cosigning
    from safegym.audit.sign import keys_for, load_signer
    from safegym.errors import AuditError

    if take is not None:
        with working(f"reading {run}", quiet=as_json):
            note = cosigning.take_note(run, cosigning.read_note(take))
        _told(run, note.size, [line.name for line in note.signatures[1:]], as_json=as_json)
        return
    if key_file is None or name is None:
        raise AuditError("Say with which key and under which name: --key-file K.pem --as NAME")
    if to is None and not run.is_dir():
        raise AuditError(f"{run} is no run folder: write the note to a file with --out NOTE.txt")
    with working(f"verifying {run}", quiet=as_json):
        done = cosigning.cosign(
            run, name=name, signer=load_signer(key_file), keys=keys_for(run, key or [])
        )
        if to is None:
            cosigning.take_note(run, done.checkpoint)
    if to is not None:
        to.write_text(done.checkpoint.note(), encoding="utf-8")
    if not as_json:
        out.print(f"verified   {done.report.result}, verdicts not derived again")
        for line in done.report.missing:
            out.print(f"  {shown(line)}", soft_wrap=True)
    _told(to or run, done.checkpoint.size, [name], as_json=as_json)


def _told(place: Path, size: int, names: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"written": str(place), "size": size, "cosigned": names})
        return
    out.print(f"cosigned   {size} records by {shown(', '.join(names))}", soft_wrap=True)
    out.print(f"written    {place}", soft_wrap=True)
    if place.is_file():
        out.print(f"the run's owner takes it in: safegym audit cosign RUN --take {place}")
