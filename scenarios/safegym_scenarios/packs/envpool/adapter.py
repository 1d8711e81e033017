"""envpool's tasks as scenarios; signals are observation entries, read at control samples."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy
from safegym.scenario.adapt import AdaptedEnv
from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.build import spec_from
from safegym_scenarios.packs.envpool.environment import PoolEnv
from safegym_scenarios.packs.envpool.tasks import SUITE, TASKS
from safegym_scenarios.packs.policies import still, wild
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.row import Row

Function = Callable[[NDArray[Any]], NDArray[Any]]
TABLE = files("safegym_scenarios.packs.envpool").joinpath("table.json")
_ORIGIN = {
    False: "Gymnasium's system, rebuilt in C++",
    True: "the control suite's system, rebuilt in C++",
}


def readings(row: Row) -> tuple[Reading, ...]:
    """What the task's observation says."""
    return TASKS[row.env_id].readings


def reason(env: Any, info: Mapping[str, Any]) -> str:
    """Arrival where terminating is the goal, or a landing that was rewarded; else a failure."""
    goal = TASKS[env.task].goal or ("Lander" in env.task and env.last_reward > 0.0)
    return "arrived" if goal else "fallen"


def make_env(task: str) -> AdaptedEnv:
    """With the signals read."""
    reads = tuple((each.signal, each.source) for each in TASKS[task].readings)
    return AdaptedEnv(partial(PoolEnv, task), reads, reason)


def _space(row: Row) -> spaces.Space[Any]:
    env = PoolEnv(row.env_id)
    env.close()
    found: spaces.Space[Any] = env.action_space
    return found


def good_policy(row: Row) -> Any:
    """Balances where the task is to balance, holds still elsewhere."""
    task, space = TASKS[row.env_id], _space(row)
    if not task.gains:
        return still(row.name, space, task.idle)
    if isinstance(space, spaces.Discrete):
        function: Function = partial(_to_the_side, gains=task.gains)
    else:
        limits: Any = space
        most = float(np.min(limits.high))
        function = partial(_pushed, gains=task.gains, most=most)
    return ScriptedPolicy(f"{row.name}.balancing", function)


def _to_the_side(observations: NDArray[Any], *, gains: tuple[float, ...]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (observations @ np.array(gains) > 0.0).astype(np.int64)
    return found


def _end_by_end(
    observations: NDArray[Any], *, gains: tuple[float, ...], last: int
) -> NDArray[np.int64]:
    return _to_the_side(observations, gains=gains) * last


def _pushed(
    observations: NDArray[Any], *, gains: tuple[float, ...], most: float, hard: float = 1.0
) -> NDArray[np.float64]:
    force = np.clip(hard * (observations @ np.array(gains)), -most, most)
    found: NDArray[np.float64] = force[:, None]
    return found


def bad_policy(row: Row) -> Any:
    """Thrashes, or rocks the system up where thrashing does nothing to it."""
    task, space = TASKS[row.env_id], _space(row)
    if not task.rocking:
        return wild(row.name, space)
    if isinstance(space, spaces.Discrete):
        function: Function = partial(_end_by_end, gains=task.rocking, last=int(space.n) - 1)
    else:
        limits: Any = space
        function = partial(_pushed, gains=task.rocking, most=float(np.min(limits.high)), hard=1e6)
    return ScriptedPolicy(f"{row.name}.rocking", function)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    return spec_from(
        row,
        readings(row),
        pack="envpool",
        summary=f"envpool's {row.env_id}: {_ORIGIN[row.env_id in SUITE]}.",
        make_env=partial(make_env, row.env_id),
        good=partial(good_policy, row),
        bad=partial(bad_policy, row),
        physics=("gymnasium", "envpool"),
        terminals={"fallen": "failed", "arrived": "absorbed"},
    )


def bare_rows() -> list[Row]:
    """Every task whose observation is told entry by entry, without limits."""
    rows: list[Row] = []
    for env_id, task in TASKS.items():
        stem, _, number = env_id.rpartition("-")
        suite = "suite-" if env_id in SUITE else ""
        rows.append(
            Row(
                name=f"envpool/{suite}{_dashed(stem)}-{number}",
                env_id=env_id,
                dt=task.dt,
                horizon=task.horizon,
                signals=tuple(each.signal.name for each in task.readings),
                limits=(),
            )
        )
    return rows


def _dashed(name: str) -> str:
    """BallInCup becomes ball-in-cup."""
    words = "".join(f"-{each.lower()}" if each.isupper() else each for each in name)
    return words.strip("-")
