"""What becomes of an observation on its way to the policy, and of an action on its way back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_STREAM = 0x0B5


class Line:
    """Hands out what was put in some steps before: a queue of fixed length, at rest at first."""

    def __init__(self, steps: int, rest: Array) -> None:
        self._waiting = [rest.copy() for _ in range(steps)]

    def pass_on(self, value: Array) -> Array:
        """Put one in, take the oldest out."""
        if not self._waiting:
            return value
        self._waiting.append(value.copy())
        return self._waiting.pop(0)


class Sensing:
    """Noise, bias, dropout and delay of one episode's observations, drawn from one seed.

    noise: standard deviation of each component, in its own unit. bias: added to each. dropout:
    share of the steps at which the last observation is repeated. delay: whole control steps.
    """

    def __init__(self, seed: int, first: Array, values: dict[str, float], delay: int) -> None:
        self._generator = np.random.default_rng((_STREAM, seed))
        self._noise = values.get("sensor_noise", 0.0) + values.get("observation_noise", 0.0)
        self._bias = values.get("observation_bias", 0.0)
        self._dropout = values.get("observation_dropout", 0.0)
        self._line = Line(delay, first)
        self._last = first.copy()

    def seen(self, observation: Array) -> Array:
        """What the policy gets for this observation."""
        value = self._line.pass_on(observation)
        if self._noise or self._bias:
            drawn = self._generator.standard_normal(value.shape)
            value = value + self._bias + self._noise * drawn
        if self._dropout and self._generator.random() < self._dropout:
            return self._last.copy()
        self._last = value
        return value
