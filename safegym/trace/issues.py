"""What can be wrong with a trace, one sentence each."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from safegym.trace.arrays import first_non_finite
from safegym.trace.episode import END_KINDS, Event
from safegym.trace.recorded import unit_issues

if TYPE_CHECKING:
    from safegym.trace.model import Trace


def issues_of(trace: "Trace") -> Iterable[str]:
    """Everything that is wrong with a trace, nothing if it is sound."""
    yield from _shape_issues(trace)
    yield from _finite_issues(trace)
    yield from _end_issues(trace)
    yield from _event_issues(trace)
    yield from _text_issues(trace)
    yield from unit_issues(trace.units, trace.signals)


def _shape_issues(trace: "Trace") -> Iterable[str]:
    if not trace.signals:
        yield 'A trace needs at least one signal, such as {"x": x} with x of shape (T+1,).'
        return
    if trace.rewards.ndim != 1:
        yield f"The array of rewards has shape {trace.rewards.shape}; its shape must be (T,)."
        return
    steps = trace.steps
    for name, values in trace.signals.items():
        if values.ndim and not len(values):
            yield (
                f"Signal {name} has no samples, and an empty trace says nothing; a trace has at "
                f'least sample 0: {{"{name}": [0.5]}} has T = 0.'
            )
            return
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


def _finite_issues(trace: "Trace") -> Iterable[str]:
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


def _end_issues(trace: "Trace") -> Iterable[str]:
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


def _text_issues(trace: "Trace") -> Iterable[str]:
    texts = {"scenario_digest": trace.scenario_digest, "policy_digest": trace.policy_digest}
    for name, text in {**texts, "reason": trace.end.reason}.items():
        if not isinstance(cast(object, text), str):
            yield f"{name} is {text!r:.60}; it must be text."


def _event_issues(trace: "Trace") -> Iterable[str]:
    for event in trace.events:
        if not isinstance(cast(object, event), Event):
            yield f'An event is {event!r:.60}; write Event(3, "kind", "detail").'
            return
        if not 0 <= event.step <= trace.steps:
            yield f"Event {event.kind!r} is at step {event.step}, outside 0..{trace.steps}."
