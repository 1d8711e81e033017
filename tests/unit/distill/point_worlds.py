"""A point on a line that is to reach one side: two scenarios, told apart by a flag."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from safegym.formula.build import eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Clock

PLACE = Signal("place", "m", scale=1.0)


class Point(gym.Env[Any, Any]):
    """place += 0.2 * action, from anywhere in [-0.2, 0.2]; the flag is the side to reach."""

    def __init__(self, side: float, choices: int = 0, low: float = -1.0) -> None:
        self.side, self.place, self.choices = side, 0.0, choices
        self.observation_space = spaces.Box(-4.0, 4.0, (2,), np.float32)
        box = spaces.Box(low, 1.0, (1,), np.float32)
        self.action_space = spaces.Discrete(choices) if choices else box

    def seen(self) -> np.ndarray[Any, Any]:
        return np.array([self.place, self.side], np.float32)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = float(self.np_random.uniform(-0.2, 0.2))
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        pushed = float(action) - 1.0 if self.choices else float(np.clip(action[0], -1.0, 1.0))
        self.place += 0.2 * pushed
        return self.seen(), -abs(self.place - self.side), False, False, {}


def right() -> Point:
    return Point(1.0)


def left() -> Point:
    return Point(-1.0)


def right_by_choice() -> Point:
    return Point(1.0, choices=3)


def left_by_choice() -> Point:
    return Point(-1.0, choices=3)


def unbounded() -> Point:
    return Point(1.0, low=-np.inf)


def read_point(env: Any) -> tuple[float]:
    return (env.place,)


def point_spec(make: Any, **changes: Any) -> ScenarioSpec:
    side = make().side
    reached = Claim(f"point.{make.__name__}", eventually(abs(PLACE - side) < 0.3))
    fields: dict[str, Any] = {
        "name": f"test/{make.__name__}",
        "summary": "A point on a line.",
        "make_env": make,
        "read_signals": read_point,
        "signals": (PLACE,),
        "clock": Clock(Fraction(1, 10)),
        "horizon": 20,
        "claims": (reached,),
        "terminals": {"terminated": "failed"},
    }
    return ScenarioSpec(**{**fields, **changes})


def to_the_right(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.clip(2.0 * (1.0 - rows[:, :1]), -1.0, 1.0)


def to_the_left(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.clip(2.0 * (-1.0 - rows[:, :1]), -1.0, 1.0)


def choose_right(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(rows[:, 0] < 0.9, 2, np.where(rows[:, 0] > 1.1, 0, 1))


def choose_left(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(rows[:, 0] > -0.9, 0, np.where(rows[:, 0] < -1.1, 2, 1))


RIGHT, LEFT = (ScriptedPolicy(f.__name__, f) for f in (to_the_right, to_the_left))
CHOOSES_RIGHT, CHOOSES_LEFT = (ScriptedPolicy(f.__name__, f) for f in (choose_right, choose_left))
