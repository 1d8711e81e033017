"""`safegym falsify`: search for an episode on which a claim fails, or run a find again."""

import json
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from safegym.cli.console import Exit, err, out, plain_table, print_json, shown
from safegym.cli.policies import OPTION_HELP, load
from safegym.errors import FormulaError, SafegymError, UnsupportedError

if TYPE_CHECKING:
    from safegym.check.falsify import Falsification, Find
    from safegym.check.falsify.arena import Listener
    from safegym.policy.base import Policy
    from safegym.scenario.spec import ScenarioSpec

Where = dict[str, float | tuple[float, float] | None]


def falsify(
    name: Annotated[
        str | None, typer.Argument(help="Scenario, e.g. drone/corridor-v0 (not with --replay).")
    ] = None,
    policy: Annotated[str, typer.Option(help=OPTION_HELP)] = "good",
    claim: Annotated[
        list[str] | None, typer.Option("--claim", help="Claim to violate, repeatable; else each.")
    ] = None,
    budget: Annotated[int, typer.Option(help="Most episodes, per claim.")] = 300,
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 0,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Narrow or fix: NAME=LOW:HIGH, NAME=VALUE, NAME=seed."),
    ] = None,
    no_faults: Annotated[
        bool, typer.Option("--no-faults", help="Keep every fault at rest.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Look for more than one counterexample.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Write the finds here; with --replay, the trace of the first."),
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(
            "--bank", help="Run folder, begun or new, whose training shall replay the finds."
        ),
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Run the finds of this file again.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Search for episodes on which a claim fails: corners and random first, then guided.

    Exits 1 when a counterexample was found, and 3 when none was: that shows nothing about a
    probability.
    """
    from safegym.scenario.registry import find as find_scenario

    if replay is not None:
        writable(to)
        _refuse_beside_replay({"--claim": claim, "--where": where, "--bank": bank})
        _replay(replay, name, policy, trust_pickle, algorithm, to, as_json)
    if name is None:
        raise SafegymError("Name a scenario (see `safegym scenarios`), or give --replay FILE.")
    spec = find_scenario(name)
    acting = load(policy, spec, trust_pickle=trust_pickle, algorithm=algorithm)
    options = {
        "budget": budget,
        "seed": seed,
        "where": narrowings(where or []),
        "faults": not no_faults,
        "keep_going": keep_going,
        "workers": workers,
        "bank": bank,
    }
    writable(to)
    asked, left_out = _asked(spec, claim)
    results = _search(spec, acting, asked, options, to, hidden=as_json or not err.is_terminal)
    if as_json:
        print_json({"results": [result.to_json() for result in results], "left_out": left_out})
    else:
        for reason in left_out.values():
            out.print(Text.assemble(("left out: ", "yellow"), shown(reason)), soft_wrap=True)
        for result in results:
            _show(result)
        _say_how_to_go_on(results, policy, to, bank)
    found = any(result.finds for result in results)
    raise typer.Exit(Exit.VIOLATED if found else Exit.INCONCLUSIVE)


def narrowing(text: str) -> tuple[str, float | tuple[float, float] | None]:
    """What --where says: NAME=LOW:HIGH, NAME=VALUE or NAME=seed. Raises SafegymError."""
    name, equals, rest = text.partition("=")
    try:
        if not (name and equals):
            raise ValueError
        if rest == "seed":
            return name, None
        low, colon, high = rest.partition(":")
        return name, (float(low), float(high)) if colon else float(low)
    except ValueError:
        raise SafegymError(
            f"--where {text!r} is not understood; write --where gust_peak=0:0.2, "
            "--where gust_peak=0.1 or --where gust_peak=seed."
        ) from None


def narrowings(texts: Sequence[str]) -> Where:
    """All that --where says. Raises SafegymError for a name that is given twice."""
    found: Where = {}
    for name, value in map(narrowing, texts):
        if name in found:
            raise SafegymError(f"--where names {name} twice; give it once.")
        found[name] = value
    return found


def writable(path: Path | None) -> None:
    """Raise SafegymError for an --out that could not be written, before anything is run."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        what = "is a folder" if path.is_dir() else "lies in a folder that does not exist"
        raise SafegymError(f"--out {path} {what}; name a file in a folder that exists.")


def _refuse_beside_replay(given: dict[str, Any]) -> None:
    """Raise SafegymError for an option that --replay would not heed."""
    for option, value in given.items():
        if value:
            raise SafegymError(
                f"{option} is of a search, and --replay runs no search; give one of the two."
            )


def _asked(spec: "ScenarioSpec", named: list[str] | None) -> tuple[list[str], dict[str, str]]:
    """Ids of the claims to search: those named, else all that one episode can violate.

    And of the others, by id, why not. Raises what a search of one of those named would raise,
    before any is begun.
    """
    from safegym.check.falsify.objective import Objective
    from safegym.check.falsify.subject import claim_of
    from safegym.check.tail import tail_of

    found, left_out = list[str](), dict[str, str]()
    for each in dict.fromkeys(named or [claim.id for claim in spec.claims]):
        try:
            claim = claim_of(spec, each)
            Objective(claim)
            tail_of(spec, claim)
        except (FormulaError, UnsupportedError) as error:
            if named:
                raise
            left_out[each] = str(error)
            continue
        found.append(each)
    if not found:
        raise SafegymError(f"{spec.name} declares no claim that one episode could violate.")
    return found, left_out


def _search(
    spec: "ScenarioSpec",
    acting: "Policy",
    claims: Sequence[str],
    options: dict[str, Any],
    to: Path | None,
    *,
    hidden: bool,
) -> "list[Falsification]":
    """One search a claim; the file is written after each, so that stopping loses none of them."""
    from safegym.gate.falsifying import falsify as search

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    results: list[Falsification] = []
    with Progress(*columns, console=err, disable=hidden, transient=True) as bars:
        for each in claims:
            listener = _listener(bars, each, options["budget"])
            results.append(search(spec, acting, each, listener=listener, **options))
            if to is not None:
                document = {"results": [result.to_json() for result in results]}
                text = json.dumps(document, indent=1, allow_nan=False) + "\n"
                to.write_text(text, encoding="utf-8")
    return results


def _listener(bars: Progress, claim: str, budget: int) -> "Listener":
    from safegym.check.falsify import Progress as Told

    task = bars.add_task(claim, total=budget, note="")

    def hear(told: Told) -> None:
        best = "" if told.best is None else f", least margin {told.best:.3g}"
        found = f", {told.finds} violated" if told.finds else ""
        bars.update(task, completed=told.episodes, note=f"{told.method}{best}{found}")

    return hear


def _show(result: "Falsification") -> None:
    table = plain_table(f"{result.scenario}, {result.policy}: {result.claim_id}")
    for heading in ("method", "episodes", "least margin", "first counterexample", ""):
        table.add_column(heading, overflow="fold")
    for each in result.methods:
        best = "" if each.best is None else f"{each.best:.4g}"
        first = "" if each.first is None else f"episode {each.first}"
        table.add_row(each.name, str(each.episodes), best, first, each.note)
    out.print(table)
    for line in str(result).splitlines():
        out.print(shown(line), soft_wrap=True)
    for find in result.finds:
        out.print(Text.assemble(("  why: ", "bold"), shown(find.why)), soft_wrap=True)
        if find.alike:
            out.print(f"  {find.alike} more counterexamples came down to this one.")
    for note in result.notes:
        out.print(Text.assemble(("  note: ", "yellow"), shown(note)), soft_wrap=True)


def _say_how_to_go_on(
    results: "Sequence[Falsification]", policy: str, to: Path | None, bank: Path | None
) -> None:
    if not any(result.finds for result in results):
        return
    if to is None:
        out.print("keep the finds with --out FILE; then they can be replayed")
    else:
        again = f"--replay {quote(str(to))} --policy {quote(policy)}"
        line = f"run them again with: safegym falsify {again}"
        out.print(line, soft_wrap=True)
    if bank is not None:
        begun = (bank / "training.json").is_file()
        run = quote(str(bank))
        line = f"--resume {run}" if begun else f"{results[0].scenario} --out {run}"
        out.print(f"banked; train on them with: safegym train {line}", soft_wrap=True)


def _replay(
    path: Path,
    name: str | None,
    policy: str,
    trust: bool,
    algorithm: str,
    to: Path | None,
    as_json: bool,
) -> None:
    """Run every find of a file again; exits 1 when each came out as it was, violated."""
    from safegym.check.falsify import read_finds
    from safegym.scenario.registry import find as find_scenario

    finds = read_finds(path)
    if not finds:
        raise SafegymError(f"{path} holds no counterexample: its search found none.")
    done: list[Find] = []
    for each in finds:
        spec = find_scenario(name or each.scenario)
        acting = load(policy, spec, trust_pickle=trust, algorithm=algorithm)
        trace = each.replay(acting)
        if to is not None and not done:
            to.write_text(trace.to_text(), encoding="utf-8")
        done.append(each)
        if not as_json:
            line = f"replayed bit for bit, {each.steps} steps, {each.trace_digest[:19]}: {each}"
            out.print(shown(line), soft_wrap=True)
            out.print(Text.assemble(("  why: ", "bold"), shown(each.why)), soft_wrap=True)
    if as_json:
        print_json({"replayed": [each.to_json() for each in done]})
    elif to is not None:
        out.print(f"trace of the first written to {to}", soft_wrap=True)
    raise typer.Exit(Exit.VIOLATED)
