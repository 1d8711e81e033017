"""Meta-World's fifty tasks as scenarios; signals are read at every physics step.

It pins mujoco to 3.3.0, older than safegym asks for; scenarios run there, and say so in the
versions of their traces.
"""

import warnings
from importlib import import_module
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.robots import (
    bare_row,
    mechanical_readings,
    robot_spec,
    wild_policy,
)
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.metaworld").joinpath("table.json")
PHYSICS = ("gymnasium", "metaworld", "mujoco")


class SeededTask(gym.Wrapper[Any, Any, Any, Any]):
    """Draws the task's goal from the seed of reset; Meta-World itself draws it when it is made.

    Its observation space gives the goal's entries the range [0, 0], so it is replaced by one
    without bounds.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        shape = env.observation_space.shape
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, shape, np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Raises nothing of its own."""
        base = self.env.unwrapped
        if seed is not None:
            base.seed(seed)  # type: ignore[attr-defined] # Meta-World's own seeding
        base._freeze_rand_vec = False  # type: ignore[attr-defined] # its switch for fixed goals
        return self.env.reset(seed=seed, options=options)


def make_inner(env_id: str) -> Any:
    """env_id: a task, such as "reach-v3"; its goal can be observed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks: Any = import_module("metaworld.env_dict")
        kind = tasks.ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE[f"{env_id}-goal-observable"]
        return SeededTask(kind(seed=0))


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every task."""
    return mechanical_readings(True)


def bad_policy(row: Row) -> Any:
    """Thrashes."""
    return wild_policy(row, make_inner)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    return robot_spec(
        row,
        make_inner,
        pack="metaworld",
        summary=f"Meta-World's {row.env_id}.",
        hooked=True,
        physics=PHYSICS,
    )


def bare_rows() -> list[Row]:
    """Every task, without limits."""
    tasks: Any = import_module("metaworld.env_dict").ALL_V3_ENVIRONMENTS

    rows: list[Row] = []
    for task in sorted(tasks):
        env = make_inner(task)
        rows.append(bare_row(f"metaworld/{task}", task, f"{float(env.unwrapped.dt):.6g}", 40))
        env.close()
    return rows
