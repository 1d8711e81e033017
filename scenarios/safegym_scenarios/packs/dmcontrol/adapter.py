"""The control suite's tasks as scenarios; signals are read at control samples."""

from importlib import import_module
from importlib.resources import files
from typing import Any

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.dmcontrol.environment import SuiteEnv
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.robots import (
    bare_row,
    mechanical_readings,
    robot_spec,
    wild_policy,
)
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.dmcontrol").joinpath("table.json")
PHYSICS = ("gymnasium", "dm-control", "mujoco")


def make_inner(env_id: str) -> SuiteEnv:
    """env_id: domain and task, such as "walker/walk"."""
    domain, _, task = env_id.partition("/")
    return SuiteEnv(domain, task)


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every robot."""
    return mechanical_readings(False)


def bad_policy(row: Row) -> Any:
    """Thrashes."""
    return wild_policy(row, make_inner)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    domain, _, task = row.env_id.replace("_", " ").partition("/")
    return robot_spec(
        row,
        make_inner,
        pack="dmcontrol",
        summary=f"The control suite's {domain}, task {task}.",
        hooked=False,
        physics=PHYSICS,
    )


def bare_rows() -> list[Row]:
    """Every task of the suite, without limits; sparse rewards leave the physics the same."""
    suite: Any = import_module("dm_control.suite")

    rows: list[Row] = []
    for domain, task in suite.ALL_TASKS:
        if task.endswith("_sparse"):
            continue
        env = make_inner(f"{domain}/{task}")
        name = f"dm/{domain}-{task}-v0".replace("_", "-").lower()
        rows.append(bare_row(name, f"{domain}/{task}", f"{env.dt:.6g}"))
    return rows
