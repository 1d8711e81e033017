"""What a caller gives to `reset(options=...)`, checked, and what a seed draws for the rest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from typing import Any, cast

import numpy as np

from safegym.errors import ScenarioError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Trace

KNOWN = ("parameters", "disturbances", "disturbance_seed")


@dataclass(frozen=True, slots=True)
class Drawn:
    """The inputs of one episode: name -> value, and name -> one value a piece where some are given.

    horizon: in steps. `info` is what a reset returns, so that the recorder keeps both.
    """

    parameters: Mapping[str, float]
    disturbances: Mapping[str, tuple[float, ...]]
    horizon: int

    @property
    def info(self) -> dict[str, Any]:
        """For the info of `reset`: parameters, and disturbances where there are some."""
        pieces = {name: list(values) for name, values in self.disturbances.items()}
        return {
            "parameters": dict(self.parameters),
            **({"disturbances": pieces} if pieces else {}),
        }

    def schedule(self, name: str) -> tuple[float, ...] | None:
        """The value during each step, 0 to horizon - 1; None where the channel is not given."""
        values = self.disturbances.get(name)
        if values is None:
            return None
        last, pieces = len(values) - 1, len(values)
        return tuple(
            values[min(step * pieces // self.horizon, last)] for step in range(self.horizon)
        )


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the reset of a scenario takes: the same tuples as its spec, and its horizon in steps.

    others: further option names that the environment reads itself.
    """

    horizon: int
    parameters: tuple[Parameter, ...] = ()
    faults: tuple[Parameter, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    others: tuple[str, ...] = field(default=())

    def draw(self, generator: np.random.Generator, options: Mapping[str, Any] | None) -> Drawn:
        """Parameters uniform in [low, high] or the caller's, faults at rest or the caller's.

        Every parameter is drawn, in order, whether or not it is overridden, so that overriding one
        leaves the others as they were; nothing else is drawn. Raises ScenarioError, with the line
        that works, for an unknown name or a value that is not a finite number in its range.
        """
        lows = [parameter.low for parameter in self.parameters]
        highs = [parameter.high for parameter in self.parameters]
        values = generator.uniform(lows, highs).tolist() if lows else []
        names = [parameter.name for parameter in self.parameters]
        drawn: dict[str, float] = dict(zip(names, values, strict=True))
        drawn.update((fault.name, float(fault.resting)) for fault in self.faults)
        asked, pieces = self.asked(options)
        return Drawn({**drawn, **asked}, pieces, self.horizon)

    def draw_pieces(self, generator: np.random.Generator, drawn: Drawn) -> Drawn:
        """The same with every disturbance: each piece uniform in [low, high] where none is given.

        For environments whose seeds draw their disturbances piece by piece. All are drawn, in
        order, whether or not one is given.
        """
        channels: dict[str, tuple[float, ...]] = {}
        for each in self.disturbances:
            values = generator.uniform(each.low, each.high, each.pieces).tolist()
            channels[each.name] = drawn.disturbances.get(each.name, tuple(values))
        return Drawn(drawn.parameters, channels, self.horizon)

    def asked(
        self, options: Mapping[str, Any] | None
    ) -> tuple[dict[str, float], dict[str, tuple[float, ...]]]:
        """Parameters and disturbances that the options give, checked. Raises ScenarioError."""
        options = options or {}
        for name in options:
            if name not in KNOWN and name not in self.others:
                raise ScenarioError(
                    f"There is no option {name!r}; a reset takes "
                    f"{', '.join((*KNOWN, *self.others))}. "
                    'For example reset(options={"parameters": {}}).'
                )
        _check_seed(options.get("disturbance_seed"))
        given = self._mapping(options, "parameters")
        channels = dict(self._mapping(options, "disturbances"))
        declared = {each.name: each for each in (*self.parameters, *self.faults)}
        recorded = _recorded(self.disturbances, given)
        for name, pieces in recorded.items():
            if name in channels:
                raise ScenarioError(
                    f"Disturbance {name} is given twice, in options['disturbances'] and as "
                    f"{name}[0] and so on in options['parameters']; give it once."
                )
            channels[name] = pieces
        flat = {piece for name in recorded for piece in self._channel(name).piece_names}
        parameters = {
            name: _value(declared, name, value) for name, value in given.items() if name not in flat
        }
        return parameters, {n: _pieces(self._channel(n), v) for n, v in channels.items()}

    def _channel(self, name: str) -> Disturbance:
        declared = {each.name: each for each in self.disturbances}
        if name in declared:
            return declared[name]
        if not declared:
            raise ScenarioError(
                f"There is no disturbance {name!r}: the scenario declares none; leave "
                "options['disturbances'] out."
            )
        near = _nearest(name, declared)
        raise ScenarioError(
            f"There is no disturbance {name!r}; did you mean {', '.join(near)}? "
            f"For example {_line(declared[near[0]])}."
        )

    def _mapping(self, options: Mapping[str, Any], what: str) -> Mapping[str, Any]:
        given = options.get(what)
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise ScenarioError(
                f"options[{what!r}] is {given!r:.60}; write a mapping from name to value, such as "
                f'reset(options={{"{what}": {{}}}}).'
            )
        return cast(Mapping[str, Any], given)


def checked_options(spec: ScenarioSpec, options: object) -> dict[str, Any]:
    """What reset may be given on this scenario, in dictionaries and lists of its own; {} for None.

    Held against the spec's own declaration, before any episode and whatever the environment would
    make of it. Raises ScenarioError, with the line that works, for a name that is not declared, a
    value out of its range or of another type, a disturbance with another number of pieces.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ScenarioError(
            f'options= is {options!r:.60}; write a mapping, such as options={{"parameters": {{}}}}.'
        )
    given = cast(Mapping[str, Any], options)
    declared = (spec.parameters, spec.faults, spec.disturbances)
    Inputs(spec.horizon, *declared, others=spec.options).asked(given)
    found = dict(given)
    if given.get("parameters") is not None:
        found["parameters"] = dict(given["parameters"])
    if given.get("disturbances") is not None:
        found["disturbances"] = {name: list(part) for name, part in given["disturbances"].items()}
    return found


def refuse_unheeded(options: Mapping[str, Any], trace: Trace) -> None:
    """Raise ScenarioError if the episode's trace tells of other inputs than reset was given."""
    given = dict(options.get("parameters") or {})
    for name, values in (options.get("disturbances") or {}).items():
        given.update({f"{name}[{piece}]": value for piece, value in enumerate(values)})
    for name, value in given.items():
        found = trace.parameters.get(name)
        if found is not None and found != value:
            raise ScenarioError(
                f"Reset was given {name} = {value!r}, and the episode says it had {found!r}: the "
                "environment must honour reset(options=...), for example with "
                "safegym.scenario.inputs.Inputs."
            )


def options_of(trace: Trace) -> dict[str, Any]:
    """Options that, with the trace's seed, start the recorded episode again, whatever drew it.

    Pieces of disturbances, which a trace records as name[0], name[1], ..., go back to lists.
    """
    parameters: dict[str, float] = {}
    channels: dict[str, dict[int, float]] = {}
    for name, value in trace.parameters.items():
        channel, bracket, index = name.removesuffix("]").partition("[")
        if bracket and name.endswith("]") and index.isdecimal():
            channels.setdefault(channel, {})[int(index)] = value
        else:
            parameters[name] = value
    pieces = {name: [values[i] for i in sorted(values)] for name, values in channels.items()}
    return {
        "parameters": parameters,
        "disturbance_seed": trace.disturbance_seed,
        **({"disturbances": pieces} if pieces else {}),
    }


def _recorded(
    declared: Iterable[Disturbance], given: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """Disturbances among the parameters, under the names that a trace gives their pieces."""
    found: dict[str, tuple[Any, ...]] = {}
    for each in declared:
        there = [name for name in each.piece_names if name in given]
        if there and len(there) < each.pieces:
            missing = next(name for name in each.piece_names if name not in given)
            raise ScenarioError(
                f"Disturbance {each.name} has {each.pieces} pieces, and {missing} is not given; "
                f"give all of them, such as {_line(each)}."
            )
        if there:
            found[each.name] = tuple(given[name] for name in there)
    return found


def _check_seed(seed: Any) -> None:
    if seed is not None and (
        isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0
    ):
        raise ScenarioError(
            f"disturbance_seed must be a whole number >= 0, found {seed!r:.60}; for example "
            'reset(options={"disturbance_seed": 7}).'
        )


def _value(declared: Mapping[str, Parameter], name: str, value: Any) -> float:
    if not declared:
        raise ScenarioError(
            f"There is no parameter {name!r}: the scenario declares none; leave "
            "options['parameters'] out."
        )
    parameter = declared.get(name)
    if parameter is None:
        near = _nearest(name, declared)
        raise ScenarioError(
            f"There is no parameter {name!r}; did you mean {', '.join(near)}? "
            f'For example reset(options={{"parameters": {{"{near[0]}": '
            f"{declared[near[0]].low:g}}}}})."
        )
    line = f'reset(options={{"parameters": {{"{name}": {parameter.resting:g}}}}})'
    return _within(f"Parameter {name}", value, parameter, line)


def _pieces(channel: Disturbance, values: Any) -> tuple[float, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
        raise ScenarioError(
            f"Disturbance {channel.name} is {values!r:.60}; give one number in {channel.unit} for "
            f"each of its {channel.pieces} pieces, such as {_line(channel)}."
        )
    if np.ndim(cast(Any, values)) != 1 or len(values) != channel.pieces:
        raise ScenarioError(
            f"Disturbance {channel.name} has {channel.pieces} pieces, found "
            f"{len(values) if np.ndim(cast(Any, values)) == 1 else 'no flat list'}; give one "
            f"number in {channel.unit} for each, such as {_line(channel)}."
        )
    return tuple(
        _within(name, value, channel, _line(channel))
        for name, value in zip(channel.piece_names, values, strict=True)
    )


def _within(what: str, value: Any, declared: Parameter | Disturbance, line: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ScenarioError(f"{what} is {value!r:.60}; give a number in {declared.unit}: {line}.")
    number = float(value)
    if not (isfinite(number) and declared.low <= number <= declared.high):
        raise ScenarioError(
            f"{what} = {number:g} {declared.unit} lies outside "
            f"[{declared.low:g}, {declared.high:g}] {declared.unit}; give a value inside: {line}."
        )
    return number


def _nearest(name: str, declared: Mapping[str, Any]) -> list[str]:
    return get_close_matches(str(name), declared, n=3) or sorted(declared)[:3]


def _line(channel: Disturbance) -> str:
    values = f"[{channel.neutral:g}] * {channel.pieces}"
    return f'reset(options={{"disturbances": {{"{channel.name}": {values}}}}})'
