"""Where a mark's text goes: the place beside it that covers least of what is drawn."""

from collections.abc import Iterable
from dataclasses import dataclass

from safegym.check.explanation.canvas import Anchor, Point, text_width

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""
TALL = 14.0
_PLACES: tuple[tuple[float, float, Anchor], ...] = (
    (0, -10, "middle"),
    (0, 20, "middle"),
    (10, -8, "start"),
    (10, 18, "start"),
    (-10, -8, "end"),
    (-10, 18, "end"),
    (11, 4, "start"),
    (-11, 4, "end"),
    (0, -28, "middle"),
    (0, 38, "middle"),
)
"""From the mark to the text's baseline, best first."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A text's baseline, its anchor, and the box that it fills."""

    at: Point
    anchor: Anchor
    box: Box


def placed(
    words: str,
    mark: Point,
    inside: Box,
    points: Iterable[Point],
    levels: Iterable[float],
    taken: list[Box],
) -> Placed:
    """Returns where to write `words` beside a mark.

    inside: the panel. points: of the lines, close together. levels: y of lines right across.
    taken: boxes that may not be covered.
    """
    drawn, across = list(points), list(levels)
    found = [_placed(words, mark, place, inside) for place in _PLACES]
    costs = [
        _cost(each.box, mark, inside, drawn, across, taken) + 0.1 * i
        for i, each in enumerate(found)
    ]
    return found[costs.index(min(costs))]


def _placed(words: str, mark: Point, place: tuple[float, float, Anchor], inside: Box) -> Placed:
    dx, dy, anchor = place
    wide = text_width(words)
    x, y = mark[0] + dx, mark[1] + dy
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    if anchor == "middle":  # slides along the edge
        moved = min(max(left, inside[0] + 4), inside[2] - 4 - wide)
        x, left = x + moved - left, moved
    return Placed((x, y), anchor, (left - 1, y - TALL + 3, left + wide + 1, y + 4))


def _cost(
    box: Box, mark: Point, inside: Box, points: list[Point], levels: list[float], taken: list[Box]
) -> float:
    left, top, right, bottom = box
    cost = 60.0 * (left < inside[0] or right > inside[2] or top < inside[1] or bottom > inside[3])
    cost += sum(left <= x <= right and top <= y <= bottom for x, y in points)
    cost += 4.0 * sum(top <= y <= bottom for y in levels)
    cost += 50.0 * sum(
        left < other[2] and right > other[0] and top < other[3] and bottom > other[1]
        for other in taken
    )
    return cost + 20.0 * (left <= mark[0] <= right and top <= mark[1] <= bottom)
