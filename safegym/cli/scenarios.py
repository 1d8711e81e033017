"""`safegym scenarios`: what there is to train and verify on."""

from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from safegym.cli import scenarios_adapt, scenarios_gallery, scenarios_show, scenarios_verify
from safegym.cli.console import Exit, err, out, print_json, shown
from safegym.cli.scenarios_chosen import Family
from safegym.cli.scenarios_list import print_listing

app = typer.Typer(
    help="List scenarios, show, verify and film them.",
    invoke_without_command=True,
    no_args_is_help=False,
)
app.command("show")(scenarios_show.show)
app.command("verify")(scenarios_verify.verify)
app.command("gallery")(scenarios_gallery.gallery)
app.command("adapt")(scenarios_adapt.adapt)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback()
def listing(
    context: typer.Context,
    as_json: AsJson = False,
    family: Family = "",
    pack: Annotated[str | None, typer.Option(help="The scenarios of one pack, as core.")] = None,
) -> None:
    """List all scenarios, family by family."""
    if context.invoked_subcommand is None:
        print_listing(family=family, pack=pack, as_json=as_json)


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
