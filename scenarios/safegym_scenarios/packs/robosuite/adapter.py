"""robosuite's tasks as scenarios; signals are read at control samples (20 Hz)."""

import logging
from importlib import import_module
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.reading import Reading
from safegym_scenarios.packs.robots import (
    bare_row,
    mechanical_readings,
    robot_spec,
    wild_policy,
)
from safegym_scenarios.packs.row import Row

TABLE = files("safegym_scenarios.packs.robosuite").joinpath("table.json")
PHYSICS = ("gymnasium", "robosuite", "mujoco")
RATE = 20
STEPS = 30


class SuiteRobotEnv(gym.Env[NDArray[np.float64], NDArray[np.float64]]):
    """A task with a Panda (two for two-arm tasks), no cameras, no time limit."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, task: str, render_mode: str | None = None) -> None:
        logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
        robosuite: Any = import_module("robosuite")

        self.render_mode = render_mode
        self._suite: Any = robosuite.make(
            task,
            robots=["Panda", "Panda"] if task.startswith("TwoArm") else "Panda",
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            control_freq=RATE,
            ignore_done=True,
            horizon=10_000_000,
        )
        low, high = self._suite.action_spec
        self.action_space = gym.spaces.Box(low, high, dtype=np.float64)
        size = len(self._flat(self._suite.reset()))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float64)

    @property
    def sim(self) -> Any:
        """Of robosuite; built anew by each reset."""
        return self._suite.sim

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """The seed decides placement and initial noise."""
        super().reset(seed=seed)
        generator = np.random.default_rng(int(self.np_random.integers(2**31)))
        self._suite.rng = generator
        for holder in (*self._suite.robots, getattr(self._suite, "placement_initializer", None)):
            _reseed(holder, generator)
        return self._flat(self._suite.reset()), {}

    def step(
        self, action: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """One control step of 0.05 s."""
        observation, reward, _, _ = self._suite.step(np.asarray(action, np.float64))
        return self._flat(observation), float(reward), False, False, {}

    def _flat(self, observation: Any) -> NDArray[np.float64]:
        parts = [np.ravel(np.asarray(part, np.float64)) for part in observation.values()]
        return np.concatenate(parts)

    def close(self) -> None:
        """Free the simulation."""
        self._suite.close()


def _reseed(holder: Any, generator: np.random.Generator) -> None:
    """Samplers of placements keep generators of their own, one inside the other."""
    if holder is None:
        return
    if hasattr(holder, "rng"):
        holder.rng = generator
    samplers = getattr(holder, "samplers", None)
    for inner in samplers.values() if isinstance(samplers, dict) else ():
        _reseed(inner, generator)


def make_inner(env_id: str) -> SuiteRobotEnv:
    """env_id: a task, such as "Lift"."""
    return SuiteRobotEnv(env_id)


def readings(row: Row) -> tuple[Reading, ...]:
    """The same for every task."""
    return mechanical_readings(False)


def bad_policy(row: Row) -> Any:
    """Thrashes."""
    return wild_policy(row, make_inner)


def spec_of(row: Row) -> ScenarioSpec:
    """The scenario of a row."""
    return robot_spec(
        row,
        make_inner,
        pack="robosuite",
        summary=f"robosuite's {row.env_id} with a Panda.",
        hooked=False,
        physics=PHYSICS,
    )


def bare_rows() -> list[Row]:
    """Every registered task that takes a Panda, without limits."""
    robosuite: Any = import_module("robosuite")

    return [
        bare_row(f"robosuite/{task.lower()}-v0", task, f"{1 / RATE:g}", STEPS)
        for task in sorted(robosuite.ALL_ENVIRONMENTS)
    ]
