"""`safegym distil`: one student of one or several teachers, a network or a tree."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safegym.cli.console import Exit, err, evidence_table, out, print_json, shown
from safegym.cli.distil_progress import DistilProgress
from safegym.cli.policies import OPTION_HELP, load
from safegym.errors import GateError

if TYPE_CHECKING:
    from safegym.gate.distill import Net, Taught, Teacher, Tree


def distil(
    teacher: Annotated[
        list[str],
        typer.Argument(
            help="SCENARIO=POLICY, one a teacher, e.g. mobile/aisle-v0=good. POLICY: "
            + OPTION_HELP,
            show_default=False,
        ),
    ],
    to: Annotated[
        Path | None, typer.Option("--out", help="Folder for the student and the audit trails.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on in --out; everything else as before.")
    ] = False,
    hidden: Annotated[
        str | None, typer.Option(help="A network of these layers, e.g. 64,64 (the default).")
    ] = None,
    leaves: Annotated[
        int | None, typer.Option(help="A decision tree of at most so many leaves instead.", min=1)
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of watching.", min=1)] = 8,
    episodes: Annotated[int, typer.Option(help="Episodes of a teacher in a round.", min=1)] = 32,
    updates: Annotated[
        int, typer.Option(help="Gradient steps of a network in a round.", min=1)
    ] = 1_000,
    beta: Annotated[
        float, typer.Option(help="DAgger: in round i the teacher leads BETA**i of the steps.")
    ] = 0.0,
    held_out: Annotated[int, typer.Option(help="Episodes of the report.", min=1)] = 64,
    certify: Annotated[
        bool, typer.Option(help="Certify the student on all claims of all scenarios.")
    ] = True,
    certify_teachers: Annotated[
        bool, typer.Option(help="Certify each teacher on its scenario first.")
    ] = True,
    budget: Annotated[int, typer.Option(help="Most episodes of one attempt.", min=1)] = 3_000,
    lift: Annotated[
        float | None, typer.Option(help="Certify trace-level claims as prob(phi) >= LIFT.")
    ] = None,
    level: Annotated[float, typer.Option(help="Error level of claims without confidence.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Root of all seeds.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Processes of the certifications.", min=1)] = 1,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Distil teachers into one student, and certify it where each of them teaches.

    Exit status: 0 the student is certified on all scenarios (with --no-certify: it was made), 1 a
    claim is refuted, 2 bad input, 3 inconclusive.
    """
    from safegym.gate.distill import distil_teachers
    from safegym.gate.plan import GatePlan

    if resume and to is None:
        raise GateError("--resume goes on in a folder: add --out FOLDER.")
    teachers = [_teacher(each, trust_pickle, algorithm) for each in teacher]
    student = _student(hidden, leaves, updates)
    with DistilProgress(quiet=as_json) as progress, _kept(progress, to):
        found = distil_teachers(
            teachers,
            student=student,
            rounds=rounds,
            episodes=episodes,
            held_out=held_out,
            beta=beta,
            certify=certify,
            certify_teachers=certify_teachers,
            budget=budget,
            plan=GatePlan(lift=lift, level=level, seed=seed),
            workers=workers,
            out=to,
            resume=resume,
            seed=seed,
            listener=progress.hear,
        )
    _tell(found, as_json=as_json)
    raise typer.Exit(_status(found) if certify else Exit.HOLDS)


@contextmanager
def _kept(progress: DistilProgress, to: Path | None) -> Generator[None]:
    """Say how to go on where a distillation ends early."""
    try:
        yield
    except BaseException:
        if to is not None and progress.rounds:
            line = f"Rounds that ended are kept in {to}; the same command with --resume goes on"
            err.print(line, soft_wrap=True)
        raise


def _tell(found: "Taught", *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)


def _teacher(text: str, trust_pickle: bool, algorithm: str) -> "Teacher":
    from safegym.gate.distill import Teacher
    from safegym.scenario.registry import find

    name, equals, policy = text.partition("=")
    if not equals or not name or not policy:
        raise GateError(
            f"A teacher is written SCENARIO=POLICY, found {text!r}: for example "
            "mobile/aisle-v0=good, or drone/corridor-v0=runs/a/policies/0123456789abcdef."
        )
    spec = find(name)
    return Teacher(spec, load(policy, spec, trust_pickle=trust_pickle, algorithm=algorithm))


def _student(hidden: str | None, leaves: int | None, updates: int) -> "Net | Tree":
    from safegym.gate.distill import Net, Tree

    if leaves is not None:
        if hidden is not None:
            raise GateError("--hidden makes a network, --leaves a tree; give one of them.")
        return Tree(leaves=leaves)
    try:
        layers = (64, 64) if hidden is None else tuple(int(n) for n in hidden.split(","))
    except ValueError:
        raise GateError(f"--hidden {hidden}: write whole numbers, e.g. --hidden 64,64.") from None
    return Net(hidden=layers, updates=updates)


def _status(found: "Taught") -> Exit:
    return {"certified": Exit.HOLDS, "refuted": Exit.VIOLATED}.get(
        found.joint.outcome, Exit.INCONCLUSIVE
    )


def _show(found: "Taught") -> None:
    for part in found.joint.parts:
        if part.evidence:
            out.print(evidence_table(shown(part), part.evidence))
    out.print(shown(found), soft_wrap=True)
    if found.folder:
        out.print(f"written to {found.folder}", soft_wrap=True)
        trails = [part.folder for part in found.joint.parts if part.folder]
        for trail in trails:
            out.print(f"check with: safegym audit verify {trail}", soft_wrap=True)
