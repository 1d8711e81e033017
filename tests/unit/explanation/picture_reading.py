"""Reading a picture back: lines, marks and shaded stretches, by the shapes that were drawn."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


@dataclass
class Picture:
    """The shapes of one SVG."""

    root: ElementTree.Element

    def of(self, tag: str, look: str) -> list[ElementTree.Element]:
        """Elements of a tag that carry a class, without those of the key."""
        named = [(e, e.get("class", "").split()) for e in self.root.iter(SVG + tag)]
        return [e for e, looks in named if look in looks and "sg-key" not in looks]

    @property
    def lines(self) -> list[list[Point]]:
        """Vertices of each line drawn."""
        return [vertices(e) for e in self.of("path", "sg-line")]

    def marks(self, look: str) -> list[Point]:
        """Centres of marks with a look: sg-bad, sg-ok, sg-open, sg-note."""
        return [(number(e, "cx"), number(e, "cy")) for e in self.of("circle", look)]

    @property
    def shaded(self) -> list[tuple[float, float]]:
        """Left and right edge of each shaded stretch."""
        edges = [(number(e, "x"), number(e, "width")) for e in self.of("rect", "sg-shade")]
        return [(x, x + width) for x, width in edges]

    @property
    def frame(self) -> tuple[float, float]:
        """Left and right edge of the first panel."""
        panel = self.of("rect", "sg-frame")[0]
        return number(panel, "x"), number(panel, "x") + number(panel, "width")

    @property
    def texts(self) -> list[str]:
        """All texts, in order."""
        return [e.text or "" for e in self.root.iter(SVG + "text")]


def read(svg: str) -> Picture:
    """Parses an SVG text."""
    return Picture(ElementTree.fromstring(svg))


def number(element: ElementTree.Element, name: str) -> float:
    """A numeric attribute."""
    return float(element.get(name, "nan"))


def vertices(path: ElementTree.Element) -> list[Point]:
    """The points of a path of straight pieces."""
    pairs = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d", ""))
    return [(float(x), float(y)) for x, y in pairs]
