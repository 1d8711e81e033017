"""`safegym audit waive`: accept a gap in the evidence for one claim, until a date."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import out, print_json, shown, working


def waive(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    claim: Annotated[str, typer.Option("--claim", help="The claim's id.")],
    why: Annotated[str, typer.Option("--why", help="Why the gap is accepted, for the record.")],
    until: Annotated[
        str,
        typer.Option(
            "--until", help="YYYY-MM-DD (to the end of that day, UTC), ...THH:MM:SSZ, or: now."
        ),
    ],
    who: Annotated[str | None, typer.Option("--who", help="Default: your user name.")] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", help="The run's private key (PEM). Default: your own."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Record that a person accepts a gap in the evidence for a claim, until a date.

    It turns no verdict: the claim is then waived, not satisfied. "--until now" ends a waiver.
    """
    from safegym.audit.sign import load_signer
    from safegym.audit.waivers import waive as record

    signer = None if key_file is None else load_signer(key_file)
    with working(f"checking {run}", quiet=as_json):
        given = record(run, claim, why=why, until=until, who=who, signer=signer)
    if as_json:
        print_json(given.to_json())
        return
    if until == "now":
        out.print(f"{shown(claim)}: no longer waived (record {given.record})", soft_wrap=True)
    else:
        out.print(f"{shown(claim)}: {shown(given.words)} (record {given.record})", soft_wrap=True)
        out.print("its verdict stays what it was")
