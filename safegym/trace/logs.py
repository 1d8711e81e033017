"""Logs with irregular stamps as traces: `Trace.from_stamps`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_bytes
from safegym.errors import TraceError
from safegym.trace.arrays import first_non_finite, frozen_floats
from safegym.trace.choices import Choices, Treatment, moment, tolerance, treatments
from safegym.trace.clock import Clock, Exact
from safegym.trace.filling import Filled, Log, filled
from safegym.trace.gaps import Gaps, gaps_where
from safegym.trace.grid import Grid, check_size
from safegym.trace.resampling import Resampling
from safegym.trace.stamps import SECOND, Stamps, StampUnit, read_stamps, resolution

if TYPE_CHECKING:
    from safegym.trace.model import Trace

__all__ = ["Choices", "resampled"]


@dataclass(frozen=True, slots=True)
class _Source:
    """One signal's log. values: (n, d). scalar: whether it was (n,)."""

    stamps: Stamps
    values: NDArray[np.float64]
    scalar: bool

    @property
    def first(self) -> Fraction:
        """Seconds of the first stamp."""
        return Fraction(int(self.stamps[0]), SECOND)

    @property
    def last(self) -> Fraction:
        """Seconds of the last stamp."""
        return Fraction(int(self.stamps[-1]), SECOND)


def resampled(
    cls: "type[Trace]",
    times: Any,
    signals: Mapping[str, Any] | None,
    dt: Exact,
    choices: Choices,
    fields: Mapping[str, Any],
) -> "Trace":
    """The trace of a log; arguments as in `Trace.from_stamps`. Raises TraceError."""
    _check_fields(fields)
    step = Clock.parse(dt).dt
    sources, finest = _sources(times, signals, choices.unit)
    treated = treatments(choices, list(sources), step)
    slack = tolerance(choices, finest, step)
    if choices.tolerance is None and any(each.rule == "jitter" for each in treated.values()):
        raise TraceError(
            'rule="jitter" needs tolerance="0.002", or another number of seconds: how far a stamp '
            "may be from its instant."
        )
    clock, steps = _clock(sources, treated, choices, step, slack)
    width = sum(source.values.shape[1] for source in sources.values())
    check_size(steps, width, clock, f"A log from {_seconds(clock.start)}")
    longest = [each.longest_gap for each in treated.values() if each.longest_gap is not None]
    grid = Grid.of(clock, steps, slack, *longest)
    arrays: dict[str, NDArray[np.float64]] = {}
    gaps: dict[str, Gaps] = {}
    records: dict[str, Resampling] = {}
    for name, source in sources.items():
        found, records[name] = _resample(name, source, treated[name], grid, slack)
        if choices.stop is None and treated[name].between is None:
            _check_tail(name, source, treated[name], grid, slack)
        arrays[name] = found.values[:, 0] if source.scalar else found.values
        gaps[name] = gaps_where(~found.known)
    return cls.from_arrays(
        arrays, dt=step, start=clock.start, gaps=gaps, resampling=records, **fields
    )


def _check_fields(fields: Mapping[str, Any]) -> None:
    from safegym.trace.model import About

    known = list(About.__annotations__)
    for name in fields:
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.8)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it takes {', '.join(known)}."
            raise TraceError(f"Trace.from_stamps takes no {name}; {hint}")


def _sources(
    times: Any, signals: Mapping[str, Any] | None, unit: StampUnit
) -> tuple[dict[str, _Source], Fraction]:
    """Each signal's log, and the coarsest resolution of their stamps in seconds."""
    given = _pairs(times, signals)
    read: dict[int, Stamps] = {}
    finest = Fraction(0)
    sources: dict[str, _Source] = {}
    for name, (stamps, values) in given.items():
        if id(stamps) not in read:
            of = "the log" if signals is not None else f"signal {name}"
            read[id(stamps)] = read_stamps(stamps, unit, of)
            finest = max(finest, resolution(stamps))
        sources[name] = _source(name, read[id(stamps)], values)
    return sources, finest


