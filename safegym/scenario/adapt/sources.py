"""Where the value of a signal comes from in somebody else's environment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError

Value = float | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FromObservation:
    """Entry `index` of the observation; of the array under `key`, where it is a dictionary."""

    index: int | tuple[int, ...]
    key: str = ""

    def read(self, observation: Any, info: Any, env: Any) -> Value:
        """The entry as of this sample. Raises ScenarioError if there is none."""
        try:
            part = observation[self.key] if self.key else observation
            return float(np.asarray(part)[self.index])
        except (KeyError, IndexError, TypeError) as error:
            where = f"[{self.key!r}]" if self.key else ""
            raise ScenarioError(
                f"The observation has no entry{where} {self.index}; it is {observation!r:.80}."
            ) from error


@dataclass(frozen=True, slots=True)
class FromInfo:
    """The number under `key` of the info. at_reset: what sample 0 has where reset tells nothing."""

    key: str
    at_reset: float | None = None

    def read(self, observation: Any, info: Any, env: Any) -> Value:
        """The number as of this sample. Raises ScenarioError if info does not tell it."""
        value = info.get(self.key, self.at_reset)
        if value is None:
            raise ScenarioError(
                f"info has no {self.key!r}; it has {', '.join(map(str, info)) or 'nothing'}. "
                f"Where only reset leaves it out: from_info({self.key!r}, at_reset=0.0)."
            )
        found = np.asarray(value, np.float64)
        return float(found) if found.ndim == 0 else found


@dataclass(frozen=True, slots=True)
class FromMujoco:
    """What a reader of `safegym.scenario.signals` reads in the environment's model and data."""

    reader: Any

    def read(self, observation: Any, info: Any, env: Any) -> Value:
        """Never called: `AdaptedEnv` binds the reader to the model and its data."""
        raise ScenarioError("A MuJoCo reading belongs into AdaptedEnv(reads=...).")


@dataclass(frozen=True, slots=True)
class FromEnv:
    """What a function says of the inner environment, unwrapped."""

    function: Callable[[Any], Any]

    def read(self, observation: Any, info: Any, env: Any) -> Value:
        """The function's value as of this sample."""
        found = np.asarray(self.function(env), np.float64)
        return float(found) if found.ndim == 0 else found


Source = FromObservation | FromInfo | FromMujoco | FromEnv


def from_observation(index: int | tuple[int, ...], *, key: str = "") -> FromObservation:
    """The signal is this entry of the observation."""
    return FromObservation(index, key)


def from_info(key: str, *, at_reset: float | None = None) -> FromInfo:
    """The signal is this number of the info."""
    return FromInfo(key, at_reset)


def from_mujoco(reader: Any) -> FromMujoco:
    """The signal is read in the MuJoCo model, such as `from_mujoco(JointSpeed("*"))`."""
    return FromMujoco(reader)


def from_env(function: Callable[[Any], Any]) -> FromEnv:
    """The signal is `function(inner environment)`; define it at module level, for the digest."""
    return FromEnv(function)
