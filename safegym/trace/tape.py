"""What a recorder holds of the open episode, and how it becomes a trace."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import EXACT_TYPES, first_non_finite
from safegym.trace.model import Clock, EndKind, EpisodeEnd, Event, Trace, adopt

Layout = Mapping[str, tuple[int, ...]]
"""Signal name -> () for a number or (d,) for a vector, in the reader's order."""
Columns = dict[str, NDArray[np.float64]]
_NUMBERS = {float, int, bool, type(None), np.float64, np.float32, np.int64, np.bool_}
"""The usual kinds of number, and None, which is read as NaN; others are looked at one by one."""
SignalsFrom = Callable[[NDArray[Any], NDArray[Any]], Sequence[NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class Imprint:
    """What every trace of one recorder carries: the scenario's side of it."""

    layout: Layout
    clock: Clock
    horizon: int | None
    scenario_digest: str
    versions: Mapping[str, str]
    units: Mapping[str, str]
    keep_observations: bool
    signals_from: SignalsFrom | None


@dataclass(slots=True)
class Tape:
    """The samples of one open episode, as lists that only grow.

    rows: what the reader returned at each sample. actions, rewards: one a step. observations: one
    a sample, from sample `offset` on (those checked are let go where they are not kept).
    fault: first sample found not finite so far, and what was not. taken: all actions as one array
    where the runner kept them, instead of `actions`. blocks: the samples before those in `rows`,
    (n, signals) each, where every signal is a number.
    """

    seed: int
    policy_digest: str
    parameters: Mapping[str, float]
    disturbance_seed: int
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    actions: list[Any] = field(default_factory=list[Any])
    rewards: list[float] = field(default_factory=list[float])
    observations: list[Any] = field(default_factory=list[Any])
    events: list[Event] = field(default_factory=list[Event])
    offset: int = 0
    fault: tuple[int, str] | None = None
    taken: NDArray[Any] | None = None
    blocks: list[NDArray[np.float64]] = field(default_factory=list[NDArray[np.float64]])

    @property
    def samples_read(self) -> int:
        """Samples whose signals were read."""
        return sum(map(len, self.blocks)) + len(self.rows)

    def pack_rows(self, layout: Layout) -> None:
        """Turns the rows into a block while they are fresh in memory, if they are all numbers.

        Rows that cannot be packed stay, for the episode's end to say what is wrong with them.
        """
        if not self.rows or any(layout.values()):
            return
        try:
            block = _block(self.rows, layout)
        except TraceError:
            return
        self.blocks.append(block)
        self.rows.clear()

    def check_observations(self) -> NDArray[Any] | None:
        """The observations held, stacked; the first that is not finite becomes the `fault`."""
        if not self.observations:
            return None
        stacked = _stacked(self.observations, "The observations")
        at = first_non_finite(stacked)
        if at is not None and self.fault is None:
            self.fault = (self.offset + at, "The observation")
        return stacked

    def drop_observations(self) -> None:
        """Checks the observations held and lets them go."""
        self.check_observations()
        self.offset += len(self.observations)
        self.observations.clear()


def assemble(tape: Tape, imprint: Imprint, kind: EndKind, reason: str) -> Trace:
    """The trace of an episode that ended as `kind`.

    A number that is not finite cuts the trace to the samples before it and makes its end
    `interrupted`, with the number's name in the reason. Raises TraceError if no sample is left,
    or if the signals do not have the declared shapes.
    """
    samples = min(len(tape.rewards) + 1, _samples_read(tape, imprint))
    actions = _actions(tape, samples - 1)
    rewards = np.array(tape.rewards[: samples - 1], dtype=np.float64)
    observations = tape.check_observations()
    signals, blocks = _signals(tape, imprint, samples, observations, actions)
    fault = _first_fault(tape.fault, signals, blocks, actions, rewards)
    if fault is not None and fault[0] < samples:
        samples, what = fault
        kind, reason = "interrupted", f"{what} is not finite at sample {samples}"
        if samples == 0:
            raise TraceError(f"{reason}: the episode has no usable sample.")
        signals = {name: values[:samples] for name, values in signals.items()}
        actions, rewards = actions[: samples - 1], rewards[: samples - 1]
    steps = samples - 1
    kept = (
        observations[:samples] if imprint.keep_observations and observations is not None else None
    )
    make = adopt if _plain(actions) and (kept is None or _plain(kept)) else Trace
    return make(
        scenario_digest=imprint.scenario_digest,
        policy_digest=tape.policy_digest,
        seed=tape.seed,
        clock=imprint.clock,
        signals=signals,
        actions=actions,
        rewards=rewards,
        end=EpisodeEnd(kind, imprint.clock.time(steps), reason),
        horizon=imprint.horizon,
        observations=kept,
        parameters=tape.parameters,
        disturbance_seed=tape.disturbance_seed,
        events=tuple(event for event in tape.events if event.step <= steps),
        versions=imprint.versions,
        units=imprint.units,
    )


def _actions(tape: Tape, steps: int) -> NDArray[Any]:
    if tape.taken is not None and steps:
        return tape.taken[:steps]
    return _stacked(tape.actions[:steps], "The actions")


def _plain(values: NDArray[Any]) -> bool:
    """Whether a trace can take an array as it is; the constructor refuses or converts others."""
    return values.dtype.str[1:] in EXACT_TYPES and values.flags.c_contiguous


def _samples_read(tape: Tape, imprint: Imprint) -> int:
    """Samples whose signals were read; an interrupt may have come between signals and reward."""
    return len(tape.observations) if imprint.signals_from is not None else tape.samples_read


def _signals(
    tape: Tape,
    imprint: Imprint,
    samples: int,
    observations: NDArray[Any] | None,
    actions: NDArray[Any],
) -> tuple[Columns, Sequence[NDArray[np.float64]]]:
    """The signals by name, and the arrays that hold them all (to be checked at once)."""
    layout = imprint.layout
    if imprint.signals_from is not None and observations is not None:
        values: tuple[Any, ...] = tuple(imprint.signals_from(observations[:samples], actions))
        if len(values) != len(layout):
            raise TraceError(
                f"signals_from returned {len(values)} arrays for {len(layout)} declared "
                f"signals ({', '.join(layout)})."
            )
    else:
        if not any(layout.values()):
            table = _table(tape, layout, samples)
            return dict(zip(layout, table, strict=True)), (table,)
        rows = tape.rows[:samples]
        _check_widths(rows, layout)
        values = tuple(zip(*rows, strict=True))
        for (name, shape), column in zip(layout.items(), values, strict=True):
            if shape == ():
                _refuse_buffers(column, (name,))
    signals = {
        name: _column(name, shape, column, samples)
        for (name, shape), column in zip(layout.items(), values, strict=True)
    }
    return signals, tuple(signals.values())


def _check_widths(rows: list[tuple[Any, ...]], layout: Layout) -> None:
    widths = set(map(len, rows))
    if widths != {len(layout)}:
        raise TraceError(
            f"read_signals returned {sorted(widths)} values in one episode; it must always return "
            f"{len(layout)}: {', '.join(layout)}."
        )


def _table(tape: Tape, layout: Layout, samples: int) -> NDArray[np.float64]:
    """The samples as one read-only array, shape (signals, samples)."""
    rows = tape.rows[: samples - sum(map(len, tape.blocks))]
    blocks = [*tape.blocks, _block(rows, layout)] if rows else tape.blocks
    whole = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    table = whole[:samples].T.copy()
    table.flags.writeable = False
    return table


def _block(rows: list[tuple[Any, ...]], layout: Layout) -> NDArray[np.float64]:
    """Rows of numbers as an array, shape (samples, signals)."""
    _check_widths(rows, layout)
    try:
        flat = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(layout))
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceError(
            f"read_signals returned something other than a number for one of {', '.join(layout)}: "
            f"{error}."
        ) from error
    _refuse_buffers(chain.from_iterable(rows), layout)
    return flat.reshape(len(rows), len(layout))


def _refuse_buffers(values: Iterable[Any], names: Iterable[str]) -> None:
    """Raises TraceError for an array in the place of a number: a later step may write into it.

    Only what the reader returned at sample 0 as an array is copied at each sample.
    """
    for kind in set(map(type, values)) - _NUMBERS:
        if not issubclass(kind, np.generic | Number):
            raise TraceError(
                f"read_signals returned a {kind.__name__} for one of the numbers "
                f"{', '.join(names)} after it had returned a number at sample 0; return float(...) "
                "of it, which no later step can write into."
            )


def _column(name: str, shape: tuple[int, ...], values: Any, samples: int) -> NDArray[np.float64]:
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceError(f"Signal {name} is not an array of real numbers: {error}.") from error
    if column.shape != (samples, *shape):
        raise TraceError(
            f"Signal {name} has shape {column.shape} over {samples} samples; its declaration "
            f"asks for {(samples, *shape)}."
        )
    return column


def _stacked(values: list[Any], what: str) -> NDArray[Any]:
    try:
        return np.array(values) if values else np.zeros((0, 0))
    except ValueError as error:
        raise TraceError(f"{what} of the episode differ in shape: {error}.") from error


def _first_fault(
    fault: tuple[int, str] | None,
    signals: Columns,
    blocks: Sequence[NDArray[np.float64]],
    actions: NDArray[Any],
    rewards: NDArray[np.float64],
) -> tuple[int, str] | None:
    """(sample, name) of the first number that is not finite; action k and reward k spoil k+1."""
    found = [] if fault is None else [fault]
    if any(first_non_finite(block) is not None for block in blocks):
        for name, values in signals.items():
            at = first_non_finite(values)
            if at is not None:
                found.append((at, f"Signal {name}"))
    for what, values in (("The action", actions), ("The reward", rewards)):
        at = first_non_finite(values)
        if at is not None:
            found.append((at + 1, what))
    return min(found, key=_sample) if found else None


def _sample(fault: tuple[int, str]) -> int:
    return fault[0]