def _pairs(times: Any, signals: Mapping[str, Any] | None) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    if signals is not None:
        if isinstance(times, Mapping) or not isinstance(cast(object, signals), Mapping):
            raise TraceError(
                'Write Trace.from_stamps(times, {"x": x}, ...) for signals with the same stamps, '
                'or Trace.from_stamps({"x": (times, x)}, ...) where each has its own.'
            )
        found.update((name, (times, values)) for name, values in signals.items())
    elif isinstance(times, Mapping):
        for name, pair in cast(Mapping[str, Any], times).items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TraceError(
                    f"Signal {name} is {type(pair).__name__}; with stamps of its own it is a pair, "
                    f'{{"{name}": (times, values)}}.'
                )
            found[name] = pair[0], pair[1]
    else:
        raise TraceError('Stamps alone make no trace; write Trace.from_stamps(times, {"x": x}).')
    if not found:
        raise TraceError(
            'A trace needs at least one signal, such as {"x": x} with x of shape (n,).'
        )
    return found


def _source(name: str, stamps: Stamps, given: Any) -> _Source:
    values = frozen_floats(given, f"Signal {name}")
    if values.ndim not in (1, 2) or len(values) != len(stamps) or 0 in values.shape:
        raise TraceError(
            f"Signal {name} has shape {values.shape}; with {len(stamps)} stamps it must be "
            f"({len(stamps)},) or ({len(stamps)}, d)."
        )
    at = first_non_finite(values)
    if at is not None:
        raise TraceError(
            f"Signal {name} is not finite at sample {at} ({values[at]}, stamped "
            f"{stamps[at] / SECOND:.15g} s); leave out samples and stamps that hold no reading: "
            "what lies further apart than longest_gap is then unknown."
        )
    return _Source(stamps, values.reshape(len(values), -1), values.ndim == 1)


def _clock(
    sources: Mapping[str, _Source],
    treated: Mapping[str, Treatment],
    choices: Choices,
    dt: Fraction,
    slack: Fraction,
) -> tuple[Clock, int]:
    """The clock and T: from `start` to `stop`, by default over what all logs cover.

    Without `start`, but with `stop`, the instants count back from it.
    """
    first = max(source.first for source in sources.values())
    last = min(source.last for source in sources.values())
    start = first if choices.start is None else moment(choices.start, "start")
    stop = last if choices.stop is None else moment(choices.stop, "stop")
    if choices.stop is None:
        steps = (last + slack - start) // dt
    elif choices.start is None:
        steps = (stop - first + slack) // dt
        start = stop - steps * dt
    else:
        steps = _whole_steps(start, stop, dt)
    if steps < 0 or all(s.last < start - slack or s.first > stop for s in sources.values()):
        raise TraceError(
            f"Nothing lies between start = {_seconds(start)} and stop = {_seconds(stop)}: the "
            f"signals are logged {_extents(sources)}."
        )
    filling = any(each.rule != "jitter" for each in treated.values())
    if filling and choices.stop is None and steps == 0 and last > start + slack:
        raise TraceError(
            f"dt = {_seconds(dt)} is longer than the log from start = {_seconds(start)} on: the "
            f"signals are logged {_extents(sources)}, and all but one instant would go unjudged. "
            "Take a smaller dt; or say stop=... where one instant is meant."
        )
    for name, source in sources.items():
        limit = max(treated[name].longest_gap or dt, dt)
        early = choices.start is None and start - source.first > limit
        if early or (choices.stop is None and source.last - stop > limit):
            raise TraceError(
                f"The signals are logged {_extents(sources)}: what they share would leave out much "
                f"of {name}. Say from when to when: start=..., stop=... (a signal is unknown where "
                "it has no log)."
            )
    return Clock(dt, start), steps


