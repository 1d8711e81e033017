"""`safegym audit pin`: what to note of a log, so that it cannot be cut back unseen."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import Exit, out, print_json, working


def pin(
    run: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Verify a log and print its last signed size and root: note them somewhere else.

    Exit status: 0 there is a checkpoint, 1 the log is broken, 3 it has none yet.
    """
    from safegym.audit.sign import keys_for
    from safegym.audit.verify import verify
    from safegym.digest import PREFIX

    with working(f"verifying {run}", quiet=as_json):
        report = verify(run, keys=keys_for(run, key or []))
    if report.broken is not None or not report.checkpoints:
        broken = report.broken
        told = "it has no signed checkpoint yet"
        if broken is not None:
            told = f"step {broken.number}, {broken.name}, is broken; nothing of it is worth noting"
        if as_json:
            print_json({"pin": None, "result": report.result, "reason": told})
        else:
            out.print(f"no pin for {run}: {told}", soft_wrap=True)
        raise typer.Exit(Exit.INCONCLUSIVE if broken is None else Exit.VIOLATED)
    last = report.checkpoints[-1]
    noted = f"{last.size}:{PREFIX}{last.root.hex()}"
    signer = report.records[0].actor if report.records else ""
    if as_json:
        print_json(
            {"pin": noted, "run": report.run, "key": signer, "note": last.note(), "result": "ok"}
        )
        return
    out.print(f"pin    {noted}", soft_wrap=True)
    out.print(f"run    {report.run}", soft_wrap=True)
    out.print(f"key    {signer}", soft_wrap=True)
    out.print("Note the pin where the run's owner cannot change it, and later check with:")
    out.print(f"  safegym audit verify {run} --pin {noted}", soft_wrap=True)
