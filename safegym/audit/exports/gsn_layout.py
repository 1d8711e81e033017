"""Where the elements of an argument stand: the top goal on the left, what supports it to its right.

What belongs to an element (contexts, and what challenges it) is stacked below it, so a picture
grows downwards with the claims and keeps its width. All lengths in pixels.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from safegym.audit.exports.argument import Element
from safegym.audit.report.figures import HARD_SPACE, short_digests, visible

WIDE, COLUMN, INDENT = 214.0, 258.0, 28.0
"""Width of a box; from one column to the next; how far what is stacked stands in."""
LINE, HEAD, PAD, APART = 15.0, 20.0, 9.0, 14.0
"""Height of a line and of the heading; room in a box; room between boxes."""
CHARACTER, MOST_LINES = 6.2, 9
"""Mean width of a character; lines of a text that are shown."""
DIAMOND, RADIUS = 16.0, 27.0
"""Height of the mark of an undeveloped goal; radius of a solution."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An element with its upper left corner, its size, and its text in lines."""

    element: Element
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]

    @property
    def hook(self) -> float:
        """The height at which lines meet it on its left and right: beside the heading."""
        return self.y + min(RADIUS, self.height / 2)

    @property
    def bottom(self) -> float:
        """Its lower edge, the diamond of an undeveloped goal included."""
        return self.y + self.height + (DIAMOND if marked(self.element) else 0.0)


def marked(element: Element) -> bool:
    """Whether the element bears the diamond: counter goals are never developed, and bear none."""
    return element.undeveloped and element.kind in ("goal", "strategy")


def place(elements: Sequence[Element]) -> dict[str, Placed]:
    """Where each element stands, by identifier. The first is the top goal."""
    by_id = {element.id: element for element in elements}
    against: dict[str, list[str]] = {}
    for element in elements:
        if element.challenges:
            against.setdefault(element.challenges, []).append(element.id)
    found: dict[str, Placed] = {}
    _place(elements[0], 0.0, 0.0, by_id, against, found)
    return found


def _place(
    element: Element,
    x: float,
    y: float,
    by_id: Mapping[str, Element],
    against: Mapping[str, Sequence[str]],
    found: dict[str, Placed],
) -> float:
    """Place an element with all that hangs on it; returns the lower edge of it all."""
    here = found[element.id] = _boxed(element, x, y)
    low = here.bottom
    for name in (*element.in_context_of, *against.get(element.id, ())):
        beside = found[name] = _boxed(by_id[name], x + INDENT, low + APART, WIDE - INDENT)
        low = beside.bottom
    right = y
    for name in element.supported_by:
        right = _place(by_id[name], x + COLUMN, right, by_id, against, found) + APART
    return max(low, right - APART)


def _boxed(element: Element, x: float, y: float, width: float = WIDE) -> Placed:
    round_ = element.kind in ("solution", "counter solution")
    room = width - (2 * RADIUS - PAD if element.kind == "counter solution" else 2 * PAD)
    lines = tuple(_lines(visible(element.text), int(room / CHARACTER)))
    height = len(lines) * LINE + PAD
    height = max(2 * RADIUS, height) if round_ else HEAD + height
    return Placed(element, x, y, width, height, lines)


def _lines(text: str, most: int) -> list[str]:
    kept = short_digests(text.replace(HARD_SPACE, " "))
    found = textwrap.wrap(kept, most, break_long_words=True, break_on_hyphens=False)
    if len(found) > MOST_LINES:
        found = [*found[: MOST_LINES - 1], f"{found[MOST_LINES - 1][: most - 1]}…"]
    return found or [""]
