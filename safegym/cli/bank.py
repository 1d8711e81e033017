"""`safegym bank`: the failing starts that a run trains on, and those that must stay passed."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, get_args

import typer

from safegym.cli.console import Exit, out, plain_table, print_json, shown, working
from safegym.cli.policies import OPTION_HELP, load
from safegym.gate.stored_bank import Kept, Place, StoredBank

app = typer.Typer(
    help="List, show or run again the failing starts of a run: its replay bank and its suite.",
    no_args_is_help=True,
)
Run = Annotated[Path, typer.Argument(help="A run folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
PLACES: tuple[Place, ...] = get_args(Place)
ABOUT: Mapping[Place, str] = {
    "bank": "replayed in training",
    "suite": "must be passed before an attempt",
    "waiting": "given from outside, taken when the run goes on",
}


@app.command("list")
def list_bank(
    run: Run,
    place: Annotated[
        str | None, typer.Option("--place", help="Only bank, suite or waiting.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the starts of a run: claim, seed, margin, where it came from, where it stands."""
    from safegym.errors import GateError
    from safegym.gate.stored_bank import read_bank

    if place is not None and place not in PLACES:
        raise GateError(f"--place {place!r}: write one of {', '.join(PLACES)}.")
    stored = read_bank(run)
    kept = [each for each in stored.kept if place in (None, each.place)]
    if as_json:
        print_json({**stored.to_json(), "starts": [each.to_json() for each in kept]})
        return
    if kept:
        _table(kept)
    _sums(stored)


@app.command()
def show(
    run: Run,
    start: Annotated[str, typer.Argument(help="Seed of a start, or how its key begins.")],
    as_json: AsJson = False,
) -> None:
    """Show a start, with the line that runs it again.

    Exit status: 0 it was passed and stands in the suite, 3 it is still trained on.
    """
    from safegym.gate.stored_bank import read_bank

    stored = read_bank(run)
    found = stored.find(start)
    if as_json:
        print_json([each.to_json() for each in found])
    else:
        for each in found:
            _details(stored, each)
    passed = all(each.place == "suite" for each in found)
    raise typer.Exit(Exit.HOLDS if passed else Exit.INCONCLUSIVE)


@app.command()
def check(
    run: Run,
    policy: Annotated[str, typer.Option("--policy", help=OPTION_HELP)],
    workers: Annotated[int, typer.Option(help="Processes that run episodes.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Run the regression suite of a run on a policy. It is no evidence.

    Exit status: 0 every start is passed, 1 some are not.
    """
    from safegym.audit.read import read_log
    from safegym.gate.events import GateEvent, SuiteDone
    from safegym.gate.registered import scenario_of
    from safegym.gate.suite_of_run import check_suite
    from safegym.scenario.registry import find

    spec = find(scenario_of(read_log(run)))
    heard: list[SuiteDone] = []

    def hear(event: GateEvent) -> None:
        if isinstance(event, SuiteDone):
            heard.append(event)

    with working(f"running the suite of {run}", quiet=as_json):
        found = check_suite(run, load(policy, spec), workers=workers, listener=hear)
    done = heard[-1]
    if as_json:
        failed = [start.to_json() for start in done.failed]
        print_json({"passed": found.passed, "starts": done.starts, "failed": failed})
    else:
        passed = f"all {done.starts} starts of the regression suite are passed"
        out.print(shown(found.reasons[0] if found.reasons else passed), soft_wrap=True)
    raise typer.Exit(Exit.HOLDS if found.passed else Exit.VIOLATED)


def _table(kept: list[Kept]) -> None:
    table = plain_table("failing starts")
    for heading in ("claim", "seed", "margin", "from", "replays", "passes", "stands in", "key"):
        table.add_column(heading, overflow="fold")
    for each in kept:
        start = each.start
        table.add_row(
            shown(start.claim_id),
            str(start.seed),
            _margin(each.margin),
            start.origin,
            str(each.replays) if each.place == "bank" else "",
            str(each.passes) if each.place == "bank" else "",
            each.place,
            start.key.partition(":")[2][:8],
        )
    out.print(table)


def _sums(stored: StoredBank) -> None:
    counts = Counter(each.place for each in stored.kept)
    for place in PLACES:
        if counts[place] or place != "waiting":
            out.print(f"{place:8}  {counts[place]:5d}  {ABOUT[place]}")
    out.print(f"{'burnt':8}  {stored.burnt:5d}  seeds that were replayed and never certify")
    out.print(f"after epoch {stored.epoch} on {shown(stored.scenario)}")


def _details(stored: StoredBank, each: Kept) -> None:
    start = each.start
    lines = {
        "claim": start.claim_id,
        "key": start.key.partition(":")[2],
        "stands in": f"{each.place} ({ABOUT[each.place]})",
        "from": start.origin,
        "margin": _margin(each.margin),
        "seed": start.seed,
        "parameters": _pairs(dict(start.parameters)),
        "trace": start.trace_digest,
    }
    if each.place == "bank":
        lines["replays"] = f"{each.replays}, passed {each.passes} times in a row"
        lines["drawn"] = f"with probability {each.probability:.3g} at each replay"
    for name, value in lines.items():
        out.print(f"{name:10}  {shown(value)}", soft_wrap=True)
    given = f", options={dict(start.options)!r}" if start.options else ""
    again = f'safegym.record("{stored.scenario}", policy, seed={start.seed}{given})'
    out.print(f"{'again':10}  {shown(again)}", soft_wrap=True)


def _margin(margin: float | None) -> str:
    return "" if margin is None else f"{margin:.4g}"


def _pairs(values: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items()) or "none"
