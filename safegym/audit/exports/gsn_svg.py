"""An argument as a picture: one SVG file in the shapes of the Goal Structuring Notation.

No script, no font and no address outside of it; every text is escaped, and cut texts are whole in
the tip of their element. Same argument, same bytes.
"""

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from safegym.audit.exports.argument import Element
from safegym.audit.exports.gsn_layout import (
    DIAMOND,
    HEAD,
    LINE,
    PAD,
    RADIUS,
    Placed,
    marked,
    place,
)
from safegym.audit.report.figures import visible
from safegym.audit.report.svg import pixel

MARGIN, TITLE = 24.0, 30.0
STYLE = """
svg { background: #fff; font: 12px "Liberation Sans", Arial, sans-serif; }
.title { font-size: 17px; font-weight: bold; } .note { fill: #4a525b; }
.box { fill: #fff; stroke: #171a1e; stroke-width: 1.2; }
.goal { fill: #eef5fa; } .solution { fill: #eaf6ee; } .side { fill: #f5f6f8; stroke: #5a636e; }
.counter { fill: #fff4ee; stroke: #a83400; stroke-dasharray: 5 3; }
.open { fill: #fff; stroke: #7a5c00; stroke-width: 1.6; } .gap { fill: #fffbea; }
.cross { stroke: #a83400; stroke-width: 2; fill: none; }
.id { font-weight: bold; } .link { fill: none; stroke: #4a525b; }
.against { fill: none; stroke: #a83400; stroke-dasharray: 5 3; }
.tip { fill: #4a525b; } .hollow { fill: #fff; stroke: #5a636e; } .red { fill: #a83400; }
""".strip()
MARKS: dict[str, str] = {"assumption": "A", "justification": "J"}


def gsn_svg(elements: Sequence[Element], title: str, notes: Iterable[str] = ()) -> bytes:
    """The picture as UTF-8 bytes. notes: lines below the title, each told first."""
    placed = place(elements)
    told = [visible(note) for note in notes]
    top = MARGIN + TITLE + 18.0 * len(told)
    width = max(one.x + one.width for one in placed.values()) + 2 * MARGIN + 2 * RADIUS
    height = max(one.bottom for one in placed.values()) + top + MARGIN
    root = _root(width, height, visible(title), placed.values())
    _text(root, (MARGIN, MARGIN + 12), visible(title), "title")
    for number, note in enumerate(told):
        _text(root, (MARGIN, MARGIN + TITLE + 18 * number), note, "note")
    stage = ElementTree.SubElement(
        root, "g", {"transform": f"translate({pixel(MARGIN)} {pixel(top)})"}
    )
    for one in placed.values():
        _links(stage, one, placed)
    for one in placed.values():
        _element(stage, one)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _root(width: float, height: float, title: str, placed: Iterable[Placed]) -> ElementTree.Element:
    size = {"width": pixel(width), "height": pixel(height)}
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            **size,
            "viewBox": f"0 0 {pixel(width)} {pixel(height)}",
            "role": "img",
            "aria-labelledby": "title desc",
        },
    )
    ElementTree.SubElement(root, "title", {"id": "title"}).text = title
    elements = [one.element for one in placed]
    open_ = ", ".join(element.id for element in elements if marked(element))
    ElementTree.SubElement(root, "desc", {"id": "desc"}).text = (
        f"An assurance argument of {len(elements)} elements in the Goal Structuring Notation, the "
        f"top goal on the left. Undeveloped: {open_ or 'none'}."
    )
    ElementTree.SubElement(root, "style").text = STYLE
    ElementTree.SubElement(root, "rect", {**size, "fill": "#fff"})
    return root


def _links(stage: ElementTree.Element, one: Placed, placed: dict[str, Placed]) -> None:
    for name in one.element.supported_by:
        _supports(stage, one, placed[name])
    beside = [placed[name] for name in one.element.in_context_of]
    against = [other for other in placed.values() if other.element.challenges == one.element.id]
    for other in beside:
        _hangs(stage, one, other, "link")
    for other in against:
        _hangs(stage, one, other, "against")


def _supports(stage: ElementTree.Element, one: Placed, other: Placed) -> None:
    """From the right edge to the left edge of what supports it, with a solid arrowhead."""
    start, end = one.x + one.width, other.x
    bend = start + (end - start) / 2 - 6
    path = f"M{pixel(start)} {pixel(one.hook)}H{pixel(bend)}V{pixel(other.hook)}H{pixel(end - 8)}"
    _path(stage, path, "link")
    tip = f"M{pixel(end)} {pixel(other.hook)}l-9 -4.5v9z"
    _path(stage, tip, "tip")


