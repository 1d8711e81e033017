"""`safegym audit remove`: remove an artifact on purpose, with a tombstone in the log."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import Exit, err, out, print_json, shown, working


def remove(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    artifact: Annotated[str, typer.Argument(help="Its path in the run, as the log names it.")],
    why: Annotated[str, typer.Option("--why", help="Why it is removed, for the record.")],
    who: Annotated[str | None, typer.Option("--who", help="Default: your user name.")] = None,
    at_cost: Annotated[
        bool, typer.Option("--at-cost", help="Remove it although evidence rests on it.")
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", help="The run's private key (PEM). Default: your own."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Remove an artifact and record who did it and why; verifying is then incomplete, not broken.

    What evidence rests on is refused with what its removal costs, unless --at-cost is given.
    """
    from safegym.audit import tombstones
    from safegym.audit.sign import load_signer

    signer = None if key_file is None else load_signer(key_file)
    with working(f"reading {run}", quiet=as_json):
        found = tombstones.removal_of(run, artifact)
    if found.cost and not at_cost and not found.recorded:
        if as_json:
            print_json({**found.to_json(), "removed": False})
        else:
            out.print(f"not removed: {shown(artifact)} has a cost", soft_wrap=True)
            for line in found.cost:
                out.print(f"  - {shown(line)}", soft_wrap=True)
            err.print("safegym: if that is meant, run it again with --at-cost.")
        raise typer.Exit(Exit.BAD_INPUT)
    with working(f"removing from {run}", quiet=as_json):
        done = tombstones.remove(run, artifact, why=why, who=who, at_cost=at_cost, signer=signer)
    if as_json:
        print_json({**done.to_json(), "removed": True})
        return
    for name in done.files:
        out.print(f"removed   {shown(name)}", soft_wrap=True)
    out.print(f"tombstone record {done.record}: {shown(why)}", soft_wrap=True)
    for line in done.cost:
        out.print(f"cost      {shown(line)}", soft_wrap=True)
    out.print("safegym audit verify is from now on incomplete by this tombstone, not broken")
