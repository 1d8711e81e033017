"""`safegym audit`: check a run's audit trail, or pack it for a reviewer."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.audit_changed import changed
from safegym.cli.audit_clauses import clauses
from safegym.cli.audit_cosign import cosign
from safegym.cli.audit_gsn import gsn
from safegym.cli.audit_junit import junit
from safegym.cli.audit_matrix import matrix
from safegym.cli.audit_pin import pin as pin_log
from safegym.cli.audit_rederive import rederive
from safegym.cli.audit_released import released
from safegym.cli.audit_remove import remove
from safegym.cli.audit_sign import sign
from safegym.cli.audit_statement import statement
from safegym.cli.audit_timestamp import timestamp
from safegym.cli.audit_waive import waive
from safegym.cli.audit_waivers import waivers
from safegym.cli.audit_worst import worst
from safegym.cli.console import Exit, out, print_json, shown, working

app = typer.Typer(help="Verify or export an audit trail.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(help="A run folder, a bundle or a slice (.zip).")],
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
    ] = None,
    pin: Annotated[
        Path | None,
        typer.Option("--pin", help="What was noted earlier: checkpoints.txt, or SIZE:sha256:ROOT."),
    ] = None,
    tsa: Annotated[
        list[Path] | None,
        typer.Option("--tsa", help="Root certificate of a trusted time-stamp authority (PEM)."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Leave step 8 out: derive no verdict or bound again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check signatures, tree, digests and references, and derive every verdict again."""
    from safegym.audit.examine import read_pinned
    from safegym.audit.sign import keys_for
    from safegym.audit.trust import with_authorities
    from safegym.audit.verify import verify as verify_bundle
    from safegym.cli.audit_shown import print_report, verifying

    keys = keys_for(bundle, key or [])
    keys = with_authorities(keys, tsa or [])
    if not as_json and not key:
        out.print(f"no --key given: trusting {shown(keys.words)}", soft_wrap=True)
    pinned = None if pin is None else read_pinned(pin)
    with verifying(bundle, fast=fast, quiet=as_json) as (progress, rederive):
        report = verify_bundle(
            bundle, keys=keys, rederive=rederive, pinned=pinned, progress=progress
        )
    if as_json:
        print_json(report.to_json())
    else:
        print_report(str(bundle), report)
    raise typer.Exit(
        {"intact": Exit.HOLDS, "broken": Exit.VIOLATED, "incomplete": Exit.INCONCLUSIVE}[
            report.result
        ]
    )


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    to: Annotated[Path, typer.Option("--out", help="The bundle to write (.zip).")],
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Only a slice: what is about this policy (digest or start)."),
    ] = None,
    claim: Annotated[
        str | None, typer.Option("--claim", help="Only a slice: what is about this claim (id).")
    ] = None,
    sampled: Annotated[
        bool,
        typer.Option(
            "--sampled", help="Leave nine in ten passing screen shards out; the bundle says so."
        ),
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Leave the HTML report out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Pack a run's audit trail into one file that a reviewer can verify offline."""
    from safegym.audit.bundle import export as export_bundle
    from safegym.audit.bundle import export_slice
    from safegym.cli.audit_shown import reporter

    part = policy is not None or claim is not None
    if part and sampled:
        raise typer.BadParameter("a slice keeps every trace it needs; leave --sampled out")
    with working(f"packing {run}", quiet=as_json):
        if part:
            export_slice(run, to, policy=policy, claim=claim)
        else:
            report = None if no_report else reporter()
            export_bundle(run, to, traces="sampled" if sampled else "all", report=report)
    if as_json:
        kind = "slice" if part else "bundle"
        print_json({"bundle": str(to), "bytes": to.stat().st_size, "kind": kind})
    else:
        what = "a slice: its records, not the whole log" if part else "the whole log"
        out.print(f"{to} ({to.stat().st_size / 2**20:.1f} MiB), {what}", soft_wrap=True)
        out.print(
            f"check it anywhere with: safegym audit verify {to} --key KEY.pub.pem", soft_wrap=True
        )


app.command("waive")(waive)
app.command("remove")(remove)
app.command("sign")(sign)
app.command("cosign")(cosign)
app.command("timestamp")(timestamp)
app.command("pin")(pin_log)
app.command("released")(released)
app.command("changed")(changed)
app.command("waivers")(waivers)
app.command("worst")(worst)
app.command("rederive")(rederive)
app.command("statement")(statement)
app.command("junit")(junit)
app.command("gsn")(gsn)
app.command("clauses")(clauses)
app.command("matrix")(matrix)
