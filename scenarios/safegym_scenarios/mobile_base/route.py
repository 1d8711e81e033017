"""A route along a polyline on the floor."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import atan2, cos, hypot, sin
from typing import NamedTuple


class Point(NamedTuple):
    """x, y in m and the route's direction there in rad."""

    x: float
    y: float
    heading: float


class _Leg(NamedTuple):
    start: float
    x: float
    y: float
    heading: float
    length: float


@dataclass(frozen=True)
class Route:
    """corners: (x, y) in m, at least two."""

    corners: tuple[tuple[float, float], ...]

    @property
    def length(self) -> float:
        """In m."""
        last = _legs(self)[-1]
        return last.start + last.length

    def at(self, along: float) -> Point:
        """The point `along` m from the start; beyond both ends straight on."""
        legs = _legs(self)
        leg = next((each for each in legs if along < each.start + each.length), legs[-1])
        by = along - leg.start
        return Point(leg.x + by * cos(leg.heading), leg.y + by * sin(leg.heading), leg.heading)

    def nearest(self, x: float, y: float, guess: float) -> tuple[float, float]:
        """Distance along and offset to the left in m, of the leg nearest to `guess` that fits."""
        legs = _legs(self)
        best = (float("inf"), guess, 0.0)
        for k, leg in enumerate(legs):
            if not leg.start - 1.5 <= guess <= leg.start + leg.length + 1.5:
                continue
            dx, dy = x - leg.x, y - leg.y
            c, s = cos(leg.heading), sin(leg.heading)
            ahead, left = dx * c + dy * s, dy * c - dx * s
            on = min(ahead, leg.length) if k < len(legs) - 1 else ahead
            on = max(on, 0.0) if k else on
            distance = hypot(left, ahead - on)
            if distance < best[0] - 1e-9:
                best = (distance, leg.start + on, left)
        return best[1], best[2]


@cache
def _legs(route: Route) -> tuple[_Leg, ...]:
    legs: list[_Leg] = []
    along = 0.0
    for (ax, ay), (bx, by) in pairwise(route.corners):
        length = hypot(bx - ax, by - ay)
        legs.append(_Leg(along, ax, ay, atan2(by - ay, bx - ax), length))
        along += length
    return tuple(legs)
