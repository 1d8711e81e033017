"""`safegym audit`: check a run's audit trail, or pack it for a reviewer."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from safegym.cli.console import Exit, out, plain_table, print_json, shown, working

app = typer.Typer(help="Verify or export an audit trail.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(help="A run folder, or a bundle (.zip).")],
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
    ] = None,
    pin: Annotated[
        Path | None,
        typer.Option("--pin", help="A checkpoint noted earlier: a copy of its checkpoints.txt."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check signatures, tree, digests and references, and derive every verdict again."""
    from safegym.audit.examine import read_pinned
    from safegym.audit.sign import keys_for
    from safegym.audit.verify import verify as verify_bundle
    from safegym.gate.rederive import rederive

    keys = keys_for(bundle, key or [])
    if not as_json and not key:
        out.print("no --key given: trusting your own default key")
    with working(f"verifying {bundle}", quiet=as_json):
        pinned = None if pin is None else read_pinned(pin)
        report = verify_bundle(bundle, keys=keys, rederive=rederive, pinned=pinned)
    if as_json:
        print_json(report.to_json())
    else:
        table = plain_table(str(bundle))
        for heading in ("step", "result", "detail"):
            table.add_column(heading, overflow="fold")
        for step in report.steps:
            table.add_row(step.name, step.result, shown("\n".join(step.details)))
        out.print(table)
        for warning in report.warnings:
            out.print(f"note: {shown(warning)}", soft_wrap=True)
        colour = {"intact": "green", "broken": "red", "incomplete": "yellow"}[report.result]
        tree = f"  {report.size} records, root {report.root or 'not reached'}"
        out.print(Text.assemble((report.result, f"bold {colour}"), tree), soft_wrap=True)
    raise typer.Exit(
        {"intact": Exit.HOLDS, "broken": Exit.VIOLATED, "incomplete": Exit.INCONCLUSIVE}[
            report.result
        ]
    )


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    to: Annotated[Path, typer.Option("--out", help="The bundle to write (.zip).")],
    as_json: AsJson = False,
) -> None:
    """Pack a run's audit trail into one file that a reviewer can verify offline."""
    from safegym.audit.bundle import export as export_bundle

    export_bundle(run, to)
    if as_json:
        print_json({"bundle": str(to), "bytes": to.stat().st_size})
    else:
        out.print(f"{to} ({to.stat().st_size / 2**20:.1f} MiB)", soft_wrap=True)
        out.print(
            f"check it anywhere with: safegym audit verify {to} --key KEY.pub.pem", soft_wrap=True
        )
