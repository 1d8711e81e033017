"""Drawing in SVG: a canvas of well-formed elements, and scales from values to pixels."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from markupsafe import Markup

from safegym.audit.report.figures import visible

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
HUGE = 1e12
"""Values beyond are drawn at the edge."""


class Canvas:
    """One picture. Colours come from the page's style sheet by class; texts are escaped.

    name: unique in the page, for the ids of title and description. width, height: pixels.
    """

    def __init__(self, name: str, width: float, height: float, title: str, desc: str) -> None:
        self.width, self.height = width, height
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {pixel(width)} {pixel(height)}",
                "class": "plot",
                "role": "img",
                "aria-labelledby": f"{name}-title {name}-desc",
            },
        )
        self._child("title", {"id": f"{name}-title"}, title)
        self._child("desc", {"id": f"{name}-desc"}, desc)

    def line(self, start: Point, end: Point, style: str) -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = start, end
        ends = {"x1": pixel(x1), "y1": pixel(y1), "x2": pixel(x2), "y2": pixel(y2)}
        self._child("line", {**ends, "class": style})

    def rect(self, corner: Point, size: Point, style: str) -> None:
        """A rectangle from its upper left corner."""
        (x, y), (width, height) = corner, size
        place = {"x": pixel(x), "y": pixel(y), "width": pixel(width), "height": pixel(height)}
        self._child("rect", {**place, "class": style})

    def path(self, data: str, style: str, tip: str = "") -> None:
        """A path; tip: shown by the browser on hovering."""
        if data:
            found = self._child("path", {"d": data, "class": style})
            if tip:
                ElementTree.SubElement(found, "title").text = visible(tip)

    def polyline(self, points: Iterable[Point], style: str) -> None:
        """A line through points."""
        self.path(through(points), style)

    def text(self, at: Point, words: str, style: str = "label", anchor: Anchor = "start") -> None:
        """A line of text; `at` is its baseline."""
        place = {"x": pixel(at[0]), "y": pixel(at[1]), "class": style}
        if anchor != "start":
            place["text-anchor"] = anchor
        self._child("text", place, words)

    def markup(self) -> Markup:
        """The element, for a template."""
        return Markup(
            ElementTree.tostring(self._root, encoding="unicode")
        )  # escaped by ElementTree

    def _child(self, tag: str, place: dict[str, str], words: str = "") -> ElementTree.Element:
        found = ElementTree.SubElement(self._root, tag, place)
        if words:
            found.text = visible(words)
        return found


def pixel(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{value + 0.0:.1f}".removesuffix(".0").replace("-0.0", "0")


def through(points: Iterable[Point]) -> str:
    """Path data of a line through points."""
    pairs = [f"{pixel(x)} {pixel(y)}" for x, y in points]
    return "M" + "L".join(pairs) if len(pairs) > 1 else f"M{pairs[0]}h0" if pairs else ""


def dots(points: Iterable[Point]) -> str:
    """Path data of dots: strokes without length, round where the style caps them so."""
    return "".join(f"M{pixel(x)} {pixel(y)}h0" for x, y in points)


def crosses(points: Iterable[Point], size: float = 3.5) -> str:
    """Path data of diagonal crosses."""
    arm, back = pixel(2 * size), pixel(-2 * size)
    return "".join(
        f"M{pixel(x - size)} {pixel(y - size)}l{arm} {arm}m{back} 0l{arm} {back}" for x, y in points
    )


def diamonds(points: Iterable[Point], size: float = 4.0) -> str:
    """Path data of diamonds."""
    s, n = pixel(size), pixel(-size)
    return "".join(f"M{pixel(x)} {pixel(y - size)}l{s} {s}l{n} {s}l{n} {n}z" for x, y in points)


@dataclass(frozen=True, slots=True)
class Scale:
    """Values lo..hi to pixels start..end, evenly or by logarithm. Values outside are clamped."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        inside = min(max(value, self.lo), self.hi)
        if self.log:
            share = math.log(inside / self.lo) / math.log(self.hi / self.lo)
        else:
            share = (inside - self.lo) / (self.hi - self.lo)
        return self.start + share * (self.end - self.start)


def span(values: Sequence[float], *, pad: float = 0.06) -> tuple[float, float]:
    """A range around finite values, a little wider; (-1, 1) around nothing."""
    finite = [min(max(value, -HUGE), HUGE) for value in values if math.isfinite(value)]
    if not finite:
        return -1.0, 1.0
    lo, hi = min(finite), max(finite)
    room = (hi - lo) * pad or max(abs(hi), 1.0) * 0.1
    return lo - room, hi + room


def ticks(lo: float, hi: float, most: int) -> list[float]:
    """Round values in [lo, hi], at most about `most` of them."""
    rough = (hi - lo) / max(most, 1)
    if not 0.0 < rough < math.inf:
        return [lo]
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999999)
    first = math.ceil(lo / step - 1e-9)
    last = math.floor(hi / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def decades(lo: float, hi: float) -> list[float]:
    """Powers of ten in [lo, hi]."""
    first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
    return [10.0**power for power in range(first, last + 1)]
