"""Many episodes side by side: what is judged together rather than one by one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import frozen_floats
from safegym.trace.clock import Clock, Exact
from safegym.trace.episode import END_KINDS, EndKind
from safegym.trace.gaps import GapsBySignal
from safegym.trace.model import (
    Trace,
    refuse_no_mapping,
    signal_name,
    texts_by_name,
    whole_number,
)
from safegym.trace.recorded import unit_issues

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TraceBatch:
    """B episodes of the same signals on clocks of the same dt; make one with `from_arrays` or `of`.

    dt: seconds, exact. signals: name -> float64 (B, n) or (B, n, d), read-only; past an episode's
    last sample that sample is repeated, and no answer depends on it. lengths: int64 (B,), how many
    samples each episode has (T + 1). ends: how each ended. horizons: each one's declared horizon in
    steps, or None. units: signal name -> unit, as in `Trace`. unseen: each episode's gaps by
    signal, as in `Trace`, empty where none has any. traces: the episodes where they came as traces,
    else empty.
    """

    dt: Fraction
    signals: Mapping[str, Floats]
    lengths: NDArray[np.int64]
    ends: tuple[EndKind, ...]
    horizons: tuple[int | None, ...]
    units: Mapping[str, str]
    unseen: tuple[GapsBySignal, ...] = ()
    traces: tuple[Trace, ...] = ()

    @classmethod
    def from_arrays(
        cls,
        signals: Mapping[str, ArrayLike],
        *,
        dt: Exact,
        end: EndKind | Sequence[EndKind] = "horizon",
        horizon: int | None = None,
        lengths: ArrayLike | None = None,
        units: Mapping[str, str] | None = None,
    ) -> "TraceBatch":
        """A batch from arrays: `TraceBatch.from_arrays({"x": x}, dt="0.1")` with x of shape (B, n).

        signals: name -> (B, n) or (B, n, d), copied. end: how all episodes ended, or B kinds.
        horizon: declared horizon H in steps. lengths: whole numbers (B,), how many samples of each
        row are its episode's; what lies past them is never read. Raises TraceError, naming signal,
        episode and sample.
        """
        refuse_no_mapping(signals, "signals", '{"x": x}')
        recorded = texts_by_name(units or {}, "units")
        arrays = {
            signal_name(name): frozen_floats(x, f"Signal {name}") for name, x in signals.items()
        }
        rows, samples = _outline(arrays)
        found = _lengths(lengths, rows, samples)
        kinds = _kinds(end, rows)
        steps = None if horizon is None else whole_number(horizon, "horizon")
        for issue in unit_issues(recorded, arrays):
            raise TraceError(issue)
        for name, values in arrays.items():
            _repeat_the_last(values, found)
            _check_finite(name, values)
        for row, kind in enumerate(kinds):
            _check_end(row, kind, int(found[row]) - 1, steps)
        return cls(
            dt=Clock.parse(dt).dt,
            signals=MappingProxyType(arrays),
            lengths=found,
            ends=kinds,
            horizons=(steps,) * rows,
            units=recorded,
        )

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> "TraceBatch":
        """A batch of traces with the same dt, signals and units. Raises TraceError naming one."""
        episodes = tuple(traces)
        if not episodes:
            raise TraceError("A batch needs at least one trace: TraceBatch.of([trace]).")
        for row, trace in enumerate(episodes):
            _check_alike(row, trace, episodes[0])
        lengths = np.array([trace.steps + 1 for trace in episodes], np.int64)
        first, samples = episodes[0], int(lengths.max())
        arrays: dict[str, Floats] = {}
        for name, like in first.signals.items():
            values = np.empty((len(episodes), samples, *like.shape[1:]))
            for row, trace in enumerate(episodes):
                values[row, : trace.steps + 1] = trace.signals[name]
                values[row, trace.steps + 1 :] = trace.signals[name][-1]
            values.flags.writeable = False
            arrays[name] = values
        lengths.flags.writeable = False
        unseen = tuple(trace.unseen for trace in episodes)
        return cls(
            dt=first.clock.dt,
            signals=MappingProxyType(arrays),
            lengths=lengths,
            ends=tuple(trace.end.kind for trace in episodes),
            horizons=tuple(trace.horizon for trace in episodes),
            units=first.units,
            unseen=unseen if any(unseen) else (),
            traces=episodes,
        )

    def __len__(self) -> int:
        """B, the number of episodes."""
        return len(self.ends)

    @property
    def samples(self) -> int:
        """n, the number of samples of the longest episode there is room for."""
        return int(next(iter(self.signals.values())).shape[1])

    def trace(self, episode: int) -> Trace:
        """One episode as a trace: the one that it came as, or a new one."""
        if self.traces:
            return self.traces[episode]
        length = self.lengths[episode]
        return Trace.from_arrays(
            {name: values[episode, :length] for name, values in self.signals.items()},
            dt=self.dt,
            end=self.ends[episode],
            horizon=self.horizons[episode],
            units=self.units,
        )


def _outline(arrays: Mapping[str, Floats]) -> tuple[int, int]:
    """B and n, the same for all arrays."""
    if not arrays:
        raise TraceError('A batch needs at least one signal, such as {"x": x} with x (B, n).')
    name, first = next(iter(arrays.items()))
    for each, values in arrays.items():
        if values.ndim not in (2, 3) or 0 in values.shape:
            raise TraceError(
                f"Signal {each} has shape {values.shape}; a batch of B episodes of up to n samples "
                f'has (B, n) or (B, n, d), none of them 0: {{"{each}": values[None]}} for one.'
            )
        if values.shape[:2] != first.shape[:2]:
            raise TraceError(
                f"Signal {each} has shape {values.shape} and signal {name} {first.shape}; all "
                "signals of a batch have the same episodes and samples."
            )
    return int(first.shape[0]), int(first.shape[1])


def _lengths(given: ArrayLike | None, rows: int, samples: int) -> NDArray[np.int64]:
    found = np.full(rows, samples) if given is None else np.asarray(given)
    if found.shape != (rows,) or found.dtype.kind not in "iu":
        raise TraceError(
            f"The lengths have shape {found.shape} and type {found.dtype}; write {rows} whole "
            "numbers, how many samples each episode has."
        )
    for row in np.flatnonzero((found < 1) | (found > samples))[:1]:
        raise TraceError(
            f"Episode {row} has length {found[row]}; the arrays hold 1 to {samples} samples of it."
        )
    lengths = found.astype(np.int64)
    lengths.flags.writeable = False
    return lengths


def _kinds(end: EndKind | Sequence[EndKind], rows: int) -> tuple[EndKind, ...]:
    kinds = (end,) * rows if isinstance(end, str) else tuple(end)
    if len(kinds) != rows:
        raise TraceError(f"There are {len(kinds)} kinds of end for {rows} episodes; one for each.")
    for row, kind in enumerate(cast(tuple[Any, ...], kinds)):
        if kind not in END_KINDS:
            raise TraceError(
                f"The end of episode {row} is {kind!r}; it must be one of {', '.join(END_KINDS)}."
            )
    return kinds


def _check_end(row: int, kind: EndKind, last: int, horizon: int | None) -> None:
    if horizon is not None and horizon < 1:
        raise TraceError(f"The horizon is {horizon} steps; it must be at least 1, or None.")
    if kind == "horizon" and horizon is not None and last < horizon:
        raise TraceError(
            f'The end of episode {row} is "horizon", but it has T = {last} steps and the horizon '
            f'is {horizon}; give its end as "interrupted".'
        )


def _repeat_the_last(values: Floats, lengths: NDArray[np.int64]) -> None:
    values.flags.writeable = True
    for row in np.flatnonzero(lengths < values.shape[1]):
        values[row, lengths[row] :] = values[row, lengths[row] - 1]
    values.flags.writeable = False


def _check_finite(name: str, values: Floats) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    row, at = (int(place) for place in np.argwhere(~finite)[0][:2])
    raise TraceError(
        f"Signal {name} is not finite at sample {at} of episode {row} ({values[row, at]}); a "
        f"dropped sample could hide a violation. End that episode before it: lengths[{row}] = {at} "
        'and end "interrupted".'
    )


def _check_alike(row: int, trace: Any, first: Trace) -> None:
    if not isinstance(trace, Trace):
        raise TraceError(
            f"Item {row} of a batch is a {type(trace).__name__}; TraceBatch.of takes traces."
        )
    if trace.clock.dt != first.clock.dt:
        raise TraceError(
            f"Trace {row} has dt = {trace.clock.dt} s and trace 0 has {first.clock.dt} s; a batch "
            "has one clock. Judge them in batches of their own."
        )
    shapes, wanted = _shapes(trace), _shapes(first)
    if shapes != wanted:
        odd = sorted(set(shapes.items()) ^ set(wanted.items()))[0][0]
        raise TraceError(
            f"Trace {row} has signal {odd} {_told(odd, shapes)} and trace 0 {_told(odd, wanted)}; "
            "the traces of a batch have the same signals."
        )
    if dict(trace.units) != dict(first.units):
        raise TraceError(
            f"Trace {row} has the units {dict(trace.units)} and trace 0 {dict(first.units)}; the "
            "traces of a batch have the same."
        )


def _shapes(trace: Trace) -> dict[str, tuple[int, ...]]:
    return {name: values.shape[1:] for name, values in trace.signals.items()}


def _told(name: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    return f"with components {shapes[name]}" if name in shapes else "not at all"
