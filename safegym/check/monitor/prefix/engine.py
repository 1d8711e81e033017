"""The exact online monitor: it keeps samples, and evaluates what is open with the offline rules.

It keeps a window of samples as long as the formula's look-ahead and look-back, settled running
values for unbounded operators, and evaluates the open part afresh, so an update costs as much as
the windows are long. Formulas with an unbounded future operator inside another temporal one keep
the whole episode instead (see `accumulate.layout_of`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.evaluate import Evaluation, Samples, evaluate
from safegym.check.monitor.frame import spans_of
from safegym.check.monitor.incoming import check_mapping
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.check.monitor.outcome import Update
from safegym.check.monitor.plan import Plan
from safegym.check.monitor.prefix.accumulate import Group, Layout, Running, layout_of
from safegym.check.monitor.prefix.buffer import SampleBuffer
from safegym.check.monitor.readings import Readings
from safegym.check.monitor.share import Share, share_margins, share_status
from safegym.check.monitor.stream.keys import Floats, Keys, key_of, truth_key
from safegym.errors import SafegymError
from safegym.formula.nodes import Comparison


class PrefixEngine:
    """Updates B episodes; see `Monitor` for what it tells."""

    tight = True

    def __init__(self, plan: Plan, batch: int, horizon: int | None) -> None:
        self._batch = batch
        self._horizon = horizon
        self._compile(plan)
        self._steps = np.full(batch, -1, np.int64)
        self._buffer = SampleBuffer(plan, batch, self._layout.window)
        self._running = tuple(Running(self._layout, batch, each) for each in self._lattices)

    def _compile(self, plan: Plan) -> None:
        self._plan = plan
        self._layout: Layout = layout_of(plan)
        margins = not plan.refusal and plan.share is None
        self._lattices = (TRUTH, MARGIN) if margins else (TRUTH,)

    def state(self) -> dict[str, Any]:
        """Returns what changes with the samples."""
        return {"steps": self._steps, "buffer": self._buffer, "running": self._running}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes over what `state` returned."""
        self._steps, self._buffer, self._running = (
            state["steps"],
            state["buffer"],
            state["running"],
        )
        for running in self._running:
            running.layout = self._layout

    @property
    def steps(self) -> NDArray[np.int64]:
        """Index of each episode's last sample."""
        return self._steps.copy()

    def reset(self, chosen: NDArray[np.bool_]) -> None:
        """Starts new episodes."""
        self._steps[chosen] = -1
        for running in self._running:
            running.reset(chosen)

    def update(self, samples: Mapping[str, ArrayLike]) -> Update:
        """Takes one sample of every signal."""
        check_mapping(samples)
        self._buffer.append(samples, self._steps)
        self._steps += 1
        try:
            found = [(group, self._evaluate(group)) for group in self._groups()]
        except SafegymError:
            self._steps -= 1
            self._buffer.drop()
            raise
        if self._plan.share is not None:
            return self._share_update(found)
        told = _Told(self._batch, self._lattices)
        for group, evaluations in found:
            for number, evaluation in enumerate(evaluations):
                running = self._running[number]
                told.put(number, 0, group.rows, running.episode(group, evaluation))
                told.put(number, 2, group.rows, running.delayed(group, evaluation))
                running.advance(group, evaluation)
        return told.update()

    def _share_update(self, found: list[tuple[Group, list[Evaluation]]]) -> Update:
        """A share is about the whole episode, so it has no delayed value."""
        must = np.zeros(self._batch, np.int64)
        may = np.zeros(self._batch, np.int64)
        for group, (evaluation,) in found:
            must[group.rows], may[group.rows] = self._running[0].shares(group, evaluation)
            self._running[0].advance(group, evaluation)
        told = _Told(self._batch, (TRUTH, MARGIN))
        bound = cast(tuple[Comparison, float], self._plan.share)
        for row in range(self._batch):
            share = self._share(row, int(must[row]), int(may[row]))
            status = share_status(bound, share)
            told.put(0, 0, row, (status == "satisfied", status != "violated"))
            told.put(1, 0, row, share_margins(bound, share))
        return told.update()

    def _share(self, row: int, must: int, may: int) -> Share:
        if self._horizon is None:
            return Share(0.0, 1.0)
        total = self._horizon + 1
        never_came = max(self._horizon - int(self._steps[row]), 0)
        return Share(must / total, (may + never_came) / total)

    def _groups(self) -> Iterator[Group]:
        """Episodes whose frames are the same, up to a shift in time."""
        steps, layout, horizon = self._steps, self._layout, self._horizon
        limit = layout.limit
        kept = steps if limit is None else np.minimum(steps, limit)
        past = np.full(self._batch, -1) if horizon is None else np.maximum(steps - horizon, -1)
        if limit is not None:
            past = np.minimum(past, limit + 1)
        keys = np.stack([kept, past], axis=1)
        if (keys == keys[0]).all():
            yield Group(slice(None), int(kept[0]), int(past[0]), horizon, layout)
            return
        distinct, places = np.unique(keys, axis=0, return_inverse=True)
        for number, (last, beyond) in enumerate(distinct):
            rows = np.flatnonzero(places.reshape(-1) == number)
            yield Group(rows, int(last), int(beyond), horizon, layout)

    def _evaluate(self, group: Group) -> list[Evaluation]:
        """One evaluation for each lattice."""
        plan, frame = self._plan, group.frame
        arrays = self._buffer.window(group.rows, frame.last + 1)
        rows = np.arange(self._batch)[group.rows].size
        needed = max(group.settled, 0)
        spans = spans_of(plan, frame, needed, group.start)
        samples = Samples(Readings(arrays), 0, frame.last, (rows,))
        return [
            evaluate(plan, frame, samples, spans, running.lattice, running.carry(group))
            for running in self._running
        ]


class _Told:
    """Truth values and margins of all episodes, group by group: lower and upper, twice."""

    def __init__(self, batch: int, lattices: tuple[Lattice, ...]) -> None:
        self._truth = np.array([[False], [True]] * 2).repeat(batch, axis=1)
        self._margins: Floats | None = None
        if len(lattices) > 1:
            self._margins = np.array([[-np.inf], [np.inf]] * 2).repeat(batch, axis=1)

    def put(self, number: int, first: int, rows: Any, pair: tuple[Any, Any] | None) -> None:
        """Sets the rows' values in lattice `number`; None leaves them unknown."""
        if pair is not None:
            for side, values in enumerate(pair):
                found: Values = cast(Values, self._margins) if number else self._truth
                found[first + side, rows] = values

    def update(self) -> Update:
        """All episodes' outcomes."""
        if self._margins is None:
            return Update(truth_key(self._truth).tobytes(), margins=False)
        keys: Keys = key_of(self._margins, self._truth)
        return Update(keys.tobytes(), margins=True)
