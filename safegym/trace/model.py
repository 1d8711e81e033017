"""Clock, episode end, and the trace itself."""

import math
import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safegym.errors import TraceError
from safegym.trace.arrays import first_non_finite, frozen_exact, frozen_floats
from safegym.trace.clock import Clock, Exact

__all__ = ["Clock", "EndKind", "EpisodeEnd", "Event", "Trace"]

EndKind = Literal["absorbed", "failed", "horizon", "interrupted", "cut"]
END_KINDS: tuple[EndKind, ...] = get_args(EndKind)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,199}")


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """How and when (seconds) an episode ended; reason: in words, or as the scenario declares."""

    kind: EndKind
    time: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at sample `step`: a fault that set in, a shield that stepped in."""

    step: int
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One episode: signals at samples 0..T (the terminal observation is sample T).

    signals: name -> float64 (T+1,) or (T+1, d), in each signal's declared unit. actions: (T, a)
    for vectors, (T,) for discrete actions, element type kept. rewards: float64 (T,).
    observations: (T+1, ...) or None. horizon: declared horizon H in steps, None if undeclared;
    samples past H are the tail. seed: what `reset` was given, -1 if it was given none.
    parameters: drawn or set numbers, each in its declared unit. units: signal name -> unit; a
    signal without an entry has none on record, and a claim's own declaration is believed.
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
    digest: str = ""

    def __post_init__(self) -> None:
        _freeze(self)
        for issue in _issues(self):
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
        signals: Mapping[str, ArrayLike],
        *,
        dt: Exact,
        end: EndKind | EpisodeEnd = "horizon",
        reason: str = "",
        horizon: int | None = None,
        start: Exact = 0,
        actions: ArrayLike | None = None,
        rewards: ArrayLike | None = None,
        observations: ArrayLike | None = None,
        seed: int = 0,
        disturbance_seed: int = 0,
        parameters: Mapping[str, float] | None = None,
        events: Iterable[Event] = (),
        versions: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        scenario_digest: str = "",
        policy_digest: str = "",
    ) -> "Trace":
        """A trace from arrays at hand: `Trace.from_arrays({"x": x}, dt="0.1", end="horizon")`.

        signals: name -> (T+1,) or (T+1, d). dt, start: seconds, exact ("0.1", "1/240").
        end: a kind of `EpisodeEnd`. horizon: declared horizon H in steps. actions default to a
        (T, 0) array, rewards to zeros. Raises TraceError.
        """
        clock = Clock.parse(dt, start)
        steps = _steps_of(signals)
        if not isinstance(end, EpisodeEnd):
            end = EpisodeEnd(end, clock.time(steps), reason)
        return cls(
            scenario_digest=scenario_digest,
            policy_digest=policy_digest,
            seed=seed,
            clock=clock,
            signals=cast(Mapping[str, NDArray[np.float64]], signals),
            actions=np.zeros((steps, 0)) if actions is None else np.asarray(actions),
            rewards=np.zeros(steps) if rewards is None else np.asarray(rewards),
            end=end,
            horizon=horizon,
            observations=None if observations is None else np.asarray(observations),
            parameters=parameters or {},
            disturbance_seed=disturbance_seed,
            events=tuple(events),
            versions=versions or {},
            units=units or {},
        )

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

        found = list(_issues(self))
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
        for name in ("signals", "parameters", "versions", "units"):
            plain[name] = dict(plain[name])
        return _rebuild, (plain,)

    def __copy__(self) -> "Trace":
        return self

    def __deepcopy__(self, memo: object) -> "Trace":
        return self


def adopt(**fields: Any) -> Trace:
    """A trace of values that the caller made for it, has checked, and gives away.

    For the recorder, which checks a whole episode at once: nothing is copied or checked again,
    arrays are made read-only in place. All fields but `digest` must be given.
    """
    trace = object.__new__(Trace)
    put = object.__setattr__
    for name, value in fields.items():
        put(trace, name, value)
    arrays = (trace.actions, trace.rewards, trace.observations, *trace.signals.values())
    for values in arrays:
        if values is not None:
            values.flags.writeable = False
    for name in ("signals", "parameters", "versions", "units"):
        put(trace, name, MappingProxyType(fields[name]))
    from safegym.trace.canonical import trace_digest

    put(trace, "digest", trace_digest(trace))
    return trace


def _rebuild(fields: dict[str, Any]) -> Trace:
    return Trace(**fields)


def _steps_of(signals: Mapping[str, ArrayLike]) -> int:
    """T from the first signal; the constructor checks the rest."""
    for values in signals.values():
        return max(len(np.atleast_1d(np.asarray(values))) - 1, 0)
    raise TraceError('A trace needs at least one signal, such as {"x": x} with x of shape (T+1,).')


def _freeze(trace: Trace) -> None:
    """Replaces the fields by read-only copies of plain types."""
    put = object.__setattr__
    signals = {
        _signal_name(name): frozen_floats(values, f"Signal {name}")
        for name, values in trace.signals.items()
    }
    put(trace, "signals", MappingProxyType(signals))
    put(trace, "actions", frozen_exact(trace.actions, "The array of actions"))
    put(trace, "rewards", frozen_floats(trace.rewards, "The array of rewards"))
    if trace.observations is not None:
        put(trace, "observations", frozen_exact(trace.observations, "The array of observations"))
    put(trace, "seed", _whole(trace.seed, "seed"))
    put(trace, "disturbance_seed", _whole(trace.disturbance_seed, "disturbance_seed"))
    if trace.horizon is not None:
        put(trace, "horizon", _whole(trace.horizon, "horizon"))
    put(trace, "parameters", MappingProxyType(finite_numbers(trace.parameters)))
    put(trace, "versions", MappingProxyType({str(k): str(v) for k, v in trace.versions.items()}))
    put(trace, "units", MappingProxyType({str(k): str(v) for k, v in trace.units.items()}))
    put(trace, "events", tuple(trace.events))


def _signal_name(name: object) -> str:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise TraceError(
        f"A signal is named {name!r}; use letters, digits and underscores, such as clearance."
    )


def _whole(value: Any, what: str) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TraceError(f"{what} is {value!r}; write a whole number.") from None


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


def _issues(trace: Trace) -> Iterable[str]:
    yield from _shape_issues(trace)
    yield from _finite_issues(trace)
    yield from _end_issues(trace)
    yield from _event_issues(trace)


def _shape_issues(trace: Trace) -> Iterable[str]:
    if not trace.signals:
        yield 'A trace needs at least one signal, such as {"x": x} with x of shape (T+1,).'
        return
    if trace.rewards.ndim != 1:
        yield f"The array of rewards has shape {trace.rewards.shape}; its shape must be (T,)."
        return
    steps = trace.steps
    for name, values in trace.signals.items():
        if values.ndim not in (1, 2) or len(values) != steps + 1 or 0 in values.shape:
            yield (
                f"Signal {name} has shape {values.shape}; with T = {steps} steps it must be "
                f"({steps + 1},) or ({steps + 1}, d): samples 0..T, the terminal one included."
            )
    if trace.actions.ndim < 1 or len(trace.actions) != steps:
        yield (
            f"The array of actions has shape {trace.actions.shape}; with T = {steps} steps its "
            f"first dimension must be {steps}."
        )
    seen = trace.observations
    if seen is not None and (seen.ndim < 1 or len(seen) != steps + 1):
        yield (
            f"The array of observations has shape {seen.shape}; with T = {steps} steps its first "
            f"dimension must be {steps + 1}."
        )


def _finite_issues(trace: Trace) -> Iterable[str]:
    arrays = [(f"Signal {name}", values) for name, values in trace.signals.items()]
    arrays += [("The array of actions", trace.actions), ("The array of rewards", trace.rewards)]
    if trace.observations is not None:
        arrays.append(("The array of observations", trace.observations))
    for what, values in arrays:
        at = first_non_finite(values)
        if at is not None:
            yield (
                f"{what} is not finite at index {at} ({values[at]}); cut the trace before it and "
                'end it with end="interrupted".'
            )


def _end_issues(trace: Trace) -> Iterable[str]:
    end, horizon, steps = trace.end, trace.horizon, trace.steps
    if end.kind not in END_KINDS:
        yield f"The end is {end.kind!r}; it must be one of {', '.join(END_KINDS)}."
    if horizon is not None and horizon < 1:
        yield f"The horizon is {horizon} steps; it must be at least 1, or None."
    if end.kind == "horizon" and horizon is not None and steps < horizon:
        yield (
            f'The end is "horizon", but the trace has T = {steps} steps and its horizon is '
            f'{horizon}; use end="interrupted", or horizon={steps}.'
        )
    if end.time != trace.clock.time(steps):
        yield (
            f"The end is at {end.time} s, but the last sample (T = {steps}) is at "
            f"{trace.clock.time(steps)} s."
        )


def _event_issues(trace: Trace) -> Iterable[str]:
    for event in trace.events:
        if not 0 <= event.step <= trace.steps:
            yield f"Event {event.kind!r} is at step {event.step}, outside 0..{trace.steps}."
