"""Samples in: one of each signal for B episodes, checked, into the input rows."""

from collections.abc import Mapping
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.incoming import check_finite, check_mapping, sample_of
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.readings import Floats, Readings
from safegym.check.monitor.stream.terms import atoms_of, outside
from safegym.check.monitor.stream.windows import Words
from safegym.errors import TraceError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.reading import lengths_read
from safegym.formula.terms import Component, Signal, Term

FLOAT64 = np.dtype(np.float64)
Entry = tuple[str, Floats, tuple[int, ...]]
"""A signal's name, the cells that its sample fills, and the shape it must have."""


class Intake:
    """The input rows of a plan for B episodes.

    given: term -> its row, for signals, components, and terms left to numpy. lengths: of vectors
    whose length is not declared, once a sample told it. entries: signals of declared shape, once
    `bind` has said where the rows are. simple: whether filling those is all. names, numbers: for
    scalar signals of one episode, which number is whose.
    """

    def __init__(self, plan: Plan, batch: int) -> None:
        self._plan = plan
        self._batch = batch
        self._needed = lengths_read(plan.formula)
        self._outside = outside(plan)
        self._first: dict[str, int] = {}
        self.lengths: dict[str, int] = {}
        self.given: dict[Term, int] = {}
        self.rows = 0
        for signal in plan.signals:
            self._first[signal.name] = self.rows
            self._lay_out(signal)
        for term in self._outside:
            self._give(term)

    def _lay_out(self, signal: Signal) -> None:
        if not signal.shape:
            self._give(signal)
            return
        count = self._needed.get(signal.name, 1) if signal.any_length else signal.shape[0]
        for index in range(count):
            self._give(Component(signal, index))

    def _give(self, term: Term) -> None:
        self.given[term] = self.rows
        self.rows += 1

    def bind(self, cells: Words) -> None:
        """Says where the input rows are."""
        self._floats: Floats = cells.view(np.float64)[:, : self._batch]
        self.entries: list[Entry] = [
            (signal.name, self._cells(signal), (self._batch, *signal.shape))
            for signal in self._plan.signals
            if not signal.any_length
        ]
        scalars = all(not signal.shape for signal in self._plan.signals)
        self.names = [signal.name for signal in self._plan.signals]
        self.numbers: memoryview | None = None
        if self._batch == 1 and scalars:
            self.numbers = memoryview(cast(Any, self._floats[: len(self.names), 0]))
        self.others = [signal for signal in self._plan.signals if signal.any_length]
        self.simple = not self.others and not self._outside

    def _cells(self, signal: Signal) -> Floats:
        first = self._first[signal.name]
        if not signal.shape:
            row: Floats = self._floats[first]
            return row
        count = self._needed.get(signal.name, 1) if signal.any_length else signal.shape[0]
        rows: Floats = self._floats[first : first + count].T
        return rows

    def take(self, samples: Mapping[str, ArrayLike], steps: NDArray[np.int64]) -> None:
        """Fills the input rows from samples of any real dtype; raises TraceError, see `Monitor`."""
        check_mapping(samples)
        for signal in self._plan.signals:
            least, length = (each.get(signal.name) for each in (self._needed, self.lengths))
            values = sample_of(signal, samples, self._batch, least, length)
            cells = self._cells(signal)
            if signal.any_length:
                check_finite(signal, values, steps)
                cells[:] = values[:, : cells.shape[1]]
            else:
                cells[:] = values
        self._compute(steps)

    def accept(self, samples: Mapping[str, ArrayLike]) -> None:
        """Remembers the lengths of vectors of any length: later ones must be as long."""
        for signal in self.others:
            self.lengths[signal.name] = np.shape(samples[signal.name])[1]

    def _compute(self, steps: NDArray[np.int64]) -> None:
        """Fills the rows of the terms left to numpy."""
        if not self._outside:
            return
        readings = Readings(self._arrays(slice(None)))
        try:
            for term in self._outside:
                self._floats[self.given[term]] = readings.value(term)
        except TraceError:
            self.refuse(steps)

    def _arrays(self, rows: slice) -> dict[str, Floats]:
        return {signal.name: self._cells(signal)[rows] for signal in self._plan.signals}

    def refuse(self, steps: NDArray[np.int64]) -> NoReturn:
        """Raises TraceError for the first number in the input rows that cannot be judged."""
        for signal in self._plan.signals:
            check_finite(signal, self._cells(signal), steps)
        for row in range(self._batch):
            readings = Readings(self._arrays(slice(row, row + 1)))
            for atom in atoms_of(self._plan):
                for side in (atom.left, atom.right):
                    self._check_real(readings, side, row, int(steps[row]) + 1)
        raise TraceError("A term of the formula has no finite value at this sample.")

    def _check_real(self, readings: Readings, side: Term, row: int, sample: int) -> None:
        for part in postorder(side):
            if not isinstance(part, Term):
                continue
            try:
                readings.value(part)
            except TraceError:
                raise TraceError(
                    f"The term {short(part)} has no finite value at sample {sample} of episode "
                    f"{row} (overflow, or an operation outside its domain); end that episode as "
                    "interrupted before it."
                ) from None
