"""Gymnasium's environments, extended by what a caller may set: starts, faults and pushes.

Without options `reset` and `step` are Gymnasium's, bit for bit.
"""

from typing import Any, Literal

import numpy as np
from gymnasium import Env
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.pendulum import PendulumEnv, angle_normalize
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.inputs import Drawn, Inputs
from safegym_scenarios.classic_dynamics import (
    CARTPOLE_DT,
    CARTPOLE_INPUTS,
    PENDULUM_DT,
    PENDULUM_INPUTS,
    cartpole_step,
    effort,
    pendulum_step,
)

Observation = NDArray[np.float32]
EndlessStep = tuple[Observation, float, Literal[False], Literal[False], dict[str, Any]]
Step = tuple[Observation, float, bool, Literal[False], dict[str, Any]]
_bare_pendulum: Any = PendulumEnv
_bare_cartpole: Any = CartPoleEnv
_cost_angle: Any = angle_normalize


class _Surroundings:
    """What acts on the system during each step of one episode."""

    def __init__(self, inputs: Inputs, dt: float) -> None:
        self._inputs, self._dt = inputs, dt
        self._schedules: dict[str, tuple[float, ...]] = {}
        self._parameters: dict[str, np.float64] = {}
        self.step = 0
        self.calm = True

    def begin(self, drawn: Drawn) -> None:
        """calm: no push is given and the motor is whole, so Gymnasium's own step will do."""
        found = ((name, drawn.schedule(name)) for name in drawn.disturbances)
        self._schedules = {name: values for name, values in found if values is not None}
        self._parameters = {name: np.float64(value) for name, value in drawn.parameters.items()}
        self.calm = not self._schedules and drawn.parameters["motor_loss"] == 0.0
        self.step = 0

    def next(self) -> tuple[Any, dict[str, np.float64]]:
        """(share of the motor's effort left, push by channel) of the step that comes."""
        step, self.step = self.step, self.step + 1
        last = self._inputs.horizon - 1
        pushes = {each.name: np.float64(each.neutral) for each in self._inputs.disturbances}
        for name, values in self._schedules.items():
            pushes[name] = np.float64(values[min(step, last)])
        return effort(np, self._parameters, step, self._dt), pushes


class PushedPendulum(PendulumEnv):
    """Gymnasium's pendulum; `reset(options=...)` takes parameters and disturbances."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self._around = _Surroundings(PENDULUM_INPUTS, PENDULUM_DT)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw the start. Raises ScenarioError for an unknown option or one out of its range."""
        Env.reset(self, seed=seed)
        drawn = PENDULUM_INPUTS.draw(self.np_random, options)
        self._around.begin(drawn)
        self.state = np.array([drawn.parameters[each.name] for each in PENDULUM_INPUTS.parameters])
        self.last_u = None
        return self._seen(), drawn.info

    def step(self, u: Any) -> EndlessStep:
        """Gymnasium's step, with what acts from outside."""
        if self._around.calm:
            self._around.step += 1
            bare: EndlessStep = _bare_pendulum.step(self, u)
            return bare
        left, pushes = self._around.next()
        angle, speed = self.state
        self.last_u = motor = np.clip(u, -self.max_torque, self.max_torque)[0]
        costs = _cost_angle(angle) ** 2 + 0.1 * speed**2 + 0.001 * (motor**2)
        self.state = np.array(pendulum_step(np, (angle, speed), motor, left, pushes["torque"]))
        return self._seen(), -costs, False, False, {}

    def _seen(self) -> Observation:
        observation: Observation = _bare_pendulum._get_obs(self)
        return observation


class PushedCartPole(CartPoleEnv):
    """Gymnasium's cart-pole; `reset(options=...)` takes parameters and disturbances."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)
        self._around = _Surroundings(CARTPOLE_INPUTS, CARTPOLE_DT)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw the start. Raises ScenarioError for an unknown option or one out of its range."""
        Env.reset(self, seed=seed)
        drawn = CARTPOLE_INPUTS.draw(self.np_random, options)
        self._around.begin(drawn)
        start = [drawn.parameters[each.name] for each in CARTPOLE_INPUTS.parameters]
        self.state = np.array(start)
        self.steps_beyond_terminated = None
        return np.array(self.state, dtype=np.float32), drawn.info

    def step(self, action: Any) -> Step:
        """Gymnasium's step, with what acts from outside."""
        if self._around.calm:
            self._around.step += 1
            bare: Step = _bare_cartpole.step(self, action)
            return bare
        if self.state is None or not self.action_space.contains(action):
            raise ScenarioError(f"Action {action!r:.40} is not 0 or 1; call reset() first.")
        left, pushes = self._around.next()
        force = (self.force_mag if action == 1 else -self.force_mag) * left + pushes["cart_push"]
        self.state = np.array(cartpole_step(np, tuple(self.state), force, pushes["pole_torque"]))
        return np.array(self.state, dtype=np.float32), 1.0, self._fallen(), False, {}

    def _fallen(self) -> bool:
        x, _, angle, _ = self.state.tolist() if self.state is not None else (0.0,) * 4
        return not (abs(x) <= self.x_threshold and abs(angle) <= self.theta_threshold_radians)
