"""Paths of straight lines and arcs, in the plane."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from math import cos, sin
from typing import NamedTuple


class Pose(NamedTuple):
    """A point of a path: x, y in m, heading in rad, curvature in 1/m (left positive)."""

    x: float
    y: float
    heading: float
    curvature: float


@dataclass(frozen=True)
class Path:
    """segments: (length in m, curvature in 1/m) each; the first and the last go on for ever.

    x, y (m), heading (rad): where it starts.
    """

    segments: tuple[tuple[float, float], ...] = ((1000.0, 0.0),)
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    @property
    def length(self) -> float:
        """Sum of the segments in m."""
        return sum(length for length, _ in self.segments)

    def at(self, along: float) -> Pose:
        """The point `along` m from the start."""
        starts, poses = _knots(self)
        index = max(0, bisect_right(starts, along) - 1)
        return _moved(poses[index], along - starts[index])

    def nearest(self, x: float, y: float, guess: float) -> tuple[float, float, Pose]:
        """Distance along in m, offset to the left in m and the point, near `guess` (m)."""
        along = guess
        for _ in range(2):
            here = self.at(along)
            dx, dy = x - here.x, y - here.y
            ahead = dx * cos(here.heading) + dy * sin(here.heading)
            left = dy * cos(here.heading) - dx * sin(here.heading)
            along += ahead / max(0.3, 1.0 - here.curvature * left)
        here = self.at(along)
        left = (y - here.y) * cos(here.heading) - (x - here.x) * sin(here.heading)
        return along, left, here


def _moved(start: Pose, by: float) -> Pose:
    x, y, heading, curvature = start
    if abs(curvature) < 1e-9:
        return Pose(x + by * cos(heading), y + by * sin(heading), heading, curvature)
    turned = heading + curvature * by
    return Pose(
        x + (sin(turned) - sin(heading)) / curvature,
        y - (cos(turned) - cos(heading)) / curvature,
        turned,
        curvature,
    )


@cache
def _knots(path: Path) -> tuple[list[float], list[Pose]]:
    starts, poses, along = [], [], 0.0
    here = Pose(path.x, path.y, path.heading, 0.0)
    for length, curvature in path.segments:
        here = Pose(here.x, here.y, here.heading, curvature)
        starts.append(along)
        poses.append(here)
        here, along = _moved(here, length), along + length
    return starts, poses
