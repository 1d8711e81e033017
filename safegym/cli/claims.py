"""`safegym claims`: ready claim sets, and checking claims against each other."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from safegym.cli.console import Exit, err, out, plain_table, print_json, shown
from safegym.errors import SafegymError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal

if TYPE_CHECKING:
    from safegym.check.symbolic.finding import Finding, Listener, SpecificationReport

app = typer.Typer(
    help="List ready claim sets, or check claims before any episode.", invoke_without_command=True
)
ABOUT = {
    "trace": "each episode",
    "probability": "a probability",
    "conditional": "a probability, given a condition",
    "quantile": "a quantile of the margin",
    "mean": "a mean",
}
LARGEST = 16 << 20
"""Bytes of the largest file of claims that is read."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Texts = list[str] | None
Folder = Path | None


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
    name: Annotated[str, typer.Argument(help="Scenario whose claims are checked.")] = "",
    file: Annotated[Folder, typer.Option("--file", help="JSON file of claims.")] = None,
    formula: Annotated[
        Texts, typer.Option("--formula", help="A formula or statement as text; repeatable.")
    ] = None,
    dt: Annotated[str, typer.Option("--dt", help="Seconds a step, exact: 0.05 or 1/240.")] = "",
    horizon: Annotated[int, typer.Option("--horizon", help="Steps of an episode.", min=0)] = 0,
    bounds: Annotated[
        Texts, typer.Option("--bounds", help="SIGNAL=LOW,HIGH; repeatable, with --formula.")
    ] = None,
    rate: Annotated[
        Texts, typer.Option("--rate", help="SIGNAL=LARGEST CHANGE A SECOND, with --formula.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Limit per question, in seconds.", min=0.1)] = 10.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out parts and what each claim adds.")
    ] = False,
    plot: Annotated[
        Folder, typer.Option("--plot", help="Draw each witness into this folder (SVG).")
    ] = None,
    traces: Annotated[
        Folder, typer.Option("--traces", help="Write each witness trace into this folder (JSON).")
    ] = None,
    smtlib: Annotated[
        Folder, typer.Option("--smtlib", help="Write each question into this folder (SMT-LIB 2).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask z3 whether the claims can hold, say something in every part, and do not conflict.

    Of a scenario, a file of claims, or formulas given as text. Warnings change no exit status.
    """
    from safegym.check.symbolic.drawn import write_pictures, write_traces
    from safegym.check.symbolic.specification import check_specification

    asked = _asked(name, file, formula or [], dt, horizon, (bounds or [], rate or []))
    with _asking(asked.title, quiet=as_json) as listener:
        report = check_specification(
            asked.claims,
            dt=asked.dt,
            horizon=asked.horizon,
            timeout=timeout,
            thorough=not quick,
            smooth=plot is not None or traces is not None,
            smtlib=smtlib,
            listener=listener,
        )
    files: list[Path] = []
    if plot is not None:
        files += write_pictures(report, {claim.id: claim for claim in asked.claims}, plot)
    if traces is not None:
        files += write_traces(report, traces)
    if as_json:
        print_json(report.to_json())
    else:
        _print(report, asked.title)
        for kept in dict.fromkeys(path.parent for path in files):
            count = sum(path.parent == kept for path in files)
            out.print(f"{count} files written to {shown(kept)}", soft_wrap=True)
    raise typer.Exit(Exit({"ok": 0, "flawed": 1, "unknown": 3}[report.status]))


def _print(report: "SpecificationReport", title: str) -> None:
    table = plain_table(f"claims of {title}, within {report.steps} steps")
    for heading in ("question", "about", "answer", "by"):
        table.add_column(heading, overflow="fold")
    for found in report.findings:
        cells = (found.question, ", ".join(found.claims), found.answer, found.detail)
        table.add_row(*map(shown, cells))
    out.print(table)


@contextmanager
def _asking(title: str, *, quiet: bool) -> Generator["Listener"]:
    """Shows on a terminal how many questions have been answered, and the last one."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    hidden = quiet or not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=hidden) as bars:
        bar = bars.add_task(f"asking z3 about {title}", total=None)
        count = 0

        def told(finding: "Finding") -> None:
            nonlocal count
            count += 1
            last = f"{', '.join(finding.claims)}: {finding.question}: {finding.answer}"
            bars.update(bar, description=shown(f"{count} questions answered; {last}"))

        yield told


@dataclass(frozen=True, slots=True)
class _Asked:
    title: str
    claims: tuple[Claim, ...]
    dt: Any
    horizon: int


def _asked(
    name: str,
    file: Path | None,
    texts: list[str],
    dt: str,
    horizon: int,
    limits: tuple[list[str], list[str]],
) -> _Asked:
    """What is checked. Raises SafegymError unless it is one of a scenario, a file, formulas."""
    given = [what for what in (name, file, texts) if what]
    if len(given) != 1:
        raise SafegymError(
            "Name a scenario, or give --file CLAIMS.json, or --formula TEXT: one of the three. For "
            'example: safegym claims check --formula "always(speed < 2)" --dt 0.05 --horizon 200'
        )
    if any(limits) and not texts:
        raise SafegymError("--bounds and --rate are for --formula; claims declare their own.")
    if name:
        from safegym.scenario.registry import find

        spec = find(name)
        if not spec.claims:
            raise SafegymError(f"{name} declares no claims.")
        if dt:
            raise SafegymError(f"{name} has its own clock, dt = {spec.clock.dt} s; leave out --dt.")
        return _Asked(name, spec.claims, spec.clock.dt, horizon or spec.horizon)
    if not dt or not horizon:
        raise SafegymError("Claims without a scenario need --dt SECONDS and --horizon STEPS.")
    if file is not None:
        return _Asked(str(file), _read(file), dt, horizon)
    return _Asked("the formulas", _parsed(texts, *limits), dt, horizon)


def _parsed(texts: list[str], bounds: list[str], rates: list[str]) -> tuple[Claim, ...]:
    from safegym.formula.text import parse_statement

    signals = _signals(bounds, rates)
    claims = tuple(
        Claim(id=f"formula.{number}", statement=parse_statement(text, signals=signals))
        for number, text in enumerate(texts, 1)
    )
    read = sorted({signal.name for claim in claims for signal in claim.signals})
    for signal in signals:
        if signal.name not in read:
            raise SafegymError(
                f"No formula reads {signal.name}, which --bounds or --rate declares; the formulas "
                f"read {', '.join(read)}."
            )
    return claims


def _signals(bounds: list[str], rates: list[str]) -> tuple[Signal, ...]:
    limits = _by_name("--bounds", bounds, 2)
    fastest = _by_name("--rate", rates, 1)
    return tuple(
        Signal(
            name,
            bounds=(limits[name][0], limits[name][1]) if name in limits else None,
            max_rate=fastest[name][0] if name in fastest else None,
        )
        for name in dict.fromkeys((*limits, *fastest))
    )


def _by_name(option: str, texts: list[str], count: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for text in texts:
        name, numbers = _numbers(option, text, count)
        if name in found:
            raise SafegymError(f"{option} gives {name} twice; give it once.")
        found[name] = numbers
    return found


def _numbers(option: str, text: str, count: int) -> tuple[str, list[float]]:
    name, _, rest = text.partition("=")
    try:
        found = [float(part) for part in rest.split(",")]
    except ValueError:
        found = []
    if len(found) != count:
        example = "speed=0,3" if count == 2 else "speed=2.5"
        raise SafegymError(f"{option} {text!r:.80} is not of the form {option} {example}.")
    return name.strip(), found


def _read(path: Path) -> tuple[Claim, ...]:
    """The claims of a JSON file: a list of them, or lists by name as `safegym claims --json`."""
    import json

    if not path.is_file():
        raise SafegymError(f"There is no file {path}; `safegym claims --json` shows the form.")
    if path.stat().st_size > LARGEST:
        raise SafegymError(f"{path} is larger than the {LARGEST} bytes that are read.")
    try:
        value: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise SafegymError(f"{path} is not JSON: {error}.") from error
    if isinstance(value, dict) and "type" not in value:
        value = [claim for group in value.values() for claim in _listed(group)]
    found = tuple(Claim.from_json(each) for each in _listed(value))
    if not found:
        raise SafegymError(f"{path} holds no claims.")
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
