"""`safegym certify`: one certification attempt of one policy."""

from pathlib import Path
from typing import Annotated

import typer

from safegym.cli.console import Exit, err, evidence_table, out, print_json
from safegym.cli.policies import OPTION_HELP, load
from safegym.cli.progress import GateProgress


def certify(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")],
    policy: Annotated[str, typer.Option(help=OPTION_HELP)],
    budget: Annotated[int, typer.Option(help="Most episodes of the attempt.", min=1)] = 3_000,
    lift: Annotated[
        float | None, typer.Option(help="Certify trace-level claims as prob(phi) >= LIFT.")
    ] = None,
    level: Annotated[float, typer.Option(help="Error level of claims without confidence.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Root of the evidence streams.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    to: Annotated[Path | None, typer.Option("--out", help="Folder for the audit trail.")] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run fresh episodes of a policy until each claim is shown, refuted, or out of reach."""
    from safegym.gate.certify import certification_setting, certify_setting
    from safegym.gate.evidence import evidence_json
    from safegym.gate.plan import GatePlan

    plan = GatePlan(lift=lift, level=level, seed=seed)
    setting = certification_setting(name, budget=budget, plan=plan, workers=workers)
    chosen = load(policy, setting.spec, trust_pickle=trust_pickle, algorithm=algorithm)
    try:
        with GateProgress(quiet=as_json) as progress:
            attempt = certify_setting(setting, chosen, out=to, listener=progress.gate)
    except KeyboardInterrupt:
        err.print("An attempt that began counts; run again, and it keeps its number and episodes.")
        raise
    if as_json:
        evidence = [{**evidence_json(e), "surplus": e.surplus} for e in attempt.evidence]
        print_json(
            {
                "outcome": attempt.outcome,
                "attempt": attempt.number,
                "replayed": attempt.replayed,
                "policy": attempt.policy_digest,
                "reasons": list(attempt.reasons),
                "evidence": evidence,
            }
        )
    else:
        title = f"{name}, attempt {attempt.number}: {attempt.outcome}"
        out.print(evidence_table(title, attempt.evidence))
        for reason in attempt.reasons:
            out.print(f"  {reason}", soft_wrap=True)
        if attempt.replayed:
            out.print("  a replay: this policy's attempt had ended before; no level was spent")
        if to is not None:
            line = f"audit trail in {to}; check it with: safegym audit verify {to}"
            out.print(line, soft_wrap=True)
    status = {"certified": Exit.HOLDS, "refuted": Exit.VIOLATED}
    raise typer.Exit(status.get(attempt.outcome, Exit.INCONCLUSIVE))
