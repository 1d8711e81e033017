"""`safegym check`: judge recorded traces."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.console import Exit, exit_of, out, print_json, verdict_table, working
from safegym.errors import SafegymError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

if TYPE_CHECKING:
    from safegym.check.dispatch import BackendName

MAX_BYTES = 256 * 2**20


def check(
    trace: Annotated[Path, typer.Argument(help="A trace (JSON), or a shard (.arrow).")],
    formula: Annotated[
        list[str] | None, typer.Option("--formula", "-f", help='Text, e.g. "always(x < 1)".')
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Judge on the claims of this scenario.")
    ] = None,
    backend: Annotated[str, typer.Option(help="monitor or z3.")] = "monitor",
    exact: Annotated[
        bool, typer.Option(help="Let z3 refine inconclusive verdicts over unseen samples.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Judge each trace on formulas given as text, or on a scenario's claims."""
    from safegym.check.dispatch import check as judge
    from safegym.gate.judging import verdict_json

    named = _backend(backend)
    with working(f"judging {trace}", quiet=as_json):
        traces = _traces(trace)
        claims = _claims(formula or [], scenario, traces)
        results = [
            (item, [judge(claim, item, backend=named, exact=exact) for claim in claims])
            for item in traces
        ]
    if as_json:
        print_json(
            [
                {
                    "trace": item.digest,
                    "verdicts": [{"claim": v.claim_id, **verdict_json(v)} for v in verdicts],
                }
                for item, verdicts in results
            ]
        )
    else:
        for item, verdicts in results:
            out.print(verdict_table(f"{item.digest[:23]} (seed {item.seed})", verdicts))
    raise typer.Exit(Exit(exit_of(v.status for _, verdicts in results for v in verdicts)))


def _backend(name: str) -> "BackendName":
    if name == "monitor":
        return "monitor"
    if name == "z3":
        return "z3"
    raise SafegymError(f"There is no backend {name!r}; use --backend monitor or --backend z3.")


def _claims(texts: list[str], scenario: str | None, traces: list[Trace]) -> tuple[Claim, ...]:
    from safegym.formula.text import parse
    from safegym.scenario.registry import find

    declared = find(scenario) if scenario is not None else None
    signals = declared.signals if declared is not None else _declared(traces)
    given = tuple(
        Claim(id=f"formula.{number}", statement=parse(text, signals=signals))
        for number, text in enumerate(texts, start=1)
    )
    if given:
        return given
    if declared is not None:
        return declared.claims
    raise SafegymError("Nothing to check: give --formula TEXT, or --scenario NAME for its claims.")


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
