"""What a search may choose in a scenario: points in the unit cube and what they give reset."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.falsify.coordinate import Coordinate, Kind
from safegym.check.falsify.narrowing import Where, checked_names, narrowed
from safegym.errors import ScenarioError
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec

Point = NDArray[np.float64]
Values = tuple[float, ...]
"""One value per free coordinate, in its own unit."""


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """What may be chosen: faults, disturbances piece by piece, initial state, parameters.

    A point is float64 (d,) in [0, 1], one entry per free coordinate; values are the same in units.
    """

    coordinates: tuple[Coordinate, ...]

    @classmethod
    def of(
        cls, spec: ScenarioSpec, where: Where | None = None, *, faults: bool = True
    ) -> "SearchSpace":
        """The space of a scenario; faults: False keeps those at rest that `where` does not name.

        Raises ScenarioError for a name or a range that is not there.
        """
        asked = dict(where or {})
        if not faults:
            asked = {**{each.name: each.resting for each in spec.faults}, **asked}
        pieces = [name for each in spec.disturbances for name in each.piece_names]
        checked_names(asked, [each.name for each in _declared(spec)], pieces)
        found = (
            *(c for fault in spec.faults for c in _single(fault, "fault", asked)),
            *(c for each in spec.disturbances for c in _pieces(each, asked)),
            *(c for p in spec.parameters if p.role == "initial" for c in _single(p, p.role, asked)),
            *(c for p in spec.parameters if p.role != "initial" for c in _single(p, p.role, asked)),
        )
        return cls(tuple(found))

    @property
    def free(self) -> tuple[Coordinate, ...]:
        """The coordinates with something to choose."""
        return tuple(each for each in self.coordinates if each.free)

    @property
    def dimension(self) -> int:
        """d, the number of free coordinates."""
        return len(self.free)

    @property
    def neutral(self) -> Values:
        """The value of each free coordinate that does nothing."""
        return tuple(each.neutral for each in self.free)

    def values(self, point: Sequence[float] | Point) -> Values:
        """The values at a point. Raises ScenarioError for another number of entries."""
        self._fits(point)
        return tuple(c.value(float(u)) for c, u in zip(self.free, point, strict=True))

    def point(self, values: Sequence[float]) -> Point:
        """The point of values, (d,)."""
        self._fits(values)
        return np.array([c.position(v) for c, v in zip(self.free, values, strict=True)], np.float64)

    def active(self, values: Sequence[float]) -> tuple[Coordinate, ...]:
        """The free coordinates whose value is not the neutral one."""
        self._fits(values)
        return tuple(c for c, v in zip(self.free, values, strict=True) if v != c.neutral)

    def options(self, values: Sequence[float]) -> dict[str, Any]:
        """What `reset(options=...)` is given for these values; empty where nothing is chosen."""
        self._fits(values)
        chosen = dict(zip((c.name for c in self.free), values, strict=True))
        parameters: dict[str, float] = {}
        disturbances: dict[str, list[float]] = {}
        for each in self.coordinates:
            value = chosen.get(each.name, each.low)
            if each.kind == "disturbance":
                disturbances.setdefault(each.channel, []).append(value)
            else:
                parameters[each.name] = value
        parts = {"parameters": parameters, "disturbances": disturbances}
        return {name: part for name, part in parts.items() if part}

    def values_of(self, options: Mapping[str, Any]) -> Values:
        """The values of what `options` gave. Raises ScenarioError if a coordinate is missing."""
        try:
            return tuple(_told(each, options) for each in self.free)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ScenarioError(f"These options do not fill the search space: {error!r}.") from None

    def _fits(self, numbers: Sequence[float] | Point) -> None:
        if len(numbers) != self.dimension:
            raise ScenarioError(
                f"A point of this space has {self.dimension} numbers, found {len(numbers)}."
            )


def _declared(spec: ScenarioSpec) -> tuple[Parameter | Disturbance, ...]:
    return (*spec.parameters, *spec.faults, *spec.disturbances)


def _told(each: Coordinate, options: Mapping[str, Any]) -> float:
    if each.kind == "disturbance":
        return float(options["disturbances"][each.channel][each.piece])
    return float(options["parameters"][each.name])


def _single(parameter: Parameter, kind: Kind, where: dict[str, Any]) -> Iterator[Coordinate]:
    name, low, high = parameter.name, parameter.low, parameter.high
    if name in where:
        if where[name] is None:
            return
        low, high = narrowed(name, low, high, where[name])
    neutral = min(high, max(low, parameter.resting))
    yield Coordinate(name, name, kind, parameter.unit, low, high, neutral)


def _refuse_a_piece(channel: Disturbance, where: dict[str, Any]) -> None:
    """Raise ScenarioError for a piece of a disturbance that is left to the seed as a whole."""
    named = [name for name in channel.piece_names if name in where]
    if named:
        raise ScenarioError(
            f"where= leaves {channel.name} to the seed and chooses {named[0]}; reset is given all "
            f"pieces of a disturbance or none, so drop one of the two."
        )


def _pieces(channel: Disturbance, where: dict[str, Any]) -> Iterator[Coordinate]:
    if channel.name in where and where[channel.name] is None:
        _refuse_a_piece(channel, where)
        return
    for piece, name in enumerate(channel.piece_names):
        low, high = channel.low, channel.high
        for asked in (channel.name, name):
            if asked in where:
                low, high = narrowed(asked, low, high, where[asked])
        neutral = min(high, max(low, channel.neutral))
        yield Coordinate(
            name,
            channel.name,
            "disturbance",
            channel.unit,
            low,
            high,
            neutral,
            piece,
            channel.pieces,
        )
