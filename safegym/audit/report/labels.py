"""Room for labels in a picture: none is drawn over another one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from safegym.audit.report.svg import Anchor, Canvas, Point

LETTER = 7.0
"""Pixels a letter of a label is taken to be wide, rather too many than too few."""
ABOVE, BELOW = 10.0, 3.0
"""Pixels of a label above and below its baseline."""
ROUND = 3.0
"""Pixels from a label to a mark that it keeps off."""

Spot = tuple[Point, Anchor]
_Box = tuple[float, float, float, float]


@dataclass(slots=True)
class Labels:
    """Labels of one picture. left, right: pixels between which they must stay.

    marks: points that a label keeps off where it can.
    """

    canvas: Canvas
    left: float
    right: float
    marks: Sequence[Point] = ()
    _taken: list[_Box] = field(default_factory=list[_Box])

    def put(self, spots: Iterable[Spot], words: str, style: str) -> bool:
        """Draw words at the first spot that is free; False, and nothing, if none is."""
        free = [spot for spot in spots if self._fits(_box(*spot, words))]
        if not free:
            return False
        clear = [spot for spot in free if not self._marked(_box(*spot, words))]
        at, anchor = (clear or free)[0]
        self._taken.append(_box(at, anchor, words))
        self.canvas.text(at, words, style, anchor)
        return True

    def _marked(self, box: _Box) -> bool:
        x1, y1, x2, y2 = box
        return any(
            x1 - ROUND < x < x2 + ROUND and y1 - ROUND < y < y2 + ROUND for x, y in self.marks
        )

    def _fits(self, box: _Box) -> bool:
        x1, y1, x2, y2 = box
        if x1 < self.left or x2 > self.right:
            return False
        return not any(
            x1 < right and left < x2 and y1 < low and high < y2
            for left, high, right, low in self._taken
        )


def _box(at: Point, anchor: Anchor, words: str) -> _Box:
    x, y = at
    width = LETTER * len(words)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - ABOVE, left + width, y + BELOW
