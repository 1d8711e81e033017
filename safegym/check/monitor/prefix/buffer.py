"""The last samples of B episodes, one column each sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.incoming import check_finite, sample_of
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.readings import Floats
from safegym.formula.reading import lengths_read
from safegym.formula.terms import Signal

SPARE = 32
"""Columns beyond the window, so that moving old samples to the front is rare."""
FIRST = 1024
"""Most columns of a window that are made at once; a longer window grows as its samples come."""


class SampleBuffer:
    """Columns of samples, all episodes in step. window: samples to keep, None for all of them."""

    def __init__(self, plan: Plan, batch: int, window: int | None) -> None:
        self._signals = signals = plan.signals
        self._lengths = lengths_read(plan.formula)
        self._batch = batch
        self._window = window
        self._next = 0
        columns = SPARE + 2 * min(window or SPARE, FIRST)
        self._columns = {
            signal.name: np.zeros((batch, columns, *signal.shape))
            for signal in signals
            if not signal.any_length
        }

    def append(self, samples: Mapping[str, ArrayLike], steps: NDArray[np.int64]) -> None:
        """Adds one column. steps: each episode's last sample before it, -1 for none."""
        column = {signal.name: self._checked(signal, samples, steps) for signal in self._signals}
        self._make_room(steps)
        for name, values in column.items():
            if name not in self._columns:  # a vector of any length: as long as its first sample
                columns = next((kept.shape[1] for kept in self._columns.values()), 2 * SPARE)
                self._columns[name] = np.zeros((self._batch, columns, *values.shape[1:]))
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
        kept = self._columns.get(signal.name)
        length = kept.shape[2] if signal.any_length and kept is not None else None
        least = self._lengths.get(signal.name)
        values = sample_of(signal, samples, self._batch, least, length)
        check_finite(signal, values, steps)
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
