"""Gymnasium's two mountain cars with wind, drag and faults. One step is taken as one second."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 1.0
HORIZON = 200
_SCALES = (0.1, 0.01)


@dataclass(frozen=True, slots=True)
class MountainCar:
    """What makes this car differ from Gymnasium's.

    continuous: whether the engine's force is. drag: deceleration over speed, 1/s. gusty: whether
    seeds draw the wind. always: parameters that every seed draws, besides the start.
    """

    continuous: bool = False
    drag: float = 0.0
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Start and faults; the wind is one number for each 20 s."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            (
                Parameter(
                    "start_position", "m", -0.6, -0.4, -0.5, "the car's place at rest", "initial"
                ),
                *self.always,
            ),
            standard_faults(DT, HORIZON, latest=60.0, without=always),
            (
                Disturbance(
                    "wind", "m/s^2", -2e-4, 2e-4, 10, 0.0, "acceleration by wind from behind"
                ),
            ),
        )


@cache
def inputs_of(variant: MountainCar) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class KnobbedMountainCar(KnobbedEnv):
    """The car of a variant; the start is Gymnasium's own number."""

    def __init__(self, variant: MountainCar, render_mode: str | None = None) -> None:
        kind = Continuous_MountainCarEnv if variant.continuous else MountainCarEnv
        super().__init__(
            kind(render_mode=render_mode),
            inputs_of(variant),
            dt=DT,
            scales=_SCALES,
            idle=None if variant.continuous else 1,
            shared=True,
            gusty=variant.gusty,
        )
        self._continuous, self._drag = variant.continuous, variant.drag
        self._wind, self.effort = 0.0, 0.0

    def prepare(self) -> None:
        """No wind yet."""
        self._wind, self.effort = 0.0, 0.0

    def place(self, observation: Any) -> Any:
        """The start that the parameters say; Gymnasium's own where nobody sets one."""
        self.bare.state[0] = observation[0] = self.parameters["start_position"]
        return observation

    def push(self, pushes: Any) -> None:
        """Wind from behind, m/s^2."""
        self._wind = pushes["wind"]

    def act(self, action: Any) -> Step:
        """The bare step, with drag and wind added to what the engine does."""
        wish = float(action[0]) if self._continuous else float(action) - 1.0
        wish = min(max(wish, -1.0), 1.0)
        self.effort += abs(wish) * DT
        around = self._wind - self._drag * float(self.bare.state[1])
        if not around and self.left == 1.0:
            return self.bare.step(action)  # type: ignore[no-any-return] # Gymnasium's own tuple
        if self._continuous:
            return self._pushed(wish * self.left, around)
        full, self.bare.force = self.bare.force, wish * self.left * self.bare.force + around
        try:
            return self.bare.step(2)  # type: ignore[no-any-return] # Gymnasium's own tuple
        finally:
            self.bare.force = full

    def _pushed(self, wish: float, around: float) -> Step:
        """The step of the continuous car; the reward charges what the engine does, not the wind."""
        full, self.bare.power = self.bare.power, wish * self.bare.power + around
        try:
            observation, reward, *rest = self.bare.step(np.ones(1, np.float32))
        finally:
            self.bare.power = full
        return observation, reward + 0.1 * (1.0 - wish**2), *rest

    def reason(self) -> str:
        """The car is at the flag."""
        return "reached"


def make_mountain_car(variant: MountainCar, render_mode: str | None = None) -> KnobbedMountainCar:
    """The environment of a variant."""
    return KnobbedMountainCar(variant, render_mode)


def read_mountain_car(env: Any) -> tuple[float, ...]:
    """Place and velocity of the car, and the integral of the engine's use."""
    position, velocity = env.bare.state
    return float(position), float(velocity), env.effort
