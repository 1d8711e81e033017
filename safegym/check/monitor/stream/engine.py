"""The streaming monitor: a fixed amount of work for each sample, whatever the windows."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.outcome import Update
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.readings import Floats
from safegym.check.monitor.stream import words as w
from safegym.check.monitor.stream.assemble import Assembled, assemble
from safegym.check.monitor.stream.choice import MODES, Advance, choose
from safegym.check.monitor.stream.intake import FLOAT64
from safegym.check.monitor.stream.keys import key_of
from safegym.check.monitor.stream.reach import FAR
from safegym.check.monitor.stream.room import make_room
from safegym.check.monitor.stream.state import State, fresh, layout_of
from safegym.errors import TraceError
from safegym.formula.nodes import Comparison

LARGEST_EXACT = 1 << 53
"""Up to here whole numbers are binary64 numbers."""
_HOLDS: dict[Comparison, np.ufunc] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class StreamEngine:
    """Updates B episodes; see `Monitor` for what it tells."""

    def __init__(self, plan: Plan, batch: int, horizon: int | None) -> None:
        self._assembled: Assembled = assemble(plan, batch, horizon)
        self._program, self._intake = self._assembled.program, self._assembled.intake
        self._share, self._horizon = plan.share, horizon
        self._lag = min(plan.slots[-1].ahead, FAR)
        self._margins = self._assembled.margins
        self._advance: Advance
        self._mode: str | None = ""
        self._hold(fresh(self._program))

    def _hold(self, state: State) -> None:
        batch, told = self._program.batch, self._program.told
        self._state = state
        self._words = state.words
        self._age = state.cells[self._program.age, :batch]
        self._told = state.cells[told : told + 4, :batch]
        self._intake.bind(state.cells)
        self._entries, self._simple = self._intake.entries, self._intake.simple
        self._names, self._numbers = self._intake.names, self._intake.numbers

    def state(self) -> dict[str, Any]:
        """Returns what changes with the samples."""
        return {
            "words": self._words,
            "layout": layout_of(fresh(self._program)),
            "capacities": [ring.capacity for ring in self._program.rings],
            "lengths": self._intake.lengths,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Takes over what `state` returned. Raises TraceError where it is of another layout."""
        for ring, capacity in zip(self._program.rings, state["capacities"], strict=False):
            ring.capacity = capacity
        own = fresh(self._program)
        if state["layout"] != layout_of(own) or state["words"].shape != own.words.shape:
            raise TraceError(
                "This monitor was saved by another version of safegym, which lays out its state "
                "differently; make a new Monitor and begin its episodes again."
            )
        own.words[:] = state["words"]
        self._intake.lengths = state["lengths"]
        self._hold(own)

    @property
    def tight(self) -> bool:
        """Whether `episode` is the offline answer on every prefix."""
        return self._assembled.tight

    @property
    def steps(self) -> NDArray[np.int64]:
        """Index of each episode's last sample."""
        return self._age.copy()

    def reset(self, chosen: NDArray[np.bool_]) -> None:
        """Starts new episodes."""
        self._age[chosen] = -1
        self._words[w.OLDEST] = self._age.max()

    def update(self, samples: Mapping[str, ArrayLike]) -> Update:  # noqa: C901  # calls cost
        """Takes one sample of every signal."""
        plain = self._simple and type(samples) is dict
        if plain:  # arrays as they are wanted: the short way
            values: Any
            try:
                if self._numbers is not None:
                    for row, name in enumerate(self._names):
                        values = samples[name]
                        if values.dtype is not FLOAT64 or values.ndim != 1:
                            plain = False
                            break
                        self._numbers[row] = values.item()
                else:
                    for name, cells, shape in self._entries:
                        values = samples[name]
                        if values.dtype is not FLOAT64 or values.shape != shape:
                            plain = False
                            break
                        cells[...] = values
            except (KeyError, AttributeError, ValueError):
                plain = False
        if not plain:
            self._intake.take(samples, self._age)
        if MODES.mode is not self._mode:
            self._advance, self._mode = choose()
        done = self._advance(self._words)
        if done != w.DONE:
            self._finish(done)
        if not plain:
            self._intake.accept(samples)
        if self._share is not None:
            return self._shares()
        return Update(self._told.tobytes(), self._margins)

    def _finish(self, done: int) -> None:
        """Refuses a sample, or makes room for it."""
        while done != w.DONE:
            if done == w.NOT_FINITE:
                self._intake.refuse(self._age)
            self._hold(make_room(self._program, self._state, self._advance))
            done = self._advance(self._words)

    def _shares(self) -> Update:
        """Keys of the share of samples, of its interval and margins."""
        out = self._told.copy()
        low, high = self._interval(out[0])
        comparison, limit = cast(tuple[Comparison, float], self._share)
        holds = _HOLDS[comparison]
        ends = holds(low, limit), holds(high, limit)
        margins = low - limit, high - limit
        if comparison in ("<", "<="):
            margins = limit - high, limit - low
        out[0] = key_of(margins[0] + 0.0, ends[0] & ends[1])
        out[1] = key_of(margins[1] + 0.0, ends[0] | ends[1])
        return Update(out.tobytes(), True)

    def _interval(self, count: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The share's least and greatest value: samples that are not settled count as open."""
        if self._horizon is None:
            return np.zeros(count.shape), np.ones(count.shape)
        total = self._horizon + 1
        settled = np.clip(self._age - self._lag + 1, 0, min(total, FAR))
        if total > LARGEST_EXACT:
            low = [int(each) / total for each in count]
            high = [(int(c) + total - int(s)) / total for c, s in zip(count, settled, strict=True)]
            return np.array(low), np.array(high)
        return count / total, (count + total - settled) / total
