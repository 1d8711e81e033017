"""Chains with exact failure probabilities, as plain paths and as scenarios."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np

from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

HEIGHT = Signal("height", "1", scale=1.0)


def ruin_probability(start: int, top: int, up: Fraction) -> Fraction:
    """P(reach `top` before 0 from `start`): the linear system h = P h, by Gauss in rationals."""
    size = top + 1
    rows = [[Fraction(0)] * (size + 1) for _ in range(size)]
    for state in range(size):
        rows[state][state] = Fraction(1)
        if state == top:
            rows[state][size] = Fraction(1)
        elif state > 0:
            rows[state][state + 1] -= up
            rows[state][state - 1] -= 1 - up
    for column in range(size):
        pivot = next(r for r in range(column, size) if rows[r][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for other in range(size):
            if other != column and rows[other][column] != 0:
                by = rows[other][column]
                rows[other] = [a - by * b for a, b in zip(rows[other], rows[column], strict=True)]
    return rows[start][size]


def reach_probability(start: int, top: int, up: Fraction, steps: int) -> Fraction:
    """P(reach `top` before 0 within `steps` steps), by carrying the law on exactly."""
    mass, reached = {start: Fraction(1)}, Fraction(0)
    for _ in range(steps):
        onward: dict[int, Fraction] = {}
        for state, share in mass.items():
            for target, chance in ((state + 1, up), (state - 1, 1 - up)):
                if target == top:
                    reached += share * chance
                elif target > 0:
                    onward[target] = onward.get(target, Fraction(0)) + share * chance
        mass = onward
    return reached


@dataclass(frozen=True)
class Trail:
    """A path of a chain: its states, and what counts."""

    states: tuple[int, ...]
    level: float
    violated: bool
    undecided: bool
    steps: int


class Walker:
    """The source of paths of a walk on 0..top, absorbed at both; level: highest state minus top.

    `break_off`: the chance that a path is cut off at a step, which leaves it undecided.
    """

    def __init__(self, start: int, top: int, up: float, break_off: float = 0.0) -> None:
        self.start, self.top, self.up, self.break_off = start, top, up, break_off

    def fresh(self, seed: int) -> Trail:
        return self._on((self.start,), seed)

    def branch(self, path: Trail, level: float, seed: int) -> Trail:
        at = next(n for n, state in enumerate(path.states) if state - self.top > level)
        return self._on(path.states[: at + 1], seed)

    def trim(self, path: Trail, level: float) -> Trail:
        return path

    def _on(self, states: tuple[int, ...], seed: int) -> Trail:
        generator, found, cut = np.random.default_rng(seed), list(states), False
        while 0 < found[-1] < self.top and not cut:
            up, cut = generator.random() < self.up, generator.random() < self.break_off
            found.append(found[-1] + (1 if up else -1))
        reached = found[-1] == self.top
        return Trail(
            tuple(found),
            float(max(found) - self.top),
            reached or cut,
            cut and not reached,
            len(found) - len(states),
        )


class Climb(gym.Env[Any, Any]):
    """Goes up with probability `up` at each step, else down, from `start`; ends at 0 and at top."""

    def __init__(self, start: int, top: int, up: float) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1e3, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.start, self.top, self.up = start, top, up
        self.height = start

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.height = self.start
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.height += 1 if self.np_random.random() < self.up else -1
        terminal = {0: "bottom", self.top: "top"}.get(self.height, "")
        return self._seen(), 0.0, bool(terminal), False, {"terminal": terminal} if terminal else {}

    def _seen(self) -> Any:
        return np.array([self.height], np.float32)


def read_height(env: Any) -> tuple[float]:
    return (float(env.height),)


def climb_claim(top: int) -> Claim:
    return Claim("climb.top", prob(eventually(top <= HEIGHT)) < 0.01, confidence=0.95)


def climb_spec(start: int, top: int, up: float, horizon: int) -> ScenarioSpec:
    """The climb as a scenario: failure probability `reach_probability(start, top, up, horizon)`."""

    def make() -> Climb:
        return Climb(start, top, up)

    return ScenarioSpec(
        name="test/climb-v0",
        summary="a walk with a known chance of reaching the top",
        make_env=make,
        read_signals=read_height,
        signals=(HEIGHT,),
        clock=Clock(Fraction(1, 10)),
        horizon=horizon,
        claims=(climb_claim(top),),
        terminals={"bottom": "absorbed", "top": "failed"},
        physics=("gymnasium",),
    )


class Drawn(gym.Env[Any, Any]):
    """All chance at reset: height = x1 + ... + xd, each uniform in [0, 1]; three steps long."""

    def __init__(self, dimension: int, power: float = 1.0) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1e3, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.dimension, self.power, self.height = dimension, power, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = (self.np_random.random(self.dimension) ** self.power).tolist()
        named = {f"x{n}": value for n, value in enumerate(drawn)}
        named.update((options or {}).get("parameters", {}))
        self.height = float(sum(named.values()))
        return np.zeros(1, np.float32), {"parameters": named}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), 0.0, False, False, {}


def drawn_spec(dimension: int, limit: float, power: float = 1.0) -> ScenarioSpec:
    """Fails where the sum of `dimension` uniform draws is at least `limit`."""
    parameters = tuple(Parameter(f"x{n}", "1", 0.0, 1.0) for n in range(dimension))

    def make() -> Drawn:
        return Drawn(dimension, power)

    return replace(
        climb_spec(1, 3, 0.5, 3),
        name="test/drawn-v0",
        make_env=make,
        parameters=parameters,
        claims=(Claim("drawn.sum", prob(eventually(limit <= HEIGHT)) < 0.01, confidence=0.95),),
        terminals={},
    )


def corner_probability(dimension: int, limit: float) -> float:
    """P(sum of uniforms >= limit) for limit within 1 of the dimension: a corner's simplex."""
    room, volume = dimension - limit, 1.0
    for n in range(1, dimension + 1):
        volume *= room / n
    return volume


def still(width_name: str = "still") -> ScriptedPolicy:
    """A policy that does nothing."""
    return ScriptedPolicy(width_name, lambda rows: np.zeros((len(rows), 1), np.float32))


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Mean, and its standard error."""
    found = np.asarray(values)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))


MakeSpec = Callable[[], ScenarioSpec]
