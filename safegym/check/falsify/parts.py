"""What an episode was given that is not neutral: read from the scenario and the options alone."""

from collections.abc import Mapping
from typing import Any

from safegym.check.falsify.coordinate import Coordinate
from safegym.check.falsify.find import Component
from safegym.check.falsify.space import SearchSpace
from safegym.scenario.spec import ScenarioSpec


def components_of(spec: ScenarioSpec, options: Mapping[str, Any]) -> tuple[Component, ...]:
    """What `options` gives that is not at the declared neutral value.

    Held against what the scenario declares, not against what a search left free: so a value that
    the caller fixed, or could not be brought to neutral, is told too.
    """
    found: list[Component] = []
    for each in SearchSpace.of(spec).coordinates:
        value = _given(each, options)
        if value is not None and value != each.neutral:
            times = _when(each, spec)
            found.append(Component(each.name, each.kind, each.unit, value, each.neutral, *times))
    return tuple(found)


def _given(each: Coordinate, options: Mapping[str, Any]) -> float | None:
    if each.kind == "disturbance":
        pieces = options.get("disturbances", {}).get(each.channel)
        return None if pieces is None else float(pieces[each.piece])
    value = options.get("parameters", {}).get(each.name)
    return None if value is None else float(value)


def _when(each: Coordinate, spec: ScenarioSpec) -> tuple[float | None, float | None]:
    """Seconds between which a piece acts: steps whose piece it is (`Disturbance.piece_at`)."""
    if each.kind != "disturbance":
        return None, None
    first = -(-each.piece * spec.horizon // each.pieces)
    last = -(-(each.piece + 1) * spec.horizon // each.pieces)
    return float(spec.clock.time(first)), float(spec.clock.time(last))
