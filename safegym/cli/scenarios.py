"""`safegym scenarios`: what there is to train and verify on."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress
from rich.text import Text

from safegym.cli.console import Exit, err, out, plain_table, print_json, shown
from safegym.scenario.disturbance import Disturbance

if TYPE_CHECKING:
    from safegym.scenario.spec import Parameter, ScenarioSpec

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
    """Show a scenario's signals, inputs, claims and control policies."""
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
                "parameters": [_parameter(p) for p in spec.parameters],
                "faults": [_parameter(p) for p in spec.faults],
                "disturbances": [_disturbance(d) for d in spec.disturbances],
                "differentiable": spec.model is not None,
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
    _print_inputs(spec)
    claims = plain_table("claims")
    for heading in ("claim", "statement", "confidence", "hazard", "source"):
        claims.add_column(heading, overflow="fold")
    for claim in spec.claims:
        confidence = "" if claim.confidence is None else f"{claim.confidence:g}"
        claims.add_row(claim.id, str(claim.statement), confidence, claim.hazard, claim.source)
    out.print(claims)
    ready = [*(["good"] if spec.good else []), *(f"bad:{key}" for key in spec.bad)]
    out.print("ready policies: " + (", ".join(ready) or "none"))


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")],
    as_json: AsJson = False,
) -> None:
    """Run a scenario to see whether it does what it declares."""
    from safegym.scenario.probe import probe
    from safegym.scenario.registry import find

    spec = find(name)
    bar = Progress(console=err, transient=True, disable=as_json or not err.is_terminal)
    with bar:
        task = bar.add_task("inputs", total=None)
        issues = probe(spec, progress=lambda done, of: bar.update(task, completed=done, total=of))
    if as_json:
        print_json({"name": spec.name, "digest": spec.digest, "issues": issues})
    else:
        for issue in issues:
            out.print(Text(shown(issue)), soft_wrap=True)
        found = f"{len(issues)} issue{'s' if len(issues) > 1 else ''}"
        out.print(f"{spec.name}: " + (found if issues else "as declared"))
    raise typer.Exit(Exit.VIOLATED if issues else Exit.HOLDS)


def _parameter(parameter: "Parameter") -> dict[str, Any]:
    return {
        "name": parameter.name,
        "unit": parameter.unit,
        "low": parameter.low,
        "high": parameter.high,
        "default": parameter.default,
        "role": parameter.role,
        "meaning": parameter.meaning,
    }


def _disturbance(disturbance: Disturbance) -> dict[str, Any]:
    return {
        "name": disturbance.name,
        "unit": disturbance.unit,
        "low": disturbance.low,
        "high": disturbance.high,
        "pieces": disturbance.pieces,
        "neutral": disturbance.neutral,
        "meaning": disturbance.meaning,
    }


def _print_inputs(spec: "ScenarioSpec") -> None:
    """What `reset(options=...)` takes; nothing where it takes nothing."""
    rows: list[tuple[str, Parameter | Disturbance, str]] = [
        *((("start" if p.role == "initial" else "parameter"), p, "") for p in spec.parameters),
        *(("fault", p, "") for p in spec.faults),
        *(("disturbance", d, f"{d.pieces} pieces") for d in spec.disturbances),
    ]
    if not rows:
        return
    table = plain_table("inputs")
    for heading in ("kind", "name", "unit", "from", "to", "at rest", "meaning"):
        table.add_column(heading, overflow="fold")
    for kind, each, pieces in rows:
        rest = each.neutral if isinstance(each, Disturbance) else each.resting
        meaning = "; ".join(text for text in (each.meaning, pieces) if text)
        numbers = (f"{number:g}" for number in (each.low, each.high, rest))
        table.add_row(kind, each.name, each.unit, *numbers, meaning)
    out.print(table)
