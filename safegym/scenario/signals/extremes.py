"""Readers, and what one control sample keeps of many sub-step readings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.formula.terms import Signal

Value = float | NDArray[np.float64]
Reading = Callable[[], Value]
Phase = Literal["state", "force"]


class Reader(Protocol):
    """Says how to read one quantity; `bind` prepares the reading for one model and its data.

    phase "state": depends on positions and velocities. phase "force": depends on what the
    constraint solver and the actuators did.
    """

    @property
    def phase(self) -> Phase:
        """When the reading is up to date."""
        ...

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data. Raises ScenarioError if the model cannot give this reading."""
        ...


@dataclass(frozen=True, slots=True)
class Custom:
    """A reading of your own: `function(model, data)` -> float or float64 (d,)."""

    function: Callable[[Any, Any], Value]
    phase: Phase = "state"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        function = self.function
        return lambda: function(model, data)


class Extremes:
    """Keeps, for each signal, what its `hold` says a control sample stands for.

    "max" and "any" keep the largest reading since the last sample, "min" the smallest, "sample"
    the last one; vectors component by component. A NaN, once read, stays: it is never dropped.
    """

    __slots__ = ("_last", "_modes", "_readings", "_values")

    def __init__(self, signals: Sequence[Signal], readings: Sequence[Reading]) -> None:
        if len(signals) != len(readings):
            raise ScenarioError(
                f"{len(signals)} signals for {len(readings)} readings; pair them one to one."
            )
        self._readings = tuple(readings)
        self._modes = tuple(_mode(signal) for signal in signals)
        self._values: list[Any] = [None] * len(readings)
        self._last = tuple(index for index, mode in enumerate(self._modes) if mode == 0)

    def open(self) -> None:
        """Start a new sample."""
        self._values = [None] * len(self._readings)

    def read(self) -> None:
        """Take in one sub-step."""
        values = self._values
        for index, (mode, reading) in enumerate(zip(self._modes, self._readings, strict=True)):
            if mode == 0:
                continue
            value, kept = reading(), values[index]
            if kept is None:
                values[index] = (
                    value if isinstance(value, float | int) else np.array(value, np.float64)
                )
            elif isinstance(kept, np.ndarray):
                (np.maximum if mode > 0 else np.minimum)(kept, value, out=kept)
            elif kept == kept and not (value <= kept if mode > 0 else value >= kept):
                values[index] = value

    def close(self) -> list[Any]:
        """Read the signals that stand for the last instant; return all values, one per signal."""
        values = self._values
        for index in self._last:
            value = self._readings[index]()
            values[index] = value if isinstance(value, float | int) else np.array(value, np.float64)
        return values


def _mode(signal: Signal) -> int:
    return {"sample": 0, "max": 1, "any": 1, "min": -1}[signal.hold]
