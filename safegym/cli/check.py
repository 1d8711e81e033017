"""`safegym check`: judge recorded traces."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.console import (
    Exit,
    err,
    exit_of,
    out,
    print_json,
    shown,
    verdict_table,
    working,
)
from safegym.errors import SafegymError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.trace.model import Trace
from safegym.verdict import Measured, Verdict

if TYPE_CHECKING:
    from safegym.check.dispatch import BackendName

MAX_BYTES = 256 * 2**20


def check(
    trace: Annotated[Path, typer.Argument(help="A trace (JSON), or a shard (.arrow).")],
    formula: Annotated[
        list[str] | None,
        typer.Option(
            "--formula",
            "-f",
            help='Text: "always(x < 1)", "prob(eventually(x > 1) given eventually(y > 2)) < 0.1".',
        ),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Judge on the claims of this scenario.")
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option("--unit", "-u", help="Read a signal in another unit, e.g. speed=km/h."),
    ] = None,
    backend: Annotated[str, typer.Option(help="monitor or z3.")] = "monitor",
    exact: Annotated[
        bool, typer.Option(help="Let z3 refine inconclusive verdicts over unseen samples.")
    ] = False,
    explain: Annotated[
        bool, typer.Option(help="Say in words why each came out as it did.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the first violated verdict, else the first one open, as .svg."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Judge each trace on formulas or statements given as text, or on a scenario's claims.

    A claim about many episodes is judged on what it asks of one; its own answer is `certify`'s.
    """
    from safegym.check.dispatch import check as judge
    from safegym.check.monitor import measure

    named = _backend(backend)
    if plot is not None:
        _check_drawing(plot)
    with working(f"judging {trace}", quiet=as_json):
        traces = _traces(trace)
        claims = _claims(formula or [], scenario, traces, unit or [])
        judged = [claim for claim in claims if claim.kind != "mean"]
        results = [
            _Result(
                item,
                [judge(claim, item, backend=named, exact=exact) for claim in judged],
                [measure(claim, item) for claim in claims if claim.kind == "mean"],
            )
            for item in traces
        ]
    verdicts = [verdict for result in results for verdict in result.verdicts]
    if as_json:
        print_json([_document(result, explain=explain) for result in results])
    else:
        for result in results:
            _print(result, explain=explain)
    if plot is not None:
        _draw(verdicts, plot)
    raise typer.Exit(Exit(exit_of(v.status for v in verdicts if v.condition != "violated")))


@dataclass(frozen=True, slots=True)
class _Result:
    """What was found on one trace."""

    trace: Trace
    verdicts: list[Verdict]
    measured: list[Measured]


def _print(result: _Result, *, explain: bool) -> None:
    from safegym.check.monitor.conditioned import condition_notes

    trace, verdicts = result.trace, result.verdicts
    title = f"{trace.digest[:23]} (seed {trace.seed})"
    if verdicts or not result.measured:
        out.print(verdict_table(title, verdicts))
    elif result.measured:
        out.print(title)
    for verdict in verdicts if explain else ():
        out.print(shown(verdict.explain()), end="\n\n")
    for each in result.measured:
        share = f"{each.lo:.6g}" if each.hi - each.lo < 1e-12 else f"{each.lo:.6g} to {each.hi:.6g}"
        out.print(
            shown(
                f"{each.claim_id}: this episode's share is {share}; the claim is about the "
                "mean over many, which `safegym certify` answers."
            )
        )
    for verdict in verdicts:
        for line in condition_notes(verdict.condition):
            out.print(shown(f"{verdict.claim_id}: {line}"))
    for line in _assumptions(verdicts, told=explain):
        out.print(shown(line))


def _assumptions(verdicts: list[Verdict], *, told: bool) -> tuple[str, ...]:
    """What was read in other units or resampled, each once, where the table does not say it.

    told: whether the explanations were printed, which say some of it.
    """
    from safegym.check.monitor.conditioned import condition_notes

    lines: dict[str, None] = {}
    for verdict in verdicts:
        conditions = condition_notes(verdict.condition)
        said = verdict.explain().words if told else ""
        for note in verdict.notes if verdict.witness is not None else ():
            if note not in said and note not in conditions:
                lines[note] = None
    return tuple(lines)