def _whole_steps(start: Fraction, stop: Fraction, dt: Fraction) -> int:
    steps = (stop - start) / dt
    if steps.denominator != 1:
        below = start + (steps.numerator // steps.denominator) * dt
        raise TraceError(
            f"stop = {_seconds(stop)} is not a whole number of steps of {dt} s after start = "
            f"{_seconds(start)}; {_seconds(below)} and {_seconds(below + dt)} are."
        )
    return int(steps)


def _extents(sources: Mapping[str, _Source]) -> str:
    said = [
        f"{name} from {_seconds(source.first)} to {_seconds(source.last)}"
        for name, source in sources.items()
    ]
    return ", ".join(said[:6]) + (", ..." if len(said) > 6 else "")


def _resample(
    name: str, source: _Source, how: Treatment, grid: Grid, slack: Fraction
) -> tuple[Filled, Resampling]:
    places, off = grid.snapped(grid.places(source.stamps), grid.in_ticks(slack))
    inside = (places >= 0) & (places <= grid.steps * grid.dt)
    on = np.abs(off) <= grid.in_ticks(slack)
    if how.rule == "jitter":
        _check_jitter(name, source, on, places, grid, slack)
    longest = 0 if how.longest_gap is None else grid.in_ticks(how.longest_gap + slack)
    found = filled(Log(places, source.values), grid, how.rule, longest, how.between)
    if found.skipped and how.between is None:
        _refuse_skipped(name, source, found, grid)
    record = Resampling(
        rule=how.rule,
        between=how.between,
        longest_gap=how.longest_gap,
        tolerance=slack,
        widest=Fraction(int(np.diff(source.stamps).max(initial=0)), SECOND),
        furthest=grid.seconds(int(np.abs(off[on & inside]).max(initial=0))),
        samples=len(source.stamps),
        before=int(np.count_nonzero(places < 0)),
        after=int(np.count_nonzero(places > grid.steps * grid.dt)),
        passed_over=found.skipped,
        hidden=found.hidden,
        stamps=_digest(source.stamps),
        values=_digest(source.values),
    )
    return found, record


def _check_jitter(
    name: str,
    source: _Source,
    on: NDArray[np.bool_],
    places: NDArray[np.int64],
    grid: Grid,
    slack: Fraction,
) -> None:
    """Raises TraceError unless each sample within half a step of the clock has its own instant."""
    near = (2 * places >= -grid.dt) & (2 * places <= (2 * grid.steps + 1) * grid.dt)
    wrong = near & ~on
    if wrong.any():
        at = int(np.argmax(wrong))
        raise TraceError(
            f"Sample {at} of {name}, stamped {source.stamps[at] / SECOND:.15g} s, is not within "
            f"tolerance = {_seconds(slack)} of an instant (dt = {grid.clock.dt} s from "
            f"{_seconds(grid.clock.start)}); a larger tolerance or another start= may fit, or "
            'resample: rule="hold", longest_gap="0.05".'
        )
    twice = near[1:] & (np.diff(places) == 0)
    if twice.any():
        at = int(np.argmax(twice))
        raise TraceError(
            f"Samples {at} and {at + 1} of {name} are both within tolerance = {_seconds(slack)} of "
            f"{_seconds(grid.clock.start + grid.seconds(int(places[at])))}; "
            'rule="jitter" takes one sample an instant. Resample instead: rule="hold", '
            'longest_gap="0.05", between="max".'
        )


def _check_tail(name: str, source: _Source, how: Treatment, grid: Grid, slack: Fraction) -> None:
    """Raises TraceError where several samples come after the last instant, less than dt later.

    With a next instant they would be passed over, and are refused alike. By jitter not even one
    may: it has no instant.
    """
    places, _ = grid.snapped(grid.places(source.stamps), grid.in_ticks(slack))
    end = grid.steps * grid.dt
    late = np.flatnonzero((places > end) & (places < end + grid.dt))
    if late.size < (1 if how.rule == "jitter" else 2):
        return
    raise TraceError(
        f"{late.size} of the {len(source.stamps)} samples of {name} come after the last instant at "
        f"dt = {grid.clock.dt} s (the first is sample {late[0]}, stamped "
        f"{source.stamps[late[0]] / SECOND:.15g} s) and would not be judged. Say where to end: "
        'stop=times[-1]; or by which rule they count (rule="hold" and between="max"); or take a '
        "smaller dt."
    )


def _refuse_skipped(name: str, source: _Source, found: Filled, grid: Grid) -> None:
    at = found.first_skipped
    raise TraceError(
        f"{found.skipped} of the {len(source.stamps)} samples of {name} would be passed over at dt "
        f"= {grid.clock.dt} s (the first is sample {at}, stamped {source.stamps[at] / SECOND:.15g} "
        "s), and a violation with them. Say what counts of several samples between two instants: "
        'between="max" or "min" keeps the worst, between="sample" passes over the others; or take '
        "a smaller dt."
    )


def _digest(values: NDArray[Any]) -> str:
    if sys.byteorder == "big":
        values = values.astype(values.dtype.newbyteorder("<"))
    return digest_bytes(values.tobytes())


def _seconds(time: Fraction) -> str:
    return f"{float(time):.15g} s"
