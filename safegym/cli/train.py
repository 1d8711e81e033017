"""`safegym train`: train a policy under a gate, and leave an audit trail."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from safegym.cli.assignments import assigned
from safegym.cli.console import Exit, err, evidence_table, out, plain_table, print_joint, print_json
from safegym.cli.live import LiveRun, watcher
from safegym.cli.progress import RunProgress
from safegym.cli.report import write
from safegym.errors import GateError

if TYPE_CHECKING:
    from safegym.gate.training import TrainingRun


PLANNED = (
    "steps",
    "algo",
    "changes",
    "start_from",
    "seed",
    "cap",
    "lift",
    "level",
    "screen",
    "first_screen",
    "every",
)
"""Options that a run fixes when it begins."""


def train(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Scenario, e.g. drone/corridor-v0.")] = None,
    to: Annotated[Path | None, typer.Option("--out", help="New run folder.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    steps: Annotated[int | None, typer.Option(help="Environment steps.", min=1)] = None,
    algo: Annotated[
        str | None,
        typer.Option(
            help="ppo, a2c, trpo, recurrent-ppo, sac, td3, ddpg, dqn, tqc or qr-dqn; the "
            "scenario's own if not given."
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A hyperparameter, NAME=VALUE; may be repeated: --set learning_rate=1e-4 "
            "--set penalty.weight=4.",
        ),
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this policy or checkpoint.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Root of training and evidence seeds.", min=0)] = 0,
    cap: Annotated[int, typer.Option(help="Most episodes of an attempt.", min=1)] = 2_000,
    lift: Annotated[
        float | None, typer.Option(help="Certify trace-level claims as prob(phi) >= LIFT.")
    ] = None,
    level: Annotated[float, typer.Option(help="Error level of claims without confidence.")] = 0.05,
    screen: Annotated[int, typer.Option(help="Episodes of a screen.", min=1)] = 200,
    first_screen: Annotated[int, typer.Option(help="First epoch that is screened.", min=1)] = 1,
    every: Annotated[int, typer.Option(help="Environment steps an epoch.", min=1)] = 20_480,
    workers: Annotated[int, typer.Option(help="Processes of gate campaigns.", min=1)] = 1,
    rollout_workers: Annotated[
        int, typer.Option(help="Processes that step the training environments; 0: none.", min=0)
    ] = 0,
    live: Annotated[bool, typer.Option("--live", help="Draw the run as it goes.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for TensorBoard event files.")
    ] = None,
    mlflow: Annotated[
        str | None, typer.Option(help="MLflow store: a URI, or the path of an SQLite file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Train with penalty and replay; screen each epoch; certify what passes; promote or go on.

    Exit status: 0 a policy was certified and released, 2 bad input, 3 nothing was certified.
    """
    from safegym.gate import training
    from safegym.gate.plan import Gate, GatePlan

    title = f"{name or resume} -> {to}" if to else str(resume or name)
    with watcher(title, live=live, quiet=as_json) as progress, _kept(progress, resume or to):
        if resume is not None:
            _only_resume(context, name, to)
            run = training.resume(
                resume,
                workers=workers,
                rollout_workers=rollout_workers,
                tensorboard=tensorboard,
                mlflow=mlflow,
                listener=progress.hear,
            )
        else:
            plan = GatePlan(
                gate_every=every,
                screen_episodes=screen,
                first_screen=first_screen,
                cap=cap,
                level=level,
                lift=lift,
                seed=seed,
            )
            scenario, folder = _required(name, to)
            run = training.train(
                scenario,
                algo=algo,
                changes=assigned(changes or []),
                start_from=start_from,
                steps=steps,
                gate=Gate(plan=plan),
                out=folder,
                seed=seed,
                workers=workers,
                rollout_workers=rollout_workers,
                tensorboard=tensorboard,
                mlflow=mlflow,
                listener=progress.hear,
            )
    report = _report(run)
    if as_json:
        print_json(_summary(run, report))
    else:
        _show(run, report)
    raise typer.Exit(Exit.HOLDS if run.status == "promoted" else Exit.INCONCLUSIVE)


@contextmanager
def _kept(progress: LiveRun | RunProgress, run: Path | None) -> Generator[None]:
    """Say how to go on where training fails after it had begun."""
    try:
        yield
    except Exception:
        if progress.began:
            line = f"What was checkpointed is kept; go on with: safegym train --resume {run}"
            err.print(line, soft_wrap=True)
        raise


def _only_resume(context: typer.Context, name: str | None, to: Path | None) -> None:
    options = {each.name: each.opts[0] for each in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in PLANNED}
    given = [
        options[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"
    ]
    given += ["the scenario"] * (name is not None) + ["--out"] * (to is not None)
    if given:
        raise GateError(
            f"--resume RUN goes on with a run as it was planned; leave out {', '.join(given)}."
        )


def _required(name: str | None, to: Path | None) -> tuple[str, Path]:
    if name is None:
        raise GateError("Name a scenario (see `safegym scenarios`), or --resume RUN.")
    if to is None:
        raise GateError(f"Say where the run goes: safegym train {name} --out runs/first")
    return name, to


def _report(run: "TrainingRun") -> Path | None:
    """The HTML report, once the run has ended."""
    if run.status == "interrupted":
        return None
    with err.status("verifying the run and drawing its report"):
        return write(run.folder, None, [])


def _summary(run: "TrainingRun", report: Path | None) -> dict[str, object]:
    from safegym.gate.evidence import stored_json

    return {
        "status": run.status,
        "reasons": list(run.reasons),
        "epochs": run.epochs,
        "steps": run.steps,
        "policy": run.policy_digest,
        "evidence": [stored_json(item) for item in run.evidence],
        "baselines": {name: screen.to_json() for name, screen in run.baselines.items()},
        "root": run.root,
        "records": run.records,
        "report": None if report is None else str(report),
        "resume": run.resume,
    }


def _show(run: "TrainingRun", report: Path | None) -> None:
    from safegym.audit.report.figures import counted

    for name, screen in run.baselines.items():
        out.print(_baseline(name, screen.episodes, dict(screen.violations)))
    if run.evidence:
        attempt = run.evidence[0].attempt
        out.print(evidence_table(f"certification attempt {attempt}", run.evidence))
        print_joint(run.evidence)
    elif run.status != "interrupted":
        out.print("no certification attempt was made")
    colour = "green" if run.status == "promoted" else "yellow"
    after = f" after {counted(run.epochs, 'epoch')}, {run.steps} steps"
    out.print(Text.assemble((run.status, f"bold {colour}"), after))
    for reason in run.reasons:
        out.print(f"  {reason}", soft_wrap=True)
    if run.resume:
        out.print(f"go on with: {run.resume}", soft_wrap=True)
        return
    if run.policy is not None:
        out.print(f"policy   {run.policy}", soft_wrap=True)
    out.print(f"log      {run.records} records, root {run.root}", soft_wrap=True)
    if report is not None:
        out.print(f"report   {report}", soft_wrap=True)
    out.print(f"verify   safegym audit verify {run.folder}", soft_wrap=True)


def _baseline(name: str, episodes: int, violations: dict[str, int]) -> Table:
    table = plain_table(f"baseline: {name} alone, observed")
    for heading in ("claim", "episodes", "violated"):
        table.add_column(heading)
    for claim, count in violations.items():
        table.add_row(claim, str(episodes), f"{count} ({100 * count / max(1, episodes):.1f} %)")
    return table