def _document(result: _Result, *, explain: bool) -> dict[str, object]:
    """What --json prints of one trace."""
    from safegym.gate.judging import verdict_json

    found: list[dict[str, object]] = []
    for verdict in result.verdicts:
        words = {"words": verdict.explain().words} if explain else {}
        said = {"claim": verdict.claim_id, **verdict_json(verdict), "notes": list(verdict.notes)}
        found.append({**said, **words})
    document: dict[str, object] = {"trace": result.trace.digest, "verdicts": found}
    if result.measured:
        shares = [{"claim": m.claim_id, "lo": m.lo, "hi": m.hi} for m in result.measured]
        document["measured"] = shares
    return document


_DRAWN = (".svg", ".png")


def _check_drawing(path: Path) -> None:
    """Before any work: a name that a picture can have, in a folder that is there."""
    if path.suffix.lower() not in _DRAWN:
        raise SafegymError(
            f"--plot {path}: a picture is drawn as .svg, or as .png where matplotlib is installed; "
            f"write --plot {path.with_suffix('.svg')}."
        )
    if not path.absolute().parent.is_dir():
        raise SafegymError(f"--plot {path}: there is no folder {path.parent}; make it first.")


def _draw(verdicts: list[Verdict], path: Path) -> None:
    """Draw the verdict that matters most: the first violated, else open, else the first."""
    for status in ("violated", "inconclusive", "satisfied"):
        for verdict in verdicts:
            if verdict.status == status:
                verdict.explain().save(path)
                err.print(f"{shown(path)} shows {shown(verdict.claim_id)}, {status}.")
                return


def _backend(name: str) -> "BackendName":
    if name == "monitor":
        return "monitor"
    if name == "z3":
        return "z3"
    raise SafegymError(f"There is no backend {name!r}; use --backend monitor or --backend z3.")


def _claims(
    texts: list[str], scenario: str | None, traces: list[Trace], units: list[str]
) -> tuple[Claim, ...]:
    from safegym.formula.text import parse_statement
    from safegym.scenario.registry import find

    declared = find(scenario) if scenario is not None else None
    signals = declared.signals if declared is not None else _declared(traces)
    signals = _in_units(signals, units, traces)
    given = tuple(
        Claim(id=f"formula.{number}", statement=parse_statement(text, signals=signals))
        for number, text in enumerate(texts, start=1)
    )
    if given:
        return given
    if units:
        raise SafegymError("--unit is about the signals of --formula; claims declare their own.")
    if declared is not None:
        return declared.claims
    raise SafegymError("Nothing to check: give --formula TEXT, or --scenario NAME for its claims.")


def _in_units(
    signals: tuple[Signal, ...], units: list[str], traces: list[Trace]
) -> tuple[Signal, ...]:
    """The signals, some of them declared in another unit: what their traces recorded converts."""
    found = {signal.name: signal for signal in signals}
    recorded = traces[0].signals if traces else {}
    named: set[str] = set()
    for text in units:
        name, _, unit = (part.strip() for part in text.partition("="))
        if name in named:
            raise SafegymError(f"--unit {text}: {name} was given a unit before; give it one.")
        named.add(name)
        if name not in found and name not in recorded:
            known = ", ".join(dict.fromkeys((*found, *recorded)))
            raise SafegymError(
                f"--unit {text}: there is no signal {name!r}; it has {known}. Write "
                "--unit NAME=UNIT, such as --unit speed=km/h."
            )
        shape = found[name].shape if name in found else recorded[name].shape[1:]
        found[name] = Signal(name, unit, shape)
        if any(name not in trace.units for trace in traces):
            err.print(
                f"{shown(name)} has no unit on record; its numbers are believed to be in "
                f"{shown(unit)}, and nothing is converted."
            )
    return tuple(found.values())


def _declared(traces: list[Trace]) -> tuple[Signal, ...]:
    """The signals whose units the first trace has on record, for formulas given as text."""
    return tuple(
        Signal(name, unit=traces[0].units[name], shape=values.shape[1:])
        for name, values in (traces[0].signals.items() if traces else ())
        if name in traces[0].units
    )


def _traces(path: Path) -> list[Trace]:
    from safegym.trace.store import read_shard

    if not path.is_file():
        raise SafegymError(
            f"There is no trace file {path}; `safegym record NAME --out F` makes one."
        )
    if path.suffix == ".arrow":
        return list(read_shard(path))
    if path.stat().st_size > MAX_BYTES:
        raise SafegymError(f"{path} is larger than {MAX_BYTES >> 20} MiB; store it as a shard.")
    return [Trace.from_text(path.read_bytes())]
