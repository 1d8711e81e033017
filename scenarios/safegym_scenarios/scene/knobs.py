"""The standard faults and pushes of a scene: what is declared, and what acts during an episode.

Every family declares the same names, so that statistics, searches and replay drive the same knobs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter

Vector = NDArray[np.float64]
PIECES = 8
LOSS, LOSS_TIME, ACTION_DELAY = "actuator_loss", "actuator_loss_time", "action_delay"
NOISE, BIAS, DROPOUT = "sensor_noise", "sensor_bias", "sensor_dropout"
SENSOR_DELAY, FRICTION_LOSS = "sensor_delay", "friction_loss"


def standard_faults(
    duration: float,
    *,
    loss: float = 1.0,
    delay: float = 0.2,
    noise: float = 0.1,
    bias: float = 0.1,
    friction: bool = False,
) -> tuple[Parameter, ...]:
    """The faults that every family has, each at rest 0.

    duration: s of the episode. loss, delay (s), noise, bias: upper ends of their ranges; the last
    two in units of the observation. friction: whether the floor can get slippery too.
    """
    found = (
        Parameter(LOSS, "1", 0.0, loss, 0.0, "share of the actuators' effort that is lost"),
        Parameter(LOSS_TIME, "s", 0.0, duration, 0.0, "when it is lost"),
        Parameter(ACTION_DELAY, "s", 0.0, delay, 0.0, "how late actions act, in whole steps"),
        Parameter(NOISE, "1", 0.0, noise, 0.0, "standard deviation added to each observed entry"),
        Parameter(BIAS, "1", 0.0, bias, 0.0, "added to each observed entry"),
        Parameter(DROPOUT, "1", 0.0, 0.9, 0.0, "chance per step that the last observation stays"),
        Parameter(SENSOR_DELAY, "s", 0.0, delay, 0.0, "how late observations are, in whole steps"),
    )
    slippery = Parameter(FRICTION_LOSS, "1", 0.0, 0.9, 0.0, "share of the friction that is lost")
    return (*found, slippery) if friction else found


def push(
    newtons: float, *, axes: Sequence[str] = ("forward", "left"), pieces: int = PIECES
) -> tuple[Disturbance, ...]:
    """Forces on the body in world axes: forward (x), left (y), up (z), each up to `newtons`."""
    return tuple(
        Disturbance(
            f"push_{axis}", "N", -newtons, newtons, pieces, 0.0, f"force {axis} on the body"
        )
        for axis in axes
    )


class Surroundings:
    """Delays, losses and errors of one episode, between a policy and its machine."""

    def __init__(self, dt: float) -> None:
        """dt: control step in s."""
        self._dt = dt
        self._values: dict[str, float] = {}
        self._random = np.random.default_rng(0)
        self._sent: list[Vector] = []
        self._seen: list[Vector] = []
        self._last: Vector | None = None
        self._step = 0

    def begin(self, values: Mapping[str, float], disturbance_seed: int) -> None:
        """A new episode with these faults. disturbance_seed: of noise and dropouts."""
        self._values = dict(values)
        self._random = np.random.default_rng(disturbance_seed)
        self._sent.clear()
        self._seen.clear()
        self._last = None
        self._step = 0

    def act(self, action: Vector) -> Vector:
        """The action that reaches the machine now: the one of `action_delay` ago, at first 0."""
        self._step += 1
        late = round(self._values.get(ACTION_DELAY, 0.0) / self._dt)
        if not late:
            return action
        self._sent.append(action)
        if len(self._sent) <= late:
            return np.zeros_like(action)
        return self._sent.pop(0)

    @property
    def effort_left(self) -> float:
        """Share of the actuators' effort that is left during the step that `act` began."""
        loss, onset = self._values.get(LOSS, 0.0), self._values.get(LOSS_TIME, 0.0)
        return 1.0 - loss if (self._step - 1) * self._dt >= onset - 1e-9 else 1.0

    def see(self, observation: Vector) -> Vector:
        """What the policy is told of this observation."""
        values = self._values
        late = round(values.get(SENSOR_DELAY, 0.0) / self._dt)
        if late:
            self._seen.append(observation)
            if len(self._seen) > late + 1:
                self._seen.pop(0)
            observation = self._seen[0]
        noise, bias, dropout = (values.get(name, 0.0) for name in (NOISE, BIAS, DROPOUT))
        if noise or bias:
            error = self._random.standard_normal(observation.shape)
            observation = observation + bias + noise * error
        if dropout and self._random.random() < dropout and self._last is not None:
            return self._last
        self._last = observation
        return observation


def weaken(model: Any, healthy: tuple[Any, Any], left: float) -> None:
    """Scale what all actuators give: gain and bias to the share `left` of the `healthy` ones.

    healthy: (model.actuator_gainprm.copy(), model.actuator_biasprm.copy()) of the whole machine.
    """
    gain, bias = healthy
    model.actuator_gainprm[:] = gain * left
    model.actuator_biasprm[:] = bias * left
