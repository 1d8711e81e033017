"""`safegym certify`: one certification attempt of one policy, or its plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.chosen import chosen_claims
from safegym.cli.console import (
    Exit,
    err,
    evidence_table,
    out,
    print_joint,
    print_json,
    shown,
    strata_table,
    working,
)
from safegym.cli.plan import show_plan
from safegym.cli.policies import OPTION_HELP, load
from safegym.cli.progress import GateProgress
from safegym.errors import GateError

if TYPE_CHECKING:
    from safegym.gate.attempt import Attempt
    from safegym.gate.setting import Setting


def certify(
    name: Annotated[str, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")],
    policy: Annotated[str | None, typer.Option(help=OPTION_HELP)] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Only this claim of the scenario; repeatable.")
    ] = None,
    formula: Annotated[
        list[str] | None,
        typer.Option("--formula", "-f", help='A statement, e.g. "prob(eventually(x > 1)) < 0.01".'),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Confidence of the statements given by --formula.")
    ] = None,
    budget: Annotated[int, typer.Option(help="Most episodes of the attempt.", min=1)] = 3_000,
    lift: Annotated[
        float | None, typer.Option(help="Certify trace-level claims as prob(phi) >= LIFT.")
    ] = None,
    level: Annotated[float, typer.Option(help="Error level of claims without confidence.")] = 0.05,
    display: Annotated[
        str,
        typer.Option(help='How verdicts stand where nothing is released: "one at a time", "holm".'),
    ] = "one at a time",
    strata: Annotated[
        Path | None, typer.Option(help="JSON file with a declared mix of conditions.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Root of the evidence streams.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    engine: Annotated[
        str | None,
        typer.Option(
            help='Who runs episodes: "processes", "ray" (the extra), "rollout" (MuJoCo threads).'
        ),
    ] = None,
    episode_seconds: Annotated[
        float | None, typer.Option(help="An episode that hangs longer counts as undecided.")
    ] = None,
    to: Annotated[Path | None, typer.Option("--out", help="Folder for the audit trail.")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would take, and run no attempt.")
    ] = False,
    assume: Annotated[
        list[float] | None,
        typer.Option(help="With --plan: a failure probability to work out the chance at."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run fresh episodes of a policy until each claim is shown, refuted, or out of reach."""
    from safegym.gate.certify import certification_setting, certify_setting
    from safegym.gate.plan import GatePlan
    from safegym.gate.strata_file import read_strata
    from safegym.scenario.registry import find

    mix = None if strata is None else read_strata(strata)
    fixed = GatePlan(
        lift=lift,
        level=level,
        seed=seed,
        display=display,  # type: ignore[arg-type]  # checked there, in words
        strata=mix,
        cap=budget,
    )
    spec = find(name)
    setting = certification_setting(
        spec,
        claims=chosen_claims(spec, claim or [], formula or [], confidence),
        budget=budget,
        plan=fixed,
        workers=workers,
        engine=engine,  # type: ignore[arg-type]  # checked there, in words
        episode_seconds=episode_seconds,
    )
    if assume and not plan:
        raise GateError("--assume belongs to --plan: safegym certify NAME --plan --assume 0.002")
    if plan:
        _plan(setting, policy, assume or [], trust_pickle, algorithm, as_json)
        return
    if policy is None:
        raise GateError(f"Name a policy: safegym certify {name} --policy good ({OPTION_HELP})")
    chosen = load(policy, setting.spec, trust_pickle=trust_pickle, algorithm=algorithm)
    try:
        with GateProgress(quiet=as_json, told_later=True) as progress:
            attempt = certify_setting(setting, chosen, out=to, listener=progress.gate)
    except KeyboardInterrupt:
        err.print("An attempt that began counts; run again, and it keeps its number and episodes.")
        raise
    if as_json:
        print_json(_summary(attempt))
    else:
        _show(name, attempt, to)
    status = {"certified": Exit.HOLDS, "refuted": Exit.VIOLATED}
    raise typer.Exit(status.get(attempt.outcome, Exit.INCONCLUSIVE))


def _plan(
    setting: "Setting",
    policy: str | None,
    assumed: list[float],
    trust_pickle: bool,
    algorithm: str,
    as_json: bool,
) -> None:
    from safegym.check.statistics.ledger import AttemptLedger
    from safegym.gate.planning import plan_attempt

    name = policy or ("good" if setting.spec.good is not None else None)
    chosen = None
    if name is not None:
        chosen = load(name, setting.spec, trust_pickle=trust_pickle, algorithm=algorithm)
        setting.rehearse(chosen)
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    with working("working out the plan, and how fast episodes run", quiet=as_json):
        found = plan_attempt(setting, ledger, policy=chosen, assumed=assumed)
    if as_json:
        print_json(found.to_json())
    else:
        show_plan(found)
    raise typer.Exit(Exit.HOLDS if found.feasible else Exit.INCONCLUSIVE)


def _summary(attempt: "Attempt") -> dict[str, object]:
    from safegym.gate.evidence import stored_json

    return {
        "outcome": attempt.outcome,
        "attempt": attempt.number,
        "replayed": attempt.replayed,
        "policy": attempt.policy_digest,
        "reasons": list(attempt.reasons),
        "joint": next((item.joint for item in attempt.evidence if item.joint), ""),
        "evidence": [stored_json(item) for item in attempt.evidence],
    }


def _show(name: str, attempt: "Attempt", to: Path | None) -> None:
    from safegym.gate.assumed import further

    observed = any(item.kind == "observed" for item in attempt.evidence)
    except_ = " except invariants, observed" if observed and attempt.outcome == "certified" else ""
    title = f"{name}, attempt {attempt.number}: {attempt.outcome}{except_}"
    out.print(evidence_table(title, attempt.evidence))
    strata = strata_table(attempt.evidence)
    if strata is not None:
        out.print(strata)
    for reason in attempt.reasons:
        out.print(f"  {shown(reason)}", soft_wrap=True)
    print_joint(attempt.evidence)
    for line in further(attempt.evidence[0].assumptions if attempt.evidence else ()):
        out.print(f"  rests on: {shown(line)}", soft_wrap=True)
    if attempt.replayed:
        out.print("  a replay: this policy's attempt had ended before; no level was spent")
    if to is not None:
        line = f"audit trail in {to}; check it with: safegym audit verify {to}"
        out.print(line, soft_wrap=True)
