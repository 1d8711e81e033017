"""What the policy sees of an observation: noisy, biased, late, or not at all."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym_scenarios.gym_knobs import knobs
from safegym_scenarios.gym_knobs.lines import DelayLine, whole_steps

Observation = NDArray[Any]
_NOISE, _DROPOUT = 1, 2


class Sensor:
    """The sensor of one episode. seed: of its noise and dropouts.

    scales: one number for each entry of the observation, by which noise and bias are multiplied; 0
    where the entry has neither. Readings stay within `space`.
    """

    def __init__(
        self, parameters: Mapping[str, float], scales: Sequence[float], dt: float, seed: int
    ) -> None:
        self._noise = parameters.get(knobs.SENSOR_NOISE, 0.0)
        self._bias = parameters.get(knobs.SENSOR_BIAS, 0.0)
        self._dropout = parameters.get(knobs.SENSOR_DROPOUT, 0.0)
        self._late = whole_steps(parameters.get(knobs.SENSOR_DELAY, 0.0), dt)
        self._scales = np.asarray(scales, np.float64)
        self._for_noise = np.random.default_rng((seed, _NOISE)) if self._noise else None
        self._for_dropout = np.random.default_rng((seed, _DROPOUT)) if self._dropout else None
        self._line: DelayLine | None = None
        self._held: Observation | None = None
        self.perfect = not (self._noise or self._bias or self._dropout or self._late)

    def see(self, observation: Observation, space: spaces.Box) -> Observation:
        """The reading that comes of one observation. To be called once a sample, in order."""
        if self.perfect:
            return observation
        self._held = self._new(observation, space)
        if self._line is None:
            self._line = DelayLine(self._late, self._held)
        seen: Observation = self._line.through(self._held)
        return seen.copy()

    def _new(self, observation: Observation, space: spaces.Box) -> Observation:
        """The reading that is sent off now: the last one where none comes."""
        noise = (
            0.0 if self._for_noise is None else self._for_noise.standard_normal(len(observation))
        )
        lost = self._for_dropout is not None and self._for_dropout.random() < self._dropout
        if lost and self._held is not None:
            return self._held
        if not (self._noise or self._bias):
            return observation
        error = self._scales * (self._bias + self._noise * noise)
        return np.clip(observation + error, space.low, space.high).astype(observation.dtype)
