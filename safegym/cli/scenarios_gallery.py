"""`safegym scenarios gallery`: a page of scenarios to look at."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from safegym.cli.console import Exit, out, print_json, shown
from safegym.cli.counting_bars import counting_bars
from safegym.cli.scenarios_chosen import Family, chosen

if TYPE_CHECKING:
    from safegym.scenario.looking.pictures import Pictures

_CORES = os.cpu_count() or 1


def gallery(
    folder: Annotated[Path, typer.Argument(help="Where the page and its pictures go.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Scenarios; the whole pack if none is named.")
    ] = None,
    family: Family = "",
    pack: Annotated[str, typer.Option(help="Which pack.")] = "core",
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = _CORES,
    limit: Annotated[float, typer.Option(help="Seconds that one scenario may take.")] = 300.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Film scenarios and make a page of them: picture, signals, claims, what verification found.

    A scenario that cannot be drawn is named and shown by its signals; the others go on.
    """
    from safegym.scenario.apart import run_apart
    from safegym.scenario.looking.backend import choose_backend
    from safegym.scenario.looking.gallery import PICTURES, write_gallery
    from safegym.scenario.looking.pictures import take_pictures
    from safegym.scenario.registry import find
    from safegym.scenario.verified import current, read_table, table_path

    choose_backend()  # before any pack is loaded: one may import mujoco, which reads the choice
    asked = chosen(names or (), every=not names and not family, family=family, pack=pack)
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    with counting_bars(quiet=as_json) as bars:
        task = bars.add_task("filming", total=len(asked), note="")

        def told(pictures: "Pictures") -> None:
            bars.update(task, advance=1, note=pictures.name)
            if pictures.problem and not as_json:
                line = f"{pictures.name}: {shown(pictures.problem)}"
                bars.console.print(Text.assemble(("no picture: ", "yellow"), line), soft_wrap=True)

        pictures = run_apart(
            asked,
            partial(take_pictures, folder / PICTURES),
            _unfinished,
            workers=workers,
            limit=limit,
            told=told,
        )
    built = {name: made for name, made in pictures.items() if made.still or made.moving}
    specs = [find(name) for name in sorted(built)]
    rows = current(read_table(table_path(pack)), specs)
    page = write_gallery(folder, specs, pictures, rows)
    problems = {name: made.problem for name, made in pictures.items() if made.problem}
    if as_json:
        print_json({"page": str(page), "scenarios": len(specs), "problems": problems})
    else:
        filmed = sum(bool(made.moving) for made in pictures.values())
        out.print(f"{filmed} of {len(asked)} scenarios filmed; the page is {page}", soft_wrap=True)
    raise typer.Exit(Exit.HOLDS)


def _unfinished(name: str, why: str, seconds: float) -> "Pictures":
    from safegym.scenario.looking.pictures import Pictures

    return Pictures(name, problem=why)
