"""Gymnasium-Robotics' environments as scenarios; signals are read at control samples.

Its Fetch and Shadow Hand environments need mujoco 3.11 or older; rows for them are there, and what
the installed mujoco cannot build says so.
"""

import warnings
from functools import partial
from importlib import import_module
from importlib.resources import files
from typing import Any

import gymnasium as gym

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.build import flat
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.robots import (
    bare_row,
    mechanical_readings,
    robot_spec,
    wild_policy,
)
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.robotics").joinpath("table.json")
PHYSICS = ("gymnasium", "gymnasium-robotics", "mujoco")
_ROBOTS = ("point_env", "ant_env")
_LEFT_OUT = ("Dense", "Sparse", "MaMuJoCo", "mamujoco")
"""Rewards that differ leave the physics the same."""


def make_inner(env_id: str) -> Any:
    """The environment as it is registered, its observation a vector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gymnasium_robotics: Any = import_module("gymnasium_robotics")

        gym.register_envs(gymnasium_robotics)
        return flat(gym.make(env_id, disable_env_checker=True))


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every robot."""
    return mechanical_readings(False)


def bad_policy(row: Row) -> Any:
    """Thrashes."""
    return wild_policy(row, make_inner)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    return robot_spec(
        row,
        make_inner,
        pack="robotics",
        summary=f"Gymnasium-Robotics' {row.env_id}.",
        hooked=False,
        physics=PHYSICS,
    )


def _control_step(env: Any) -> float:
    """Seconds a step: its own dt, or that of the robot inside a maze."""
    holder = next(
        each for each in (env, *(getattr(env, n, None) for n in _ROBOTS)) if hasattr(each, "dt")
    )
    found: Any = holder
    return float(found.dt)


def bare_rows() -> list[Row]:
    """Every robot or maze in its newest version, without limits."""
    make = partial(make_inner, "PointMaze_UMaze-v3")
    make().close()
    newest: dict[str, str] = {}
    for env_id, entry in sorted(gym.registry.items()):
        ours = "gymnasium_robotics" in str(entry.entry_point)
        ours = ours and "mujoco_py" not in str(entry.entry_point) and "d4rl" not in env_id.lower()
        if ours and not any(word in env_id for word in _LEFT_OUT):
            newest[env_id.rpartition("-v")[0]] = env_id
    rows: list[Row] = []
    for env_id in newest.values():
        try:
            env = make_inner(env_id)
            dt = f"{_control_step(env.unwrapped):.6g}"
            env.close()
        except Exception as error:
            print(f"left out  {env_id}: {type(error).__name__}: {str(error)[:100]}")
            continue
        rows.append(bare_row(f"robotics/{env_id.lower().replace('_', '-')}", env_id, dt))
    return rows
