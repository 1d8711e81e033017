"""Drawing a scenario's parameters at reset, with a caller's overrides."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from safegym.errors import ScenarioError
from safegym.scenario.spec import Parameter


def draw(
    parameters: tuple[Parameter, ...],
    generator: np.random.Generator,
    options: Mapping[str, Any] | None,
) -> dict[str, float]:
    """One value per parameter, in its own unit: uniform in [low, high], or the caller's.

    Every parameter is drawn, in order, whether or not it is overridden, so that overriding one
    leaves the others as they were. Raises ScenarioError for an unknown name or a value that is
    not a finite number within [low, high].
    """
    lows = [parameter.low for parameter in parameters]
    highs = [parameter.high for parameter in parameters]
    values = generator.uniform(lows, highs).tolist()
    drawn = {parameter.name: value for parameter, value in zip(parameters, values, strict=True)}
    if options and options.get("parameters"):
        drawn.update(_checked(parameters, options["parameters"]))
    return drawn


def draw_disturbance_seed(generator: np.random.Generator, options: Mapping[str, Any] | None) -> int:
    """Seed of the disturbance stream, below 2**48: drawn, or `options["disturbance_seed"]`."""
    drawn = int(generator.integers(2**48))
    if not options or options.get("disturbance_seed") is None:
        return drawn
    asked = options["disturbance_seed"]
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 0:
        raise ScenarioError(
            f"disturbance_seed must be a whole number >= 0, found {asked!r}; "
            'for example reset(options={"disturbance_seed": 7}).'
        )
    return int(asked)


def _checked(parameters: tuple[Parameter, ...], asked: Mapping[str, Any]) -> dict[str, float]:
    declared = {parameter.name: parameter for parameter in parameters}
    return {name: _value(declared, name, value) for name, value in asked.items()}


def _value(declared: Mapping[str, Parameter], name: str, value: Any) -> float:
    parameter = declared.get(name)
    if parameter is None:
        near = get_close_matches(name, declared, n=3) or sorted(declared)[:3]
        raise ScenarioError(
            f"There is no parameter {name!r}; did you mean {', '.join(near)}? "
            f'For example reset(options={{"parameters": {{"{near[0]}": '
            f"{declared[near[0]].low:g}}}}})."
        )
    number = float(value)
    if not parameter.low <= number <= parameter.high:
        raise ScenarioError(
            f"Parameter {name} = {number:g} {parameter.unit} lies outside "
            f"[{parameter.low:g}, {parameter.high:g}] {parameter.unit}; give a value inside."
        )
    return number
