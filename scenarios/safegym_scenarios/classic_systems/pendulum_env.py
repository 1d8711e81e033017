"""Gymnasium's pendulum with another bob, a torque from outside, and faults."""

from dataclasses import dataclass
from functools import cache
from math import pi
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 0.05
HORIZON = 160
MAX_TORQUE = 2.0
_SCALES = (0.1, 0.1, 1.0)


@dataclass(frozen=True, slots=True)
class Pendulum:
    """What makes this pendulum differ from Gymnasium's.

    mass: kg. friction: torque of the bearing over angular speed, N m s/rad. gusty: whether seeds
    draw the torque from outside. always: parameters that every seed draws, besides the start.
    """

    mass: float = 1.0
    friction: float = 0.0
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Starts and faults; the torque from outside is one number for each 0.8 s."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            (
                _start("start_angle", "rad", pi, "angle from upright at the start"),
                _start("start_angular_speed", "rad/s", 1.0, "angular speed at the start"),
                *self.always,
            ),
            standard_faults(DT, HORIZON, steps=2, without=always),
            (Disturbance("torque", "N m", -0.4, 0.4, 10, 0.0, "on the pendulum from outside"),),
        )


def _start(name: str, unit: str, limit: float, meaning: str) -> Parameter:
    return Parameter(name, unit, -limit, limit, 0.0, meaning, "initial")


@cache
def inputs_of(variant: Pendulum) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class KnobbedPendulum(KnobbedEnv):
    """The pendulum of a variant; the starts are Gymnasium's own numbers."""

    def __init__(self, variant: Pendulum, render_mode: str | None = None) -> None:
        bare = PendulumEnv(render_mode=render_mode)
        bare.m = variant.mass
        super().__init__(
            bare, inputs_of(variant), dt=DT, scales=_SCALES, shared=True, gusty=variant.gusty
        )
        self._friction = variant.friction
        self._torque, self.effort = 0.0, 0.0

    def prepare(self) -> None:
        """No torque from outside, and none of the motor's yet."""
        self._torque, self.effort = 0.0, 0.0

    def place(self, observation: Any) -> Any:
        """The start that the parameters say; Gymnasium's own where nobody sets one."""
        angle = self.parameters["start_angle"]
        speed = self.parameters["start_angular_speed"]
        self.bare.state[:] = angle, speed
        observation[:] = np.cos(angle), np.sin(angle), speed
        return observation

    def push(self, pushes: Any) -> None:
        """A torque from outside, N m."""
        self._torque = pushes["torque"]

    def act(self, action: Any) -> Step:
        """The bare step; the motor's torque is limited before what acts from outside is added."""
        motor = float(np.clip(action, -MAX_TORQUE, MAX_TORQUE)[0]) * self.left
        self.effort = abs(motor)
        around = self._torque - self._friction * float(self.bare.state[1])
        if not around and self.left == 1.0:
            return self.bare.step(action)  # type: ignore[no-any-return] # Gymnasium's own tuple
        self.bare.max_torque = np.inf
        try:
            return self.bare.step(np.array([motor + around]))  # type: ignore[no-any-return] # Gymnasium's own tuple
        finally:
            self.bare.max_torque = MAX_TORQUE


def make_pendulum(variant: Pendulum, render_mode: str | None = None) -> KnobbedPendulum:
    """The environment of a variant."""
    return KnobbedPendulum(variant, render_mode)


def read_pendulum(env: Any) -> tuple[float, ...]:
    """Angle from upright in [-pi, pi), angular speed, the motor's torque, its change."""
    angle, speed = env.bare.state.tolist()
    return (angle + pi) % (2.0 * pi) - pi, speed, env.effort, env.action_change
