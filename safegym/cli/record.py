"""`safegym record`: one episode, kept as a trace."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import Exit, exit_of, out, print_json, verdict_table, working
from safegym.cli.policies import OPTION_HELP, load


def record(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")],
    policy: Annotated[str, typer.Option(help=OPTION_HELP)] = "good",
    seed: Annotated[int, typer.Option(help="Seed of the episode.", min=0)] = 0,
    to: Annotated[Path | None, typer.Option("--out", help="Write the trace here (JSON).")] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run one episode, judge it on the scenario's claims, and keep its trace."""
    from safegym.check.monitor import judge
    from safegym.gate.judging import verdict_json
    from safegym.scenario.record import record as record_episode
    from safegym.scenario.registry import find

    spec = find(name)
    chosen = load(policy, spec, trust_pickle=trust_pickle, algorithm=algorithm)
    with working(f"one episode of {name}", quiet=as_json):
        trace = record_episode(spec, chosen, seed=seed)
        verdicts = [judge(claim, trace) for claim in spec.claims]
    if to is not None:
        to.write_text(trace.to_text(), encoding="utf-8")
    if as_json:
        judged = [{"claim": v.claim_id, **verdict_json(v)} for v in verdicts]
        print_json({"trace": trace.digest, "end": trace.end.kind, "verdicts": judged})
    else:
        length = len(trace.rewards)
        title = f"{name}, seed {seed}: {length} steps, ended {trace.end.kind} ({trace.end.reason})"
        out.print(verdict_table(title, verdicts))
        if to is not None:
            out.print(f"trace written to {to}", soft_wrap=True)
    raise typer.Exit(Exit(exit_of(v.status for v in verdicts)))