def _hangs(stage: ElementTree.Element, one: Placed, other: Placed, style: str) -> None:
    """Down the left side to a context (hollow head there), or up from what challenges (at it)."""
    x, low = one.x + 8, one.y + one.height
    end = other.x
    if style == "link":
        _path(stage, f"M{pixel(x)} {pixel(low)}V{pixel(other.hook)}H{pixel(end - 1)}", style)
        _path(stage, f"M{pixel(end)} {pixel(other.hook)}l-8 -4v8z", "hollow")
        return
    x += 10
    _path(stage, f"M{pixel(end)} {pixel(other.hook)}H{pixel(x)}V{pixel(low + 8)}", style)
    _path(stage, f"M{pixel(x)} {pixel(low)}l-4.5 9h9z", "red")


def _element(stage: ElementTree.Element, one: Placed) -> None:
    element = one.element
    group = ElementTree.SubElement(stage, "g", {"id": f"element-{element.id}"})
    leaf = f" (record {element.record}, leaf {element.leaf})" if element.leaf else ""
    ElementTree.SubElement(group, "title").text = f"{element.id}: {visible(element.text)}{leaf}"
    if element.kind in ("solution", "counter solution"):
        _circle(group, one)
        return
    _box(group, one)
    name = f"{element.id} (undeveloped)" if marked(element) else element.id
    _text(group, (one.x + 10, one.y + 17), name, "id")
    for number, line in enumerate(one.lines):
        _text(group, (one.x + 10, one.y + HEAD + 12 + number * LINE), line)
    if element.kind in MARKS:
        corner = (one.x + one.width - 14, one.y + one.height - 6)
        _text(group, corner, MARKS[element.kind], "id")
    if marked(element):
        middle, low = one.x + one.width / 2, one.y + one.height
        half = pixel(DIAMOND / 2)
        shape = f"M{pixel(middle)} {pixel(low)}l{half} {half}l-{half} {half}l-{half} -{half}z"
        _path(group, shape, "open")
    if element.defeated:
        _crossed(group, one)


def _box(group: ElementTree.Element, one: Placed) -> None:
    x, y, w, h = one.x, one.y, one.width, one.height
    kind = one.element.kind
    if kind == "strategy":
        data = f"M{pixel(x + 8)} {pixel(y)}h{pixel(w)}l-14 {pixel(h)}h{pixel(-w)}z"
        _path(group, data, "box")
        return
    styles = {"goal": "box goal", "counter goal": "box counter"}
    style = styles.get(kind, "box side")
    if marked(one.element):
        style += " gap"
    round_ = {"context": "14", "assumption": "24", "justification": "24"}.get(kind, "0")
    size = {"width": pixel(w), "height": pixel(h), "rx": round_, "class": style}
    ElementTree.SubElement(group, "rect", {"x": pixel(x), "y": pixel(y), **size})


def _circle(group: ElementTree.Element, one: Placed) -> None:
    """A solution: its identifier and record in a circle, its text to the right."""
    counter = one.element.kind == "counter solution"
    style = "box counter" if counter else "box solution"
    x, y = one.x + RADIUS, one.y + RADIUS
    place_ = {"cx": pixel(x), "cy": pixel(y), "r": pixel(RADIUS), "class": style}
    ElementTree.SubElement(group, "circle", place_)
    _text(group, (x, y - 2), one.element.id, "id", middle=True)
    if one.element.record is not None:
        _text(group, (x, y + 12), f"rec {one.element.record}", "note", middle=True)
    left = one.x + 2 * RADIUS + PAD
    for number, line in enumerate(one.lines):
        _text(group, (left, one.y + 14 + number * LINE), line)


def _crossed(group: ElementTree.Element, one: Placed) -> None:
    x, y, w, h = pixel(one.x), pixel(one.y), pixel(one.width), pixel(one.height)
    _path(group, f"M{x} {y}l{w} {h}m0 -{h}l-{w} {h}", "cross")


def _path(parent: ElementTree.Element, data: str, style: str) -> None:
    ElementTree.SubElement(parent, "path", {"d": data, "class": style})


def _text(
    parent: ElementTree.Element,
    at: tuple[float, float],
    words: str,
    style: str = "",
    *,
    middle: bool = False,
) -> None:
    about = {"x": pixel(at[0]), "y": pixel(at[1])}
    if style:
        about["class"] = style
    if middle:
        about["text-anchor"] = "middle"
    ElementTree.SubElement(parent, "text", about).text = words
