"""Safe training compared: PPO, PPO with termination, PPO-Lagrangian, and safegym's gate.

Seven tasks, one trainer, the same network, steps and seeds; only penalties, replay and gate differ
(`training/methods.py`). Each finished run leaves a row; a broken-off run goes on where it was. The
policy that a method hands over is its last one, and for safegym the released one (without a release
the best-screened). What it does is counted on 200 fresh episodes.

violation: probability that an episode is unsafe. Interquartile means over seeds with intervals from
a stratified bootstrap; one method is below another where the whole intervals are.

    python benchmarks/safe_training.py --out FOLDER [--jobs 2] [--seeds 5] [--steps N]
        [--tasks NAME ...] [--methods NAME ...]
    python benchmarks/safe_training.py --report           from the rows in benchmarks/results
    python benchmarks/safe_training.py --quick            two short runs, without a bar
"""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from training.measuring import EPISODES
from training.methods import METHODS
from training.running import CAP, run
from training.summary import bars, table
from training.tasks import TASKS

FIRST_SEED = 1
"""Seed 0 was used to choose settings."""
RESULTS = Path(__file__).parent / "results" / "safe_training.json"
QUICK_STEPS, QUICK_EPISODES = 4_096, 40


def worked(
    task: str, method: str, seed: int, steps: int, episodes: int, cap: int, folder: str
) -> dict[str, Any]:
    """One run in a process of its own."""
    torch.set_num_threads(1)
    place = Path(folder) / task / f"{method}-{seed}"
    return run(task, method, seed, steps, place, episodes=episodes, cap=cap)


def rows(arguments: argparse.Namespace, out: Path) -> list[dict[str, Any]]:
    """Every run that is asked for, seed by seed, so that a broken-off study is balanced."""
    steps: int = arguments.steps
    asked = [
        (
            task,
            method,
            seed,
            steps or TASKS[task].steps,
            arguments.episodes,
            arguments.cap,
            str(out),
        )
        for seed in range(FIRST_SEED, FIRST_SEED + arguments.seeds)
        for task in arguments.tasks
        for method in arguments.methods
    ]
    found: list[dict[str, Any]] = []
    with (
        Progress(console=Console(stderr=True)) as progress,
        ProcessPoolExecutor(
            arguments.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1
        ) as pool,
    ):
        bar = progress.add_task("runs", total=len(asked))
        for done in as_completed([pool.submit(worked, *each) for each in asked]):
            found.append(done.result())
            progress.advance(bar)
    return sorted(found, key=lambda row: (row["task"], row["method"], row["seed"]))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short runs, which show no figure")
    parser.add_argument("--json", action="store_true", help="one object for machines")
    parser.add_argument("--report", action="store_true", help="from the stored rows")
    parser.add_argument("--out", type=Path, help="folder of the runs, to go on with")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=0, help="of training, 0 for the task's")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--cap", type=int, default=CAP, help="of the attempt on each final policy")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="that show what is true")
    arguments = parser.parse_args()
    if arguments.report and not RESULTS.is_file():
        parser.error(f"--report reads {RESULTS.name} in benchmarks/results, and there is none yet")
    if arguments.quick:
        arguments.tasks, arguments.seeds = ["mobile-doorway"], 1
        arguments.methods = ["lagrangian", "safegym"]
        arguments.steps, arguments.episodes, arguments.cap = QUICK_STEPS, QUICK_EPISODES, 0
    return arguments


def main() -> int:
    """Runs and prints; 1 if a bar is missed. A quick run has no bar: it only shows that it runs."""
    arguments = parsed()
    if arguments.report:
        found = json.loads(RESULTS.read_text())["rows"]
    elif arguments.out is None:
        with tempfile.TemporaryDirectory() as folder:
            found = rows(arguments, Path(folder))
    else:
        found = rows(arguments, arguments.out)
        (arguments.out / "rows.json").write_text(json.dumps({"rows": found}, indent=1))
    shown = bars(found)
    ok = arguments.quick or all(shown["met"].values())
    if arguments.json:
        print(json.dumps({**shown, "ok": ok}))
    else:
        print(table(found))
        print(json.dumps(shown["met"], indent=2))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
