"""`safegym scenarios verify`: whether each scenario counts, run with its own control policies."""

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.console import Exit, out, plain_table, print_json, shown
from safegym.cli.counting_bars import counting_bars
from safegym.cli.scenarios_chosen import Family, chosen
from safegym.cli.scenarios_table import keep

if TYPE_CHECKING:
    from safegym.check.controls import Outcome

_CORES = os.cpu_count() or 1


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Scenarios, e.g. drone/corridor-v0.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All scenarios of the pack.")] = False,
    family: Family = "",
    pack: Annotated[str, typer.Option(help="Which pack --all and --family look in.")] = "core",
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = _CORES,
    seeds: Annotated[int, typer.Option(help="Episodes of each control policy.", min=1)] = 20,
    brief: Annotated[
        bool, typer.Option("--brief", help="Run a bad policy only until it breaks its claims.")
    ] = False,
    write_table: Annotated[
        bool, typer.Option("--write-table", help="Keep what was found beside the pack's code.")
    ] = False,
    limit: Annotated[float, typer.Option(help="Seconds that one scenario may take.")] = 180.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run scenarios with their good and bad policies and say which of them count.

    The good policy must satisfy all claims in 19 of 20 episodes, each claim's bad policy violate it
    in one; seeds must decide episodes; signals and inputs must be as declared, and each claim must
    name its hazard and a source. Exits with 0 only if every scenario passes.
    """
    from safegym.check.controls import verify_all
    from safegym.check.controls.outcome import SEEDS
    from safegym.errors import ScenarioError

    if write_table and (brief or seeds != SEEDS):
        raise ScenarioError(
            f"The table holds counts of {SEEDS} seeds; leave --brief and --seeds out."
        )
    asked = chosen(names or (), every=every, family=family, pack=pack)
    began = time.perf_counter()
    with counting_bars(quiet=as_json) as bars:
        task = bars.add_task("verifying", total=len(asked), note="")

        def told(outcome: "Outcome") -> None:
            bars.update(task, advance=1, note=outcome.name)
            if not outcome.verified and not as_json:
                bars.console.print(
                    Text.assemble(("✘ ", "red"), f"{outcome.name}: {shown(outcome.issues[0])}"),
                    soft_wrap=True,
                )

        outcomes = verify_all(
            asked, workers=workers, seeds=seeds, limit=limit, brief=brief, told=told
        )
    seconds = time.perf_counter() - began
    written = keep(outcomes, pack) if write_table else None
    if as_json:
        _print_document(outcomes, seconds)
    else:
        _print_table(outcomes, seeds)
        if written is not None:
            out.print(f"table written to {written}", soft_wrap=True)
        out.print(summary(outcomes, seconds), soft_wrap=True)
    raise typer.Exit(Exit.HOLDS if all(each.verified for each in outcomes) else Exit.VIOLATED)


def summary(outcomes: Sequence["Outcome"], seconds: float) -> str:
    """Such as `9 of 9 core scenarios verified in 31 s (CPU 58 s)`, a pack after the other; with
    "on 5 seeds", where that is not as many as count.
    """
    from safegym.check.controls.outcome import SEEDS

    cpu = sum(each.cpu_seconds for each in outcomes)
    packs = sorted({each.pack for each in outcomes}, key=_core_first)
    counts = [
        f"{sum(each.verified for each in outcomes if each.pack == pack)} of "
        f"{sum(each.pack == pack for each in outcomes)} {pack} scenarios"
        for pack in packs
    ]
    few = sorted({each.seeds for each in outcomes if each.seeds != SEEDS})
    on = f" on {few[0]} seed{'s' * (few[0] != 1)}" if few else ""
    return f"{', '.join(counts)} verified{on} in {seconds:.0f} s (CPU {cpu:.0f} s)"


def _core_first(pack: str) -> tuple[bool, str]:
    return pack != "core", pack


def _print_document(outcomes: Sequence["Outcome"], seconds: float) -> None:
    core = [each for each in outcomes if each.pack == "core"]
    print_json(
        {
            "core": len(core),
            "core_verified": sum(each.verified for each in core),
            "seconds": round(seconds, 3),
            "cpu_seconds": round(sum(each.cpu_seconds for each in outcomes), 3),
            "scenarios": [each.to_json() for each in outcomes],
        }
    )


def _print_table(outcomes: Sequence["Outcome"], seeds: int) -> None:
    table = plain_table(f"scenarios under their control policies, {seeds} seeds each")
    table.add_column("scenario", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for heading in ("good", "worst bad", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("violated by its bad policy", overflow="fold", ratio=1)
    for each in outcomes:
        mark = Text("✔ verified", "green") if each.verified else Text("✘ fails", "red")
        bads = ", ".join(f"{_word(row.claim)} {row.violated}" for row in each.claims)
        good, bad = f"{each.good}/{each.seeds}", f"{each.worst_bad}/{each.seeds}"
        table.add_row(each.name, mark, good, bad, f"{each.cpu_seconds:.1f}", bads)
    out.print(table)
    for each in outcomes:
        for issue in each.issues:
            out.print(f"{each.name}: {shown(issue)}", soft_wrap=True)


def _word(claim: str) -> str:
    """A claim's id without its family."""
    return claim.partition(".")[2] or claim
