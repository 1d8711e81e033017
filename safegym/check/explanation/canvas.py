"""An SVG element under construction: shapes, text, and nothing that a viewer could run."""

from collections.abc import Iterable
from typing import Literal
from xml.etree import ElementTree

from safegym.check.explanation.style import STYLE
from safegym.check.explanation.visible import visible
from safegym.digest import digest_text

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
GLYPH = 0.56
"""Width of a character of average text, in its height."""


class Canvas:
    """One picture, `width` pixels wide. Texts are escaped by the XML writer."""

    def __init__(self, width: float, title: str, desc: str) -> None:
        self.width = width
        name = f"sg-{digest_text(visible(f'{title} {desc}')).rpartition(':')[2][:12]}"
        self._root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "sg",
                "role": "img",
                "aria-labelledby": f"{name}-title {name}-desc",
            },
        )
        self._child("title", {"id": f"{name}-title"}, title)
        self._child("desc", {"id": f"{name}-desc"}, desc)
        ElementTree.SubElement(self._root, "style").text = STYLE
        self._paper = self._child("rect", {"class": "sg-paper"})

    def line(self, start: Point, end: Point, style: str) -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = start, end
        ends = {"x1": pixel(x1), "y1": pixel(y1), "x2": pixel(x2), "y2": pixel(y2)}
        self._child("line", {**ends, "class": style})

    def rect(self, corner: Point, size: Point, style: str, tip: str = "") -> None:
        """A rectangle from its upper left corner; tip: shown when pointed at."""
        (x, y), (width, height) = corner, size
        place = {"x": pixel(x), "y": pixel(y), "width": pixel(width), "height": pixel(height)}
        self._tipped("rect", {**place, "class": style}, tip)

    def path(self, data: str, style: str, tip: str = "") -> None:
        """A path; nothing for no data."""
        if data:
            self._tipped("path", {"d": data, "class": style}, tip)

    def dot(self, at: Point, radius: float, style: str, tip: str = "") -> None:
        """A filled circle."""
        place = {"cx": pixel(at[0]), "cy": pixel(at[1]), "r": pixel(radius)}
        self._tipped("circle", {**place, "class": style}, tip)

    def text(self, at: Point, words: str, style: str = "", anchor: Anchor = "start") -> None:
        """A line of text; `at` is its baseline."""
        place = {"x": pixel(at[0]), "y": pixel(at[1])}
        if style:
            place["class"] = style
        if anchor != "start":
            place["text-anchor"] = anchor
        self._child("text", place, words)

    def done(self, height: float) -> str:
        """Returns the element as text."""
        size = {"width": pixel(self.width), "height": pixel(height)}
        self._root.attrib.update(size, viewBox=f"0 0 {size['width']} {size['height']}")
        self._paper.attrib.update(size)
        return ElementTree.tostring(self._root, encoding="unicode")

    def _child(self, tag: str, place: dict[str, str], words: str = "") -> ElementTree.Element:
        found = ElementTree.SubElement(self._root, tag, place)
        if words:
            found.text = visible(words)
        return found

    def _tipped(self, tag: str, place: dict[str, str], tip: str) -> None:
        found = self._child(tag, place)
        if tip:
            ElementTree.SubElement(found, "title").text = visible(tip)


def pixel(value: float) -> str:
    """Returns a coordinate to a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def through(points: Iterable[Point]) -> str:
    """Returns path data of a line through points."""
    return "M" + "L".join(f"{pixel(x)} {pixel(y)}" for x, y in points)


def dots(points: Iterable[Point]) -> str:
    """Returns path data of dots: strokes without length, round where the style caps them so."""
    return "".join(f"M{pixel(x)} {pixel(y)}h0" for x, y in points)


def hatching(left: float, top: float, width: float, height: float, gap: float = 8.0) -> str:
    """Returns path data of slanting lines that fill a rectangle."""
    found: list[str] = []
    offset = gap / 2
    while offset < width + height:
        x1, y1 = left + min(offset, width), top + max(offset - width, 0.0)
        x2, y2 = left + max(offset - height, 0.0), top + min(offset, height)
        found.append(f"M{pixel(x1)} {pixel(y1)}L{pixel(x2)} {pixel(y2)}")
        offset += gap
    return "".join(found)


def text_width(words: str, size: float = 12.0) -> float:
    """Returns about how wide a text is."""
    return len(words) * size * GLYPH


def fitted(words: str, width: float, size: float = 12.0) -> str:
    """Returns the text, cut with an ellipsis where it is wider than `width` pixels."""
    most = max(int(width / (size * GLYPH)), 1)
    return words if len(words) <= most else words[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
