"""An environment of Gymnasium with starts, faults and pushes that a caller may set."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.scenario.inputs import Drawn, Inputs
from safegym_scenarios.draws import draw_disturbance_seed
from safegym_scenarios.gym_knobs import knobs
from safegym_scenarios.gym_knobs.lines import DelayLine, whole_steps
from safegym_scenarios.gym_knobs.sensing import Sensor

_OWN_STREAM = 0x6B6E6F62
Step = tuple[Any, Any, bool, bool, dict[str, Any]]


class KnobbedEnv(gym.Env[Any, Any]):
    """`bare` of Gymnasium, which keeps its dynamics, rewards and random numbers.

    A subclass says what its system makes of the inputs, in the hooks `prepare`, `place`, `push`,
    `act` and `reason`. `read_signals` gets this object: `bare` is the system, `parameters` the
    episode's inputs, `count` the steps so far, `left` the share of the actuators' effort in the
    last step, `action_change` the largest change of an action's entry since the step before,
    0 in the first.

    inputs: what the scenario declares. dt: control step, s. scales: of the observation's entries,
    for noise and bias (`Sensor`). idle: the action that does nothing, for discrete actions; the
    zero action of a Box without it. shared: whether the parameters are drawn from the very numbers
    that the bare environment's start is drawn from; else from a stream of their own. gusty: whether
    a seed draws the pieces of the disturbances, where the caller gives none; else there are none.
    """

    def __init__(
        self,
        bare: gym.Env[Any, Any],
        inputs: Inputs,
        *,
        dt: float,
        scales: Sequence[float],
        idle: Any = None,
        shared: bool = False,
        gusty: bool = False,
    ) -> None:
        self.bare: Any = bare.unwrapped
        self.inputs, self.dt = inputs, dt
        self.action_space, self.observation_space = bare.action_space, bare.observation_space
        self.metadata, self.render_mode = bare.metadata, bare.render_mode
        self.parameters: Mapping[str, float] = {}
        self.count, self.left, self.action_change = 0, 1.0, 0.0
        self._scales, self._shared, self._gusty = tuple(scales), shared, gusty
        space = bare.action_space
        is_box = isinstance(space, spaces.Box)
        self.idle: Any = np.zeros(space.shape, space.dtype) if idle is None and is_box else idle
        self._own = np.random.default_rng()

    def prepare(self) -> None:
        """Before the bare reset: set what the parameters say of the system."""

    def place(self, observation: Any) -> Any:
        """After the bare reset: set the start. Returns the first observation."""
        return observation

    def push(self, pushes: Mapping[str, float]) -> None:
        """Before each step of an episode with disturbances: act on the system. pushes: all."""

    def act(self, action: Any) -> Step:
        """The bare step, with `self.left` of the action's effort.

        A continuous action is scaled; of discrete ones that share is let through, evenly spread.
        """
        return self.bare.step(action if self.left == 1.0 else self.weakened(action))  # type: ignore[no-any-return] # Gymnasium's own tuple

    def reason(self) -> str:
        """Why the bare environment terminated, for `terminals` of the spec."""
        return "terminated"

    def weakened(self, action: Any) -> Any:
        """The action with a share of its effort left."""
        if isinstance(self.action_space, spaces.Box):
            scaled: NDArray[Any] = np.asarray(action) * self.left
            return scaled.astype(self.action_space.dtype)
        return action if self.fires() else self.idle

    def fires(self) -> bool:
        """Whether an on-off actuator obeys this time: `left` of the times, evenly spread."""
        self._credit += self.left
        if self._credit < 1.0 - 1e-9:
            return False
        self._credit -= 1.0
        return True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Draw the inputs, then start. Raises ScenarioError for an option that is not declared."""
        super().reset(seed=seed)
        if seed is not None:
            self._own = np.random.default_rng((seed, _OWN_STREAM))
        drawn = self.inputs.draw(self.np_random if self._shared else self._own, options)
        noise_seed = draw_disturbance_seed(self._own, options)
        if self._gusty:
            drawn = self.inputs.draw_pieces(self._own, drawn)
        self._begin(drawn, noise_seed)
        self.prepare()
        observation, _ = self.bare.reset(seed=seed)
        observation = self._sensor.see(self.place(observation), self._box())
        return observation, {**drawn.info, "disturbance_seed": noise_seed}

    def _begin(self, drawn: Drawn, noise_seed: int) -> None:
        self.parameters = drawn.parameters
        found = ((name, drawn.schedule(name)) for name in drawn.disturbances)
        self._schedules = {name: values for name, values in found if values is not None}
        late = whole_steps(self.parameters.get(knobs.ACTION_DELAY, 0.0), self.dt)
        self._line = DelayLine(late, self.idle)
        self._sensor = Sensor(self.parameters, self._scales, self.dt, noise_seed)
        self._loss = self.parameters.get(knobs.ACTUATOR_LOSS, 0.0)
        self._loss_step = self.parameters.get(knobs.ACTUATOR_LOSS_TIME, 0.0) / self.dt
        self._credit, self._last = 0.0, None
        self.count, self.left, self.action_change = 0, 1.0, 0.0

    def step(self, action: Any) -> Step:
        """One control step, with what acts from outside."""
        action = self._noted(action)
        if self._loss:
            after = min(max(self.count + 1 - self._loss_step, 0.0), 1.0)
            self.left = 1.0 - self._loss * after
        if self._schedules:
            self.push(self._pushes())
        observation, reward, terminated, truncated, info = self.act(self._line.through(action))
        self.count += 1
        if terminated:
            info = {**info, "terminal": self.reason()}
        observation = self._sensor.see(observation, self._box())
        return observation, reward, bool(terminated), truncated, info

    def _pushes(self) -> dict[str, float]:
        """Every channel's value during the step that comes; at rest where none is given."""
        last = min(self.count, self.inputs.horizon - 1)
        pushes = {each.name: each.neutral for each in self.inputs.disturbances}
        pushes.update((name, values[last]) for name, values in self._schedules.items())
        return pushes

    def render(self) -> Any:
        """The bare environment's picture."""
        return self.bare.render()

    def close(self) -> None:
        """Close the bare environment."""
        self.bare.close()

    def _box(self) -> Any:
        return self.observation_space

    def _noted(self, action: Any) -> Any:
        """The action, as it stays even if the caller writes into its array."""
        if isinstance(action, np.ndarray):
            action = action.copy()
        if self._last is not None:
            change = np.abs(np.subtract(action, self._last, dtype=np.float64))
            self.action_change = float(change.max()) if np.ndim(change) else float(change)
        self._last = action
        return action
