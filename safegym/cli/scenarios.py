"""`safegym scenarios`: what there is to train and verify on."""

from typing import Annotated

import typer
from rich.text import Text

from safegym.cli.console import Exit, err, out, plain_table, print_json, shown

app = typer.Typer(
    help="List scenarios, or show one.", invoke_without_command=True, no_args_is_help=False
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback()
def listing(context: typer.Context, as_json: AsJson = False) -> None:
    """List all scenarios."""
    if context.invoked_subcommand is not None:
        return
    from safegym.scenario.registry import survey

    specs, problems = survey()
    for problem in problems:
        err.print(Text.assemble(("passed over: ", "yellow"), shown(problem)), soft_wrap=True)
    if as_json:
        print_json(
            [
                {
                    "name": spec.name,
                    "pack": spec.pack,
                    "summary": spec.summary,
                    "digest": spec.digest,
                    "horizon_s": float(spec.horizon * spec.clock.dt),
                    "claims": [claim.id for claim in spec.claims],
                }
                for spec in specs
            ]
        )
        return
    table = plain_table(f"{len(specs)} scenarios")
    table.add_column("scenario", no_wrap=True)
    for heading in ("what", "claims", "step", "horizon"):
        table.add_column(heading, overflow="fold")
    for spec in specs:
        dt = float(spec.clock.dt)
        claims = "\n".join(claim.id for claim in spec.claims)
        table.add_row(spec.name, spec.summary, claims, f"{dt:g} s", f"{spec.horizon * dt:g} s")
    out.print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")],
    as_json: AsJson = False,
) -> None:
    """Show a scenario's signals, parameters, claims and control policies."""
    from safegym.scenario.registry import find

    spec = find(name)
    if as_json:
        print_json(
            {
                "name": spec.name,
                "summary": spec.summary,
                "digest": spec.digest,
                "dt_s": str(spec.clock.dt),
                "horizon_steps": spec.horizon,
                "signals": [
                    {"name": s.name, "unit": s.unit, "shape": list(s.shape), "hold": s.hold}
                    for s in spec.signals
                ],
                "parameters": [
                    {"name": p.name, "unit": p.unit, "low": p.low, "high": p.high}
                    for p in (*spec.parameters, *spec.faults)
                ],
                "claims": [claim.to_json() for claim in spec.claims],
                "terminals": dict(spec.terminals),
            }
        )
        raise typer.Exit(Exit.HOLDS)
    out.print(Text.assemble((spec.name, "bold"), f"  {spec.summary}"))
    out.print(
        f"step {float(spec.clock.dt):g} s, horizon {float(spec.horizon * spec.clock.dt):g} s, "
        f"{spec.digest[:23]}"
    )
    signals = plain_table("signals")
    for heading in ("name", "unit", "each sample is"):
        signals.add_column(heading)
    meaning = {
        "sample": "the value at the sample",
        "max": "the largest since the last sample",
        "min": "the smallest since the last sample",
        "any": "whether it occurred since the last sample",
    }
    for signal in spec.signals:
        signals.add_row(signal.name, signal.unit, meaning[signal.hold])
    out.print(signals)
    claims = plain_table("claims")
    for heading in ("claim", "statement", "confidence", "hazard", "source"):
        claims.add_column(heading, overflow="fold")
    for claim in spec.claims:
        confidence = "" if claim.confidence is None else f"{claim.confidence:g}"
        claims.add_row(claim.id, str(claim.statement), confidence, claim.hazard, claim.source)
    out.print(claims)
    ready = [*(["good"] if spec.good else []), *(f"bad:{key}" for key in spec.bad)]
    out.print("ready policies: " + (", ".join(ready) or "none"))
