"""pydsmc under the interpreter that has it, and how its answers read."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from statistical_rivals.streams import THRESHOLD, Concluded

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = Path(__file__).resolve().with_name("pydsmc_runs.py")
VARIABLE = "SAFEGYM_PYDSMC"
Job = dict[str, Any]

KINDS: dict[str, Job] = {
    "default": {"sound": False, "epsilon": 0.1},
    "epsilon=.005": {"sound": False, "epsilon": 0.005},
    "sound": {"sound": True, "epsilon": 0.1},
    "sound, epsilon=.005": {"sound": True, "epsilon": 0.005},
}


def interpreter(asked: str | None) -> str | None:
    """The Python that has pydsmc: asked for, named by the variable, or this one; None if none."""
    named = asked or os.environ.get(VARIABLE)
    if named:
        return named
    return sys.executable if importlib.util.find_spec("pydsmc") else None


def ask(python: str, jobs: list[Job]) -> tuple[str, list[Job]]:
    """(version, answers). Raises RuntimeError with what it printed if it fails."""
    paths = [str(ROOT), str(ROOT / "scenarios"), str(ROOT / "predicates")]
    done = subprocess.run(
        [python, str(SCRIPT)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    if done.returncode:
        raise RuntimeError(f"{python} could not run pydsmc:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["version"], found["answers"]


def job(
    kind: str, failure: str, seed: int, *, sees: str = "reward", limit: int | None = None
) -> Job:
    """One evaluation; seeds are 8 apart, because copy i of a run gets seed + i."""
    return {
        **KINDS[kind],
        "failure": failure,
        "lengths": [1, 30],
        "seed": 8 * seed,
        "limit": limit,
        "sees": sees,
    }


def read(answer: Job, p: float) -> Concluded:
    """Claims p < .01 where it says that it converged and its interval lies below."""
    ends = answer["interval"] or [0.0, 1.0]
    converged = answer["converged"]
    return Concluded(
        claims=converged and ends[1] < THRESHOLD,
        misses=converged and not ends[0] <= p <= ends[1],
        episodes=answer["episodes"],
        zero=converged and ends == [0.0, 0.0],
    )
