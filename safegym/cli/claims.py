"""`safegym claims`: ready claim sets, and checking claims against each other."""

from typing import Annotated

import typer

from safegym.cli.console import Exit, out, plain_table, print_json, working
from safegym.errors import SafegymError

app = typer.Typer(
    help="List ready claim sets, or check a scenario's claims.", invoke_without_command=True
)
ABOUT = {
    "trace": "each episode",
    "probability": "a probability",
    "conditional": "a probability, given a condition",
    "quantile": "a quantile of the margin",
    "mean": "a mean",
}
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback()
def listing(context: typer.Context, as_json: AsJson = False) -> None:
    """List the ready claim sets, by hazard, at their default thresholds."""
    if context.invoked_subcommand is not None:
        return
    from safegym.scenario.claim_sets import claim_sets

    sets = claim_sets()
    if as_json:
        print_json({name: [c.to_json() for c in claims] for name, claims in sets.items()})
        return
    table = plain_table("claim sets")
    for heading in ("set", "claim", "about", "statement", "source"):
        table.add_column(heading, overflow="fold")
    for name, claims in sets.items():
        for claim in claims:
            about = ABOUT[claim.kind]
            table.add_row(name, claim.id, about, str(claim.statement), claim.source)
    out.print(table)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Scenario whose claims are checked.")],
    timeout: Annotated[float, typer.Option(help="Limit per question, in seconds.", min=0.1)] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Ask z3 whether the claims can hold, are not vacuous, and do not conflict.

    A limit that is its signal's declared bound is a warning, which changes no exit status.
    """
    from safegym.check.symbolic.specification import check_specification
    from safegym.scenario.registry import find

    spec = find(name)
    if not spec.claims:
        raise SafegymError(f"{name} declares no claims.")
    with working(f"asking z3 about the claims of {name}", quiet=as_json):
        report = check_specification(
            spec.claims, dt=spec.clock.dt, horizon=spec.horizon, timeout=timeout
        )
    if as_json:
        print_json(report.to_json())
    else:
        table = plain_table(f"claims of {name}")
        for heading in ("question", "about", "answer", "by"):
            table.add_column(heading, overflow="fold")
        for finding in report.findings:
            table.add_row(
                finding.question, ", ".join(finding.claims), finding.answer, finding.detail
            )
        out.print(table)
    raise typer.Exit(Exit({"ok": 0, "flawed": 1, "unknown": 3}[report.status]))
