"""Whether a scenario does what it declares, found by running it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from safegym.errors import SafegymError, ScenarioError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import options_of
from safegym.scenario.lockstep import Side, part
from safegym.scenario.model import deviations
from safegym.scenario.record import episode
from safegym.scenario.runner import Task
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace
from safegym.trace.record import inputs_of

Progress = Callable[[int, int], None]
Options = dict[str, Any]
Check = Callable[[], Iterator[str]]
MODEL_TOLERANCE = 1e-9
"""Largest difference between a model and an episode, in a signal's scale."""
_ABSENT = "no_such_input"


def probe(
    spec: ScenarioSpec, *, seeds: Sequence[int] = (0, 1, 2, 3), progress: Progress | None = None
) -> list[str]:
    """Returns what the scenario does otherwise than declared, a sentence each; empty if nothing.

    Runs the good policy. Each parameter and fault is told by the trace, in its range, faults at
    rest; each input that is given is taken and told; moved from one end to the other it changes a
    recorded signal on one of the seeds (the other faults half on, where it is a fault); wrong
    options are refused; an episode comes back from its own inputs; the model gives what the
    environment gives. progress: called with (checks done, checks).

    A declaration with issues (`spec.validate()`) is not run; its issues are returned.
    """
    issues = spec.validate()
    if issues:
        return issues
    sides = (Side(spec), Side(spec))
    checks: list[Check] = [
        partial(_plain_episode, spec, seeds[0]),
        partial(_refusals, spec, sides[0]),
        *(partial(_given, spec, sides, each, seeds) for each in _inputs(spec)),
    ]
    try:
        for done, check in enumerate(checks):
            if progress is not None:
                progress(done, len(checks))
            issues.extend(check())
    finally:
        for side in sides:
            side.close()
    return issues


def _inputs(spec: ScenarioSpec) -> tuple[Parameter | Disturbance, ...]:
    return (*spec.parameters, *spec.faults, *spec.disturbances)


def _run(spec: ScenarioSpec, seed: int, options: Mapping[str, Any] | None = None) -> Trace:
    if spec.good is None:
        raise ScenarioError(f"Scenario {spec.name} has no good policy to run.")
    return episode(Staging(spec), spec.good(), Task(0, seed, options or {}))


def _plain_episode(spec: ScenarioSpec, seed: int) -> Iterator[str]:
    trace = _run(spec, seed)
    for each in (*spec.parameters, *spec.faults):
        told = trace.parameters.get(each.name)
        if told is None:
            yield (
                f"The trace does not tell {each.name}; return it in the info of reset: "
                f'{{"parameters": {{"{each.name}": ...}}}}.'
            )
        elif not each.low <= told <= each.high:
            yield f"A seed drew {each.name} = {told:g}, outside [{each.low:g}, {each.high:g}]."
    for fault in spec.faults:
        told = trace.parameters.get(fault.name)
        if told is not None and told != fault.resting:
            yield f"Fault {fault.name} is {told:g} without being asked for, not {fault.resting:g}."
    again = _run(spec, seed, options_of(trace))
    if _changed(trace, again):
        yield (
            f"Seed {seed} with the inputs that its own trace tells gives another episode: signal "
            f"{_changed(trace, again)} differs."
        )
    yield from _model(spec, trace)


def _model(spec: ScenarioSpec, trace: Trace) -> Iterator[str]:
    if spec.model is None:
        return
    scales = {signal.name: signal.scale or 1.0 for signal in spec.signals}
    for name, off in deviations(spec, trace).items():
        if not off <= MODEL_TOLERANCE * scales[name]:
            yield f"The model gives signal {name} up to {off:g} off the recorded episode."


