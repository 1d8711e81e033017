"""What a recorder reads: the reader of the signals, its checks, and how values become arrays."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from safegym.errors import TraceError
from safegym.trace.tape import Layout, SignalsFrom

ReadSignals = Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Grip:
    """What a runner needs to step an open episode itself, and to record its samples.

    One step is `step(action)`, then `add_row(read(base))`, then `add_reward(float)`. The actions
    and the check of the observations are the runner's: it hands them in by `Recorder.catch_up`.
    limit: steps after which the recorder truncates, infinity for none. sees: whether observations
    hold floats, and so have to be checked.
    """

    step: Callable[[Any], Any]
    read: ReadSignals
    base: Any
    add_row: Callable[[Any], None]
    add_reward: Callable[[float], None]
    limit: float
    sees: bool


def check_arguments(
    layout: Layout,
    read_signals: ReadSignals | None,
    signals_from: SignalsFrom | None,
    horizon: int | None,
    limit: int | None,
    terminals: Mapping[str, str],
) -> None:
    """Raises TraceError for what no recorder can work with."""
    if not layout:
        raise TraceError('A recorder needs signals: layout={"clearance": ()}.')
    for name, shape in layout.items():
        if not (shape == () or (len(shape) == 1 and shape[0] >= 1)):
            raise TraceError(f"Signal {name} is declared with shape {shape}; write () or (d,).")
    if (read_signals is None) == (signals_from is None):
        raise TraceError("A recorder takes exactly one of read_signals and signals_from.")
    for what, value in (("horizon", horizon), ("limit", limit)):
        if value is not None and value < 1:
            raise TraceError(f"{what} is {value} steps; it must be at least 1, or None.")
    for reason, kind in terminals.items():
        if kind not in ("absorbed", "failed"):
            raise TraceError(f'Terminal {reason!r} is {kind!r}; write "absorbed" or "failed".')


def check_row(row: Any, layout: Layout) -> tuple[int, ...]:
    """Checks sample 0 and returns the places of values that a later step could overwrite."""
    if not isinstance(row, tuple) or len(row) != len(layout):
        found = f"{len(row)} values" if isinstance(row, tuple) else type(row).__name__
        raise TraceError(
            f"read_signals returned {found}; it must return a tuple of {len(layout)}: "
            f"{', '.join(layout)}."
        )
    copied: list[int] = []
    for at, ((name, shape), value) in enumerate(zip(layout.items(), row, strict=True)):
        if type(value) is float and shape == () and math.isfinite(value):
            continue
        if np.shape(value) != shape:
            raise TraceError(
                f"Signal {name} has shape {np.shape(value)} at sample 0; it is declared {shape}."
            )
        if not np.isfinite(value).all():
            raise TraceError(
                f"Signal {name} is not finite at sample 0 ({value}): the episode has no usable "
                "sample."
            )
        if not np.isscalar(value):
            copied.append(at)
    return tuple(copied)


def copying(read: ReadSignals, places: tuple[int, ...]) -> ReadSignals:
    """The reader with its arrays copied, for environments that write into the same buffers."""

    def copied(env: Any) -> tuple[Any, ...]:
        row = list(read(env))
        for at in places:
            row[at] = np.array(row[at])[()]  # a number stays a number
        return tuple(row)

    return copied


def fixed_shape(space: spaces.Space[Any], observation: Any) -> tuple[int, ...] | None:
    """The shape that every later observation must have; None where the space has no arrays."""
    arrays = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
    return np.shape(observation) if isinstance(space, arrays) else None


def check_shape(observation: Any, shape: tuple[int, ...]) -> None:
    """Raises TraceError for an observation of another shape than the first one."""
    if np.shape(observation) != shape:
        raise TraceError(
            f"The observation has shape {np.shape(observation)}; the first one had {shape}."
        )


def plain(space: spaces.Space[Any]) -> Callable[[Any], Any]:
    """Turns a value of `space` into an array of its own; dictionaries and tuples are flattened."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return lambda value: np.array(spaces.flatten(space, value))
    return np.array


def has_floats(space: spaces.Space[Any]) -> bool:
    """Whether an observation can be NaN or infinite at all."""
    if isinstance(space, spaces.Box):
        return space.dtype.kind == "f"
    if isinstance(space, spaces.Dict):
        return any(has_floats(part) for part in space.values())
    if isinstance(space, spaces.Tuple):
        return any(has_floats(part) for part in space)
    return False
