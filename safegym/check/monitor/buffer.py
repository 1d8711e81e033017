"""The last samples of B episodes, one column each sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.readings import Floats, missing_signal
from safegym.errors import TraceError
from safegym.formula.terms import Signal

SPARE = 32
"""Columns beyond the window, so that moving old samples to the front is rare."""


class SampleBuffer:
    """Columns of samples, all episodes in step. window: samples to keep, None for all of them."""

    def __init__(self, signals: tuple[Signal, ...], batch: int, window: int | None) -> None:
        self._signals = signals
        self._batch = batch
        self._window = window
        self._next = 0
        columns = SPARE + 2 * (window or SPARE)
        self._columns = {
            signal.name: np.zeros((batch, columns, *signal.shape)) for signal in signals
        }

    def append(self, samples: Mapping[str, ArrayLike], steps: NDArray[np.int64]) -> None:
        """Adds one column. steps: each episode's last sample before it, -1 for none."""
        column = {signal.name: self._checked(signal, samples, steps) for signal in self._signals}
        self._make_room(steps)
        for name, values in column.items():
            self._columns[name][:, self._next] = values
        self._next += 1

    def drop(self) -> None:
        """Takes back the last column."""
        self._next -= 1

    def window(self, rows: Any, count: int) -> dict[str, Floats]:
        """The last `count` samples of the chosen episodes: (rows, count) or (rows, count, d)."""
        part = slice(self._next - count, self._next)
        return {name: values[rows, part] for name, values in self._columns.items()}

    def _checked(
        self, signal: Signal, samples: Mapping[str, ArrayLike], steps: NDArray[np.int64]
    ) -> Floats:
        if signal.name not in samples:
            raise TraceError(missing_signal(signal, samples))
        values = np.asarray(samples[signal.name], np.float64)
        if values.shape != (self._batch, *signal.shape):
            raise TraceError(
                f"Signal {signal.name} has shape {values.shape}; with B = {self._batch} episodes "
                f"it must be {(self._batch, *signal.shape)}."
            )
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values).reshape(self._batch, -1).all(axis=1)))
            raise TraceError(
                f"Signal {signal.name} is not finite at sample {steps[row] + 1} of episode {row} "
                f"({values[row]}); end that episode as interrupted before it."
            )
        return values

    def _make_room(self, steps: NDArray[np.int64]) -> None:
        columns = next((values.shape[1] for values in self._columns.values()), 0)
        if self._next < columns or not self._columns:
            return
        keep = int(steps.max(initial=-1)) + 1
        if self._window is not None:
            keep = min(keep, self._window)
        wider = max(columns, 2 * keep + SPARE)
        for name, values in self._columns.items():
            fresh = np.zeros((values.shape[0], wider, *values.shape[2:]))
            fresh[:, :keep] = values[:, self._next - keep : self._next]
            self._columns[name] = fresh
        self._next = keep
