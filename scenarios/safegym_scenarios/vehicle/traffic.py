"""Other road users: they move along paths of their own, on a script."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from safegym_scenarios.vehicle.path import Path

Values = Mapping[str, float]
SIZES = {
    "car": (4.5, 1.8, 1.4),
    "van": (5.2, 2.0, 2.1),
    "truck": (9.0, 2.5, 3.2),
    "person": (0.5, 0.6, 1.75),
    "cyclist": (1.8, 0.6, 1.75),
}
"""Length, width, height in m."""


class Start(NamedTuple):
    """Of one road user: m along its path, m/s, m to the left of its path."""

    along: float
    speed: float
    aside: float = 0.0


class Wish(NamedTuple):
    """What one road user wants now: m/s, and m to the left of its path."""

    speed: float
    aside: float = 0.0


@dataclass(frozen=True)
class Actor:
    """kind: of SIZES. path: its own. accelerates, brakes: m/s^2. shifts: m/s to the side.

    meets: (m along the car's path, m along its own) of the point where the two paths cross or join;
    None if it drives along the car's path. color: of the palette.
    """

    kind: str
    path: Path = field(default_factory=Path)
    accelerates: float = 2.0
    brakes: float = 6.0
    shifts: float = 1.2
    meets: tuple[float, float] | None = None
    color: str = "orange"


@dataclass(frozen=True)
class Traffic:
    """start(values) -> a Start each; wish(values, seconds, along of the car) -> a Wish each."""

    actors: tuple[Actor, ...] = ()
    start: Callable[[Values], tuple[Start, ...]] | None = None
    wish: Callable[[Values, float, float], tuple[Wish, ...]] | None = None


def advanced(actor: Actor, now: Start, wish: Wish, dt: float) -> Start:
    """The same road user dt s later."""
    along, speed, aside = now
    change = max(-actor.brakes * dt, min(actor.accelerates * dt, wish.speed - speed))
    most = actor.shifts * dt
    shift = max(-most, min(most, wish.aside - aside))
    return Start(along + (speed + 0.5 * change) * dt, speed + change, aside + shift)