def _given(
    spec: ScenarioSpec,
    sides: tuple[Side, Side],
    each: Parameter | Disturbance,
    seeds: Sequence[int],
) -> Iterator[str]:
    """One input: taken, told, and of consequence."""
    ends = (_at(spec, each, each.low), _at(spec, each, each.high))
    try:
        yield from _told(sides[0], each, seeds[0], ends)
        if each.low == each.high:
            return
        if any(part(*sides, seed, ends, spec.horizon) for seed in seeds):
            return
        yield (
            f"Moving {each.name} from {each.low:g} to {each.high:g} {each.unit} changes no signal "
            f"on seeds {', '.join(map(str, seeds))}; act on it in reset or step, or take it out of "
            "the declaration."
        )
    except SafegymError as error:
        yield f"{each.name} at an end of its range was refused: {error}"


def _told(
    side: Side, each: Parameter | Disturbance, seed: int, ends: tuple[Options, Options]
) -> Iterator[str]:
    """Held against the info of reset: a trace tells what was given even where info does not."""
    names = each.piece_names if isinstance(each, Disturbance) else (each.name,)
    for value, options in zip((each.low, each.high), ends, strict=True):
        told_by_name = _info(side, seed, options)
        for name in names:
            told = told_by_name.get(name)
            if told != value:
                found = "nothing" if told is None else f"{told:g}"
                yield f"{name} was given as {value:g} {each.unit}, and reset tells {found}."
                return


def _info(side: Side, seed: int, options: Options) -> dict[str, float]:
    """The inputs that reset tells of in its info; those given, where it tells of none of a kind."""
    info = side.reset(seed, options)
    kinds = ("parameters", "disturbances")
    return inputs_of({kind: info.get(kind, options.get(kind)) for kind in kinds})


def _at(spec: ScenarioSpec, each: Parameter | Disturbance, value: float) -> Options:
    """Options with one input at a value; where it is a fault, the other faults half on."""
    if isinstance(each, Disturbance):
        return {"disturbances": {each.name: [value] * each.pieces}}
    others = spec.faults if each in spec.faults else ()
    halves = {other.name: (other.low + other.high) / 2.0 for other in others}
    return {"parameters": {**halves, each.name: value}}


def _changed(one: Trace, other: Trace) -> str:
    """The first signal in which two traces differ, "" if there is none."""
    for name, values in one.signals.items():
        if not np.array_equal(values, other.signals[name]):
            return name
    return ""


def _refusals(spec: ScenarioSpec, side: Side) -> Iterator[str]:
    for what, options in _wrong(spec):
        try:
            side.env.reset(seed=0, options=options)
        except ScenarioError:
            continue
        except Exception as error:
            yield f"{what} raises {type(error).__name__} ({error}), not a ScenarioError."
            continue
        yield (
            f"{what} is taken without a word; refuse it with a ScenarioError, as "
            "safegym.scenario.inputs.Inputs.draw does."
        )


def _wrong(spec: ScenarioSpec) -> Iterator[tuple[str, Options]]:
    """Options that must be refused, with words for them; none for kinds that are not declared."""
    for each in (*spec.parameters, *spec.faults)[:1]:
        yield f"Parameter {_ABSENT!r}", {"parameters": {_ABSENT: 0.0}}
        yield f"{each.name} = nan", {"parameters": {each.name: float("nan")}}
        beyond = each.high + max(1.0, abs(each.high))
        yield f"{each.name} = {beyond:g}", {"parameters": {each.name: beyond}}
    for channel in spec.disturbances[:1]:
        rest = [channel.neutral] * channel.pieces
        beyond = channel.high + max(1.0, abs(channel.high))
        yield f"Disturbance {_ABSENT!r}", {"disturbances": {_ABSENT: rest}}
        yield (
            f"{channel.name} with a piece too many",
            {"disturbances": {channel.name: [*rest, 0.0]}},
        )
        for bad in (float("nan"), beyond):
            pieces = {"disturbances": {channel.name: [*rest[1:], bad]}}
            yield f"{channel.name} with a piece of {bad:g}", pieces
