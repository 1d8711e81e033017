"""`safegym policy`: which policies a run froze, what counts as released, and taking one back."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from safegym.cli.console import Exit, out, print_json, shown, working
from safegym.cli.policy_show import details, overview
from safegym.gate.registry.entry import PolicyEntry, PolicyRegistry

app = typer.Typer(
    help="List, show or take back the policies of a run, by its verified log.",
    no_args_is_help=True,
)
Run = Annotated[Path, typer.Argument(help="A run folder.")]
Key = Annotated[
    list[Path] | None,
    typer.Option("--key", help="Trusted public key (PEM). Default: your own key."),
]
Pin = Annotated[
    Path | None,
    typer.Option("--pin", help="A checkpoint noted earlier: a copy of its checkpoints.txt."),
]
Rederive = Annotated[
    bool, typer.Option("--rederive", help="Derive every verdict again from the stored traces.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("list")
def list_policies(
    run: Run,
    key: Key = None,
    pin: Pin = None,
    rederive: Rederive = False,
    as_json: AsJson = False,
) -> None:
    """List the policies that a run froze, and which one counts as released.

    Exit status: 0 one counts as released, 3 none does, 2 no run, or its log is broken.
    """
    registry = _read(run, key, pin, rederive=rederive, quiet=as_json)
    if as_json:
        print_json(registry.to_json())
    else:
        out.print(overview(registry))
        _say_standing(registry)
    raise typer.Exit(Exit.INCONCLUSIVE if registry.current is None else Exit.HOLDS)


@app.command()
def show(
    run: Run,
    policy: Annotated[
        str | None, typer.Argument(help="Digest, or how it begins. Default: the released one.")
    ] = None,
    key: Key = None,
    pin: Pin = None,
    rederive: Rederive = False,
    as_json: AsJson = False,
) -> None:
    """Show one policy: where it came from, each screen and attempt, when promoted or withdrawn.

    Exit status: 0 it is released, 1 it was withdrawn, 3 it was never promoted.
    """
    from safegym.errors import GateError

    registry = _read(run, key, pin, rederive=rederive, quiet=as_json)
    if policy is None and registry.current is None:
        raise GateError(f"The run in {run} has no released policy; name one of: {_known(registry)}")
    entry = registry.current if policy is None else registry.find(policy)
    if entry is None:
        raise typer.Exit(Exit.INCONCLUSIVE)
    if as_json:
        print_json(entry.to_json())
    else:
        for part in details(registry, entry):
            out.print(part, soft_wrap=isinstance(part, Text))
    raise typer.Exit(_exit_of(entry))


@app.command()
def rollback(
    run: Run,
    why: Annotated[str, typer.Option("--why", help="Why it is withdrawn, for the record.")],
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Digest, or how it begins. Default: the released one."),
    ] = None,
    who: Annotated[str | None, typer.Option("--who", help="Default: your user name.")] = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw a promoted policy, for the record, and name the released one before it.

    Needs the key that signed the run. Exit status: 0 another released policy counts now, 3 none.
    """
    from safegym.gate.registry.withdraw import withdraw

    with working(f"withdrawing in {run}", quiet=as_json):
        done = withdraw(run, policy, why=why, who=who)
    instead = done.instead
    if as_json:
        print_json(
            {
                "withdrawn": done.policy.to_json(),
                "instead": None if instead is None else instead.to_json(),
            }
        )
    else:
        out.print(Text.assemble(("withdrawn", "bold red"), f" {done.policy.digest}"))
        if instead is None:
            out.print("no released policy is left in this run")
        else:
            out.print(Text.assemble(("released", "bold green"), f"  {instead.digest} counts now"))
            if instead.folder is not None:
                out.print(f"policy    {instead.folder}", soft_wrap=True)
    raise typer.Exit(Exit.INCONCLUSIVE if instead is None else Exit.HOLDS)


def _read(
    run: Path, key: list[Path] | None, pin: Path | None, *, rederive: bool, quiet: bool
) -> PolicyRegistry:
    from safegym.audit.examine import read_pinned
    from safegym.audit.sign import keys_for
    from safegym.gate.registry.reading import read_registry

    with working(f"verifying {run}", quiet=quiet):
        return read_registry(
            run,
            keys=keys_for(run, key or []),
            rederive=rederive,
            pinned=None if pin is None else read_pinned(pin),
        )


def _say_standing(registry: PolicyRegistry) -> None:
    current = registry.current
    if current is None:
        out.print(Text.assemble(("no policy counts as released", "yellow")))
    else:
        out.print(Text.assemble(("released", "bold green"), f"  {current.digest}"))
        if current.folder is not None:
            out.print(f"policy    {current.folder}", soft_wrap=True)
    checked = "every verdict derived again" if registry.rederived else "verdicts not derived again"
    out.print(f"log       {registry.verification}; {checked}", soft_wrap=True)
    for line in registry.missing:
        out.print(f"  {shown(line)}", soft_wrap=True)
    for waiver in registry.waivers:
        if waiver.state != "replaced":
            out.print(f"waiver    {shown(waiver.claim_id)}: {shown(waiver.words)}", soft_wrap=True)


def _exit_of(entry: PolicyEntry) -> Exit:
    if entry.status == "promoted":
        return Exit.HOLDS
    return Exit.VIOLATED if entry.status == "withdrawn" else Exit.INCONCLUSIVE


def _known(registry: PolicyRegistry) -> str:
    return ", ".join(entry.short for entry in registry.policies) or "none"
