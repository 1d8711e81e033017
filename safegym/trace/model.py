"""The trace."""

import math
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import frozen_exact, frozen_floats
from safegym.trace.clock import Clock, Exact
from safegym.trace.episode import EndKind, EpisodeEnd, Event
from safegym.trace.gaps import Gaps, GapsBySignal, gaps_by_signal, union
from safegym.trace.issues import issues_of
from safegym.trace.resampling import Between, Resampling, Rule, resampling_by_signal

__all__ = ["Clock", "EndKind", "EpisodeEnd", "Event", "Trace"]

GapsGiven = Iterable[tuple[int, int]] | Mapping[str, Iterable[tuple[int, int]]]
"""Intervals of samples that all signals share, or each signal's."""
Signals = Mapping[str, ArrayLike]


class About(TypedDict, total=False):
    """What a log's trace may say of itself, as in `Trace.from_arrays`."""

    end: EndKind | EpisodeEnd
    reason: str
    horizon: int | None
    seed: int
    disturbance_seed: int
    parameters: Mapping[str, float] | None
    events: Iterable[Event]
    versions: Mapping[str, str] | None
    units: Mapping[str, str] | None
    scenario_digest: str
    policy_digest: str


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,199}")
_MAPPINGS = ("signals", "parameters", "versions", "units", "unseen", "resampling")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One episode: signals at samples 0..T (the terminal observation is sample T).

    signals: name -> float64 (T+1,) or (T+1, d), in each signal's declared unit. actions: (T, a)
    for vectors, (T,) for discrete actions, element type kept. rewards: float64 (T,).
    observations: (T+1, ...) or None. horizon: declared horizon H in steps, None if undeclared;
    samples past H are the tail. seed: what `reset` was given, -1 if it was given none.
    parameters: drawn or set numbers, each in its declared unit. units: signal name -> unit; a
    signal without an entry has none on record, and a claim's own declaration is believed.
    unseen: signal -> closed intervals of samples at which it is not known; its values there are
    placeholders, and no verdict depends on them. resampling: signal -> how its log became samples.
    digest: over everything but itself; computed when left empty, checked when given.

    Arrays are copied and read-only, and every number is finite. Two traces are equal when their
    digests are. Raises TraceError naming the first thing that is wrong.
    """

    scenario_digest: str
    policy_digest: str
    seed: int
    clock: Clock
    signals: Mapping[str, NDArray[np.float64]]
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    end: EpisodeEnd
    horizon: int | None = None
    observations: NDArray[Any] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbance_seed: int = 0
    events: tuple[Event, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    unseen: GapsBySignal = field(default_factory=dict[str, Gaps])
    resampling: Mapping[str, Resampling] = field(default_factory=dict[str, Resampling])
    digest: str = ""

    def __post_init__(self) -> None:
        _freeze(self)
        for issue in issues_of(self):
            raise TraceError(issue)
        from safegym.trace.canonical import trace_digest

        found = trace_digest(self)
        if self.digest and self.digest != found:
            raise TraceError(
                f"The trace says digest {self.digest}, its content has {found}: it was changed "
                "after it was recorded, or was damaged in storage."
            )
        object.__setattr__(self, "digest", found)

    @classmethod
    def from_arrays(
        cls,
        signals: Signals,
        *,
        dt: Exact,
        times: ArrayLike | None = None,
        end: EndKind | EpisodeEnd = "horizon",
        reason: str = "",
        horizon: int | None = None,
        start: Exact | None = None,
        gaps: GapsGiven = (),
        actions: ArrayLike | None = None,
        rewards: ArrayLike | None = None,
        observations: ArrayLike | None = None,
        seed: int = 0,
        disturbance_seed: int = 0,
        parameters: Mapping[str, float] | None = None,
        events: Iterable[Event] = (),
        versions: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        resampling: Mapping[str, Resampling] | None = None,
        scenario_digest: str = "",
        policy_digest: str = "",
    ) -> "Trace":
        """A trace from arrays at hand: `Trace.from_arrays({"x": x}, dt="0.1", end="horizon")`.

        signals: name -> (T+1,) or (T+1, d). dt, start: seconds, exact ("0.1", "1/240").
        times: stamps of the samples in seconds, only to be checked: they must lie on the clock, to
        within dt/1000 (for others see `from_stamps`); start is then the first of them.
        end: a kind of `EpisodeEnd`. horizon: declared horizon H in steps. gaps: closed intervals of
        samples at which no signal is known, [(3, 5)], or a mapping from signal to such intervals.
        actions default to a (T, 0) array, rewards to zeros. Raises TraceError.
        """
        if times is not None:
            from safegym.trace.uniform import checked_start

            start = checked_start(times, _steps_of(signals) + 1, dt, start)
        clock = Clock.parse(dt, 0 if start is None else start)
        steps = _steps_of(signals)
        if not isinstance(end, EpisodeEnd):
            end = EpisodeEnd(end, clock.time(steps), reason)
        return cls(
            scenario_digest=scenario_digest,
            policy_digest=policy_digest,
            seed=seed,
            clock=clock,
            signals=cast(Mapping[str, NDArray[np.float64]], signals),
            actions=np.zeros((steps, 0)) if actions is None else cast(NDArray[Any], actions),
            rewards=np.zeros(steps) if rewards is None else cast(NDArray[Any], rewards),
            end=end,
            horizon=horizon,
            observations=cast("NDArray[Any] | None", observations),
            parameters=parameters or {},
            disturbance_seed=disturbance_seed,
            events=tuple(events),
            versions=versions or {},
            units=units or {},
            unseen=gaps_by_signal(gaps, signals, steps),
            resampling=resampling or {},
        )

    @classmethod
    def from_stamps(
        cls,
        times: ArrayLike | Mapping[str, tuple[ArrayLike, ArrayLike]],
        signals: Signals | None = None,
        *,
        dt: Exact,
        rule: Rule | Mapping[str, Rule] | None = None,
        longest_gap: Exact | Mapping[str, Exact] | None = None,
        between: Between | Mapping[str, Between] | None = None,
        unit: Literal["s", "ns"] = "s",
        start: Exact | None = None,
        stop: Exact | None = None,
        tolerance: Exact | None = None,
        **about: Unpack[About],
    ) -> "Trace":
        """A trace from a log whose stamps are jittered or irregular, resampled onto a clock.

        `Trace.from_stamps(times, {"x": x}, dt="0.01", rule="hold", longest_gap="0.05")`, or with
        stamps of their own for each signal, `Trace.from_stamps({"x": (times, x)}, ...)`.

        times: (n,) strictly increasing, seconds or, with unit="ns", whole nanoseconds; seconds are
        read to the nearest nanosecond. signals: name -> (n,) or (n, d).
        rule: "hold" takes the last value at or before an instant, "linear" lies between the two
        neighbours (rounded once, never outside of the log), "jitter" takes each sample as that of
        the instant within `tolerance` of it. longest_gap: seconds; between neighbours further apart
        nothing is known (`unseen`), nor outside of the log. between: what becomes of several
        samples between two instants: "max" or "min" keeps the worst since the instant before,
        "sample" passes them over; without it they are refused. rule, longest_gap and between may be
        mappings by signal. tolerance: seconds within which a stamp counts as on an instant,
        dt/1000 by default. start, stop: seconds of the first and the last instant, by default the
        part of the log that all signals have, counted from its first sample, or back from a stop.
        about: end and others, as in `from_arrays`.

        What was done is in `resampling`. Raises TraceError, also without a rule.
        """
        from safegym.trace.logs import Choices, resampled

        choices = Choices(rule, longest_gap, between, unit, start, stop, tolerance)
        return resampled(cls, times, signals, dt, choices, about)

    @property
    def gaps(self) -> Gaps:
        """Closed intervals of samples at which some signal is not known, sorted and disjoint."""
        return union(self.unseen.values()) if self.unseen else ()

    def gaps_of(self, names: Iterable[str]) -> Gaps:
        """Closed intervals of samples at which one of these signals is not known."""
        return union(self.unseen.get(name, ()) for name in names) if self.unseen else ()

    @property
    def steps(self) -> int:
        """T: the number of steps, one less than the number of samples."""
        return len(self.rewards)

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds of each sample, shape (T+1,), each rounded once from its exact value."""
        return np.array([self.clock.time(step) for step in range(self.steps + 1)])

    def validate(self) -> tuple[str, ...]:
        """Everything that is wrong with this trace now, empty if nothing is.

        A trace is checked when it is made, so a finding means its memory was changed since.
        """
        from safegym.trace.canonical import trace_digest

        found = list(issues_of(self))
        if not found and trace_digest(self) != self.digest:
            found.append(f"The content does not have the digest {self.digest}.")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The trace as a JSON document; `Trace.from_json` gives back an equal trace."""
        from safegym.trace.document import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Trace":
        """The trace of a JSON document. Raises TraceError naming what is wrong with it."""
        from safegym.trace.document import from_json

        return from_json(document)

    def to_text(self) -> str:
        """The JSON document as text, one field a line."""
        from safegym.trace.document import to_text

        return to_text(self)

    @classmethod
    def from_text(cls, text: str | bytes) -> "Trace":
        """The trace of a JSON text: bounded, no duplicate keys, no NaN. Raises TraceError."""
        from safegym.trace.document import from_text

        return from_text(text)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"Trace({', '.join(self.signals)}; T={self.steps}, dt={self.clock.dt} s, "
            f"{self.end.kind}, {self.digest[:19]})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        for name in _MAPPINGS:
            plain[name] = dict(plain[name])
        return _rebuild, (plain,)

    def __copy__(self) -> "Trace":
        return self

    def __deepcopy__(self, memo: object) -> "Trace":
        return self


def adopt(**fields: Any) -> Trace:
    """A trace of values that the caller made for it, has checked, and gives away.

    For the recorder, which checks a whole episode at once: nothing is copied or checked again,
    arrays are made read-only in place. All fields but `digest` must be given, and no gaps.
    """
    trace = object.__new__(Trace)
    fields = {**fields, "unseen": {}, "resampling": {}}
    put = object.__setattr__
    for name, value in fields.items():
        put(trace, name, value)
    arrays = (trace.actions, trace.rewards, trace.observations, *trace.signals.values())
    for values in arrays:
        if values is not None:
            values.flags.writeable = False
    for name in _MAPPINGS:
        put(trace, name, MappingProxyType(fields[name]))
    from safegym.trace.canonical import trace_digest

    put(trace, "digest", trace_digest(trace))
    return trace


def _rebuild(fields: dict[str, Any]) -> Trace:
    return Trace(**fields)


def _steps_of(signals: Mapping[str, ArrayLike]) -> int:
    """T from the first signal; the constructor checks the rest."""
    refuse_no_mapping(signals, "signals", '{"x": x}')
    for values in signals.values():
        try:
            return max(len(np.atleast_1d(np.asarray(values))) - 1, 0)
        except ValueError as error:
            raise TraceError(f"A signal is not an array of real numbers: {error}.") from error
    raise TraceError('A trace needs at least one signal, such as {"x": x} with x of shape (T+1,).')


def _freeze(trace: Trace) -> None:
    """Replaces the fields by read-only copies of plain types."""
    put = object.__setattr__
    refuse_no_mapping(trace.signals, "signals", '{"x": x}')
    refuse_no_mapping(trace.resampling, "resampling", '{"x": record}')
    signals = {
        signal_name(name): frozen_floats(values, f"Signal {name}")
        for name, values in trace.signals.items()
    }
    put(trace, "signals", MappingProxyType(signals))
    put(trace, "actions", frozen_exact(trace.actions, "The array of actions"))
    put(trace, "rewards", frozen_floats(trace.rewards, "The array of rewards"))
    if trace.observations is not None:
        put(trace, "observations", frozen_exact(trace.observations, "The array of observations"))
    put(trace, "seed", whole_number(trace.seed, "seed"))
    put(trace, "disturbance_seed", whole_number(trace.disturbance_seed, "disturbance_seed"))
    if trace.horizon is not None:
        put(trace, "horizon", whole_number(trace.horizon, "horizon"))
    put(trace, "parameters", MappingProxyType(finite_numbers(trace.parameters)))
    put(trace, "versions", texts_by_name(trace.versions, "versions"))
    put(trace, "units", texts_by_name(trace.units, "units"))
    put(trace, "events", tuple(trace.events))
    unseen = gaps_by_signal(trace.unseen, signals, np.size(trace.rewards))
    put(trace, "unseen", MappingProxyType(unseen))
    records = resampling_by_signal(trace.resampling, signals)
    put(trace, "resampling", MappingProxyType(records))


def signal_name(name: object) -> str:
    """The name of a signal. Raises TraceError unless it is text of letters, digits and _."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise TraceError(
        f"A signal is named {name!r}; use letters, digits and underscores, such as clearance."
    )


def whole_number(value: Any, what: str) -> int:
    """A whole number as int. Raises TraceError for anything else, True and False included."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TraceError(f"{what} is {value!r}; write a whole number.") from None


def texts_by_name(given: object, what: str) -> Mapping[str, str]:
    """A read-only mapping of texts. Raises TraceError if it is no mapping."""
    refuse_no_mapping(given, what, '{"speed": "m/s"}')
    return MappingProxyType({str(k): str(v) for k, v in cast(Mapping[Any, Any], given).items()})


def refuse_no_mapping(given: object, what: str, line: str) -> None:
    """Raises TraceError unless something maps names to values."""
    if not isinstance(given, Mapping):
        raise TraceError(f"{what} is a {type(given).__name__}; write a mapping, such as {line}.")


def finite_numbers(parameters: Mapping[str, float]) -> dict[str, float]:
    """Parameters as floats. Raises TraceError if one is no number or not finite."""
    try:
        found = {str(name): float(value) for name, value in parameters.items()}
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise TraceError(f"A parameter is not a number: {error}.") from error
    for name, value in found.items():
        if not math.isfinite(value):
            raise TraceError(f"Parameter {name} is {value}; parameters must be finite.")
    return found
