"""A process plant: balance equations stepped beside a MuJoCo scene that shows it.

Nothing in the scene has dynamics of its own: mocap bodies are the levels, valves and gauges. The
equations are integrated at every physics step with Heun's method (explicit trapezoid, second
order). The step is far below the plants' fastest time constant; tests compare with closed forms.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.signals import Custom
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector

GRAVITY = 9.81
State = list[float]


class Plant(SceneEnv):
    """The base of the plants.

    A plant gives `rates` (time derivatives of its state, by its inputs), `begin` (the state at the
    start), `gauges` (values by name, of the state now), `show` (moves what is seen). `inputs` holds
    what the actuators do now: the action after travel limits, in [0, 1] each. `set_point` and
    `integral` are the plant computer's: the integral of the control error, held within [-1, 1] so
    that it does not wind up, and given in the observation.
    """

    measures: ClassVar[tuple[Signal, ...]] = ()
    """Signals, in order; `gauges` gives a value for each."""
    told: ClassVar[tuple[Signal, ...]] = ()
    """Signals of each sample, the values of which `task_signals` gives."""
    travel: ClassVar[float] = 0.2
    """Largest change of an actuator, share of its range per s."""
    reset_time: ClassVar[float] = 20.0
    """s: of the integral."""
    setting: Setting

    def prepare(self) -> None:
        """Empty, shut and at rest."""
        self.state: State = [0.0]
        self.inputs: State = [0.0] * self.setting.actions
        self.asked: State = [0.0] * self.setting.actions
        self.pushes: dict[str, float] = {}
        self.integral = 0.0
        self.clock = 0.0

    # what a plant gives

    def begin(self, values: dict[str, float]) -> State:
        """The state at the start of an episode."""
        raise NotImplementedError

    def rates(self, state: State) -> State:
        """Time derivatives of the state under the inputs and pushes of now."""
        raise NotImplementedError

    def gauges(self) -> dict[str, float]:
        """Values of `measures` by name."""
        raise NotImplementedError

    def error(self) -> float:
        """Set point less measured value, about [-1, 1]; what the integral is of."""
        return 0.0

    def limits(self, state: State) -> State:
        """The state with what cannot be cut off, such as a level below the floor."""
        return state

    def actuate(self, inputs: State) -> State:
        """What the actuators really do, given what they were moved to."""
        return inputs

    # SceneEnv's side

    def readers(self) -> Readers:
        """One for each of `measures`."""
        return tuple((each, Custom(_Gauge(self, each.name))) for each in self.measures)

    def place(self, values: dict[str, float]) -> None:
        """Begin, with actuators at rest where `inputs_at_start` has them."""
        self.inputs = list(self.inputs_at_start())
        self.asked = list(self.inputs)
        self.pushes = {}
        self.integral, self.clock = 0.0, 0.0
        self.state = self.begin(values)
        self.show()

    def inputs_at_start(self) -> Sequence[float]:
        """Positions of the actuators at the start, in [0, 1]."""
        return [0.0] * self.setting.actions

    def command(self, action: Vector) -> None:
        """The action, from [-1, 1] to [0, 1], is what the actuators are to move to."""
        left = self._left
        self.asked = [left * 0.5 * (1.0 + each) for each in action.tolist()]

    def weakened(self, left: float) -> None:
        """An actuator's range shrinks: `command` reads `left`."""

    def disturb(self, pushes: dict[str, float]) -> None:
        """Kept for `rates`."""
        self.pushes = pushes

    def push(self, name: str) -> float:
        """The disturbance of now, 0 where none acts."""
        return self.pushes.get(name, 0.0)

    def tick(self) -> None:
        """Move the actuators, then one step of Heun's method."""
        dt = self.setting.timestep
        most = self.travel * dt
        self.inputs = [
            now + min(most, max(-most, to - now))
            for now, to in zip(self.inputs, self.asked, strict=True)
        ]
        first = self.rates(self.state)
        guess = [x + dt * rate for x, rate in zip(self.state, first, strict=True)]
        second = self.rates(self.limits(guess))
        self.state = self.limits(
            [
                x + 0.5 * dt * (one + two)
                for x, one, two in zip(self.state, first, second, strict=True)
            ]
        )
        self.clock += dt

    def progress(self) -> None:
        """Bring the integral and the picture up to date."""
        step = self.setting.dt / self.reset_time
        self.integral = min(1.0, max(-1.0, self.integral + step * self.error()))
        self.show()

    def show(self) -> None:
        """Move the mocap bodies: "level_1" and so on by default to the heights of `heights`."""
        for number, (x, y, height) in enumerate(self.heights(), start=1):
            body = self.model.body(f"level_{number}").mocapid[0]
            self.data.mocap_pos[body] = (x, y, height)

    def heights(self) -> Sequence[tuple[float, float, float]]:
        """Where the upper side of each liquid is: x, y, z in m."""
        return ()

    def reward(self, action: Vector) -> float:
        """Small error and quiet actuators."""
        return 1.0 - min(2.0, abs(self.error()) * 4.0) - 0.05 * float(np.abs(action).mean())


class _Gauge:
    """Reads one gauge of a plant, which MuJoCo knows nothing of."""

    def __init__(self, plant: Plant, name: str) -> None:
        self._plant, self._name = plant, name

    def __call__(self, model: Any, data: Any) -> float:
        return self._plant.gauges()[self._name]
