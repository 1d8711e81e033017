"""The online monitor: B episodes at once, one sample of each a call.

It keeps a window of samples as long as the formula's look-ahead and look-back, settled running
values for unbounded operators, and evaluates the open part afresh with the offline rules, so an
update costs the same however long the episode is. Formulas with an unbounded future operator
inside another temporal one keep the whole episode instead (see `accumulate.layout_of`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.check.monitor.accumulate import Group, Layout, Running, layout_of
from safegym.check.monitor.buffer import SampleBuffer
from safegym.check.monitor.evaluate import Evaluation, Samples, evaluate
from safegym.check.monitor.frame import spans_of
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.check.monitor.plan import Plan, plan_of
from safegym.check.monitor.readings import Readings
from safegym.check.monitor.share import Share, share_margins, share_status
from safegym.check.monitor.subject import property_of
from safegym.errors import SafegymError, TraceError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Comparison, Formula
from safegym.trace.clock import Clock, Exact


@dataclass(frozen=True, slots=True)
class Outcome:
    """Three-valued status and robustness interval of B episodes.

    must, may: bool (B,). lo, hi: float64 (B,) in multiples of the atoms' scale, None where margins
    do not compare.
    """

    must: NDArray[np.bool_]
    may: NDArray[np.bool_]
    lo: NDArray[np.float64] | None
    hi: NDArray[np.float64] | None

    @property
    def status(self) -> NDArray[np.str_]:
        """Each episode's status: "satisfied", "violated" or "inconclusive", shape (B,)."""
        return _NAMES[self.must.astype(np.intp) + self.may]

    def __iter__(self) -> Iterator[Any]:
        """Unpacks as (status, lo, hi)."""
        return iter((self.status, self.lo, self.hi))


_NAMES = np.array(["violated", "inconclusive", "satisfied"])


@dataclass(frozen=True, slots=True)
class Update:
    """episode: the property at sample 0, on the samples so far taken as interrupted.

    delayed: the property at sample k - look_ahead, where bounded windows are settled;
    inconclusive before there is one.
    """

    episode: Outcome
    delayed: Outcome


class Monitor:
    """Monitors B episodes online.

    subject: a formula or claim. dt: seconds between samples, exact. batch: B. horizon: declared
    horizon H in steps. Picklable; `reset` starts new episodes by mask.
    """

    def __init__(
        self,
        subject: Formula | Claim,
        dt: Exact,
        batch: int = 1,
        horizon: int | None = None,
    ) -> None:
        self._subject = subject
        self._dt: Fraction = Clock.parse(dt).dt
        self._batch = _whole(batch, "A monitor's batch")
        self._horizon = None if horizon is None else _whole(horizon, "A monitor's horizon")
        self._compile()
        self._steps = np.full(self._batch, -1, np.int64)
        self._buffer = SampleBuffer(self._plan, self._batch, self._layout.window)
        self._running = tuple(Running(self._layout, self._batch, each) for each in self._lattices)

    def _compile(self) -> None:
        formula, rounding, _ = property_of(self._subject)
        self._plan: Plan = plan_of(formula, self._dt, rounding)
        self._layout: Layout = layout_of(self._plan)
        margins = not self._plan.refusal and self._plan.share is None
        self._lattices = (TRUTH, MARGIN) if margins else (TRUTH,)

    def __getstate__(self) -> dict[str, Any]:
        made = ("_plan", "_layout", "_lattices")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._compile()
        for running in self._running:
            running.layout = self._layout

    @property
    def look_ahead(self) -> int:
        """How many samples `delayed` lags behind."""
        return self._layout.ahead

    @property
    def steps(self) -> NDArray[np.int64]:
        """Index of each episode's last sample, -1 before the first, shape (B,)."""
        return self._steps.copy()

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Starts new episodes: where `mask` (B,) is true, or everywhere."""
        found = np.ones(self._batch, bool) if mask is None else np.asarray(mask)
        if found.shape != (self._batch,) or not np.isin(found, (0, 1)).all():
            raise TraceError(
                f"The mask {str(mask)[:60]} has shape {found.shape}; it must be truth values of "
                f"shape ({self._batch},), one for each of the B = {self._batch} episodes."
            )
        chosen = found.astype(bool)
        self._steps[chosen] = -1
        for running in self._running:
            running.reset(chosen)

    def update(self, samples: Mapping[str, ArrayLike]) -> Update:
        """Takes one sample of every signal, (B,) or (B, d), and returns what is known.

        Raises TraceError for a missing, misshapen or non-finite signal, UnsupportedError for past
        windows that slide too far on; the state is then as before the call.
        """
        _check_mapping(samples)
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
        episode = _Collected(self._batch, self._lattices)
        delayed = _Collected(self._batch, self._lattices)
        for group, evaluations in found:
            for number, evaluation in enumerate(evaluations):
                running = self._running[number]
                episode.put(number, group.rows, running.episode(group, evaluation))
                delayed.put(number, group.rows, running.delayed(group, evaluation))
                running.advance(group, evaluation)
        return Update(episode.outcome(), delayed.outcome())

    def _share_update(self, found: list[tuple[Group, list[Evaluation]]]) -> Update:
        """A share is about the whole episode, so it has no delayed value."""
        must = np.zeros(self._batch, np.int64)
        may = np.zeros(self._batch, np.int64)
        for group, (evaluation,) in found:
            must[group.rows], may[group.rows] = self._running[0].shares(group, evaluation)
            self._running[0].advance(group, evaluation)
        shares = [self._share(row, int(must[row]), int(may[row])) for row in range(self._batch)]
        bound = cast(tuple[Comparison, float], self._plan.share)
        codes = np.array([_NAMES.tolist().index(share_status(bound, share)) for share in shares])
        margins = np.array([share_margins(bound, share) for share in shares])
        outcome = Outcome(codes == 2, codes >= 1, margins[:, 0], margins[:, 1])
        blank = np.full(self._batch, np.inf)
        return Update(outcome, Outcome(codes > 2, codes >= 0, -blank, blank))

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


def _whole(value: object, what: str) -> int:
    """A whole number >= 1. Raises TraceError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(cast(int, value)) < 1:
        raise TraceError(f"{what} must be a whole number of at least 1, found {value!r:.40}.")
    return int(cast(int, value))


def _check_mapping(samples: object) -> None:
    if not isinstance(samples, Mapping):
        raise TraceError(
            f'A sample is a mapping such as {{"x": values}}, found {type(samples).__name__}.'
        )


class _Collected:
    """Lower and upper values of all episodes, group by group."""

    def __init__(self, batch: int, lattices: tuple[Lattice, ...]) -> None:
        self.pairs: list[tuple[Values, Values]] = [
            (
                np.full(batch, lattice.false, lattice.dtype),
                np.full(batch, True if lattice is TRUTH else np.inf, lattice.dtype),
            )
            for lattice in lattices
        ]

    def put(self, number: int, rows: Any, pair: tuple[Values, Values] | None) -> None:
        """Sets the rows' values; None leaves them unknown."""
        if pair is not None:
            for side, values in zip(self.pairs[number], pair, strict=True):
                side[rows] = values

    def outcome(self) -> Outcome:
        """All episodes' outcome."""
        must, may = self.pairs[0]
        lo, hi = self.pairs[1] if len(self.pairs) > 1 else (None, None)
        return Outcome(must, may, lo, hi)
