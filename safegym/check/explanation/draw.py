"""A scene as SVG: heading, panels, time axis, small overview, key."""

from safegym.check.explanation.amounts import moment
from safegym.check.explanation.axes import Scale, room, tick_texts, ticks
from safegym.check.explanation.canvas import Canvas, fitted, hatching, text_width, through
from safegym.check.explanation.decimate import outline
from safegym.check.explanation.draw_panel import draw_panel, extremes
from safegym.check.explanation.scene import Scene

WIDTH = 780.0
LEFT = 74.0
"""Room for the values' texts, pixels."""
RIGHT = (96.0, 230.0)
"""Least and most room for the limits' texts and the lines' names, pixels."""
HEIGHTS = {0: 0.0, 1: 170.0, 2: 128.0, 3: 104.0}
OVERVIEW = 34.0
_STYLES = {"violated": "sg-bad", "satisfied": "sg-ok", "inconclusive": "sg-open"}
_SIGNS = {
    "violated": "\N{BALLOT X}",
    "satisfied": "\N{CHECK MARK}",
    "inconclusive": "?",
}


def svg_of(scene: Scene) -> str:
    """Returns one SVG element that needs nothing outside it; light or dark as the reader's own."""
    canvas = Canvas(WIDTH, f"{scene.name}: {scene.status}", scene.words)
    style = _STYLES[scene.status]
    canvas.text((16, 26), f"{_SIGNS[scene.status]} {scene.status}", f"sg-head {style}")
    start = 16 + text_width(f"{scene.status}  ", 15) + 22
    canvas.text((start, 26), fitted(scene.name, WIDTH - start - 16, 15), "sg-head")
    canvas.text((16, 45), fitted(scene.asked, WIDTH - 32, 11), "sg-small")
    first, last = scene.view
    time = Scale(first - 0.5, last + 0.5, LEFT, WIDTH - _right(scene))
    top = 58.0
    height = HEIGHTS.get(len(scene.panels), 92.0)
    for place, panel in enumerate(scene.panels):
        top = draw_panel(canvas, scene, panel, time, top, height)
        if place + 1 < len(scene.panels):
            top += 10
    if scene.panels:
        top = _time_axis(canvas, scene, time, top)
    else:
        canvas.text((16, top + 12), "It reads no signal.", "sg-small")
        top += 16
    if scene.zoomed:
        top = _overview(canvas, scene, top, time.end)
    return canvas.done(_key(canvas, scene, top))


def _right(scene: Scene) -> float:
    """Room for the longest text beside a panel."""
    texts = [limit.text for panel in scene.panels for limit in panel.limits]
    texts += [line.name for panel in scene.panels for line in panel.lines if panel.lines[1:]]
    widest = max((text_width(text) for text in texts), default=0.0)
    return min(max(widest + 22, RIGHT[0]), RIGHT[1])


def _time_axis(canvas: Canvas, scene: Scene, time: Scale, bottom: float) -> float:
    """Texts below the last panel; far from 0 s they count from the first sample shown."""
    dt, start = float(scene.clock.dt), float(scene.clock.start)
    first, last = scene.view
    lo, hi = (first - 0.5) * dt, (last + 0.5) * dt
    away = abs(start) > 1000 * (hi - lo) or max(abs(lo), abs(hi)) > 1e5 * (hi - lo)
    origin = first if away else 0
    offset = 0.0 if away else start
    values = ticks(lo - origin * dt + offset, hi - origin * dt + offset, 8)
    for value, words in zip(values, tick_texts(values), strict=True):
        sample = (value - offset) / dt + origin
        if not first - 1e-6 <= sample <= last + 1e-6:
            continue
        x = time(sample)
        canvas.line((x, bottom), (x, bottom + 4), "sg-edge")
        canvas.text((x, bottom + 17), words, "sg-small", "middle")
    if not away:
        canvas.text((time.end + 26, bottom + 17), "time, s", "sg-small")
        return bottom + 26
    name = f"seconds after {moment(scene.clock, origin)}"
    canvas.text(((time.start + time.end) / 2, bottom + 32), name, "sg-small", "middle")
    return bottom + 40


def _overview(canvas: Canvas, scene: Scene, top: float, right: float) -> float:
    """The first panel's first line over the whole episode, with the part shown above marked."""
    panel = scene.panels[0]
    line, whole = panel.lines[0], (0, scene.last)
    time = Scale(-0.5, scene.last + 0.5, LEFT, right)
    ends = f"{moment(scene.clock, 0)} to {moment(scene.clock, scene.last)}"
    words = f"The whole episode, {ends}; shown above: the marked part"
    canvas.text((LEFT, top + 11), words, "sg-small")
    top += 16
    values = Scale(*room(*extremes(panel, line, whole), 0.1), top + OVERVIEW, top)
    for first, last in panel.known(line, whole):
        part = line.values[first : last + 1]
        chosen = outline(part, int(time.end - time.start))
        points = [(time(first + int(k)), values(float(part[k]))) for k in chosen]
        canvas.path(through(points), "sg-line")
    left, right = time(scene.view[0] - 0.5), time(min(scene.view[1], scene.last) + 0.5)
    canvas.rect((left, top), (max(right - left, 3.0), OVERVIEW), "sg-part")
    return top + OVERVIEW + 10


def _key(canvas: Canvas, scene: Scene, top: float) -> float:
    """What the signs mean, those that occur; returns the picture's height."""
    x, y = 16.0, top + 14
    for kind, words in _entries(scene):
        width = text_width(words, 11) + 34
        if x > 16 and x + width > WIDTH - 16:
            x, y = 16.0, y + 18
        _sign(canvas, kind, x, y, _STYLES[scene.status])
        canvas.text((x + 20, y), fitted(words, WIDTH - x - 36, 11), "sg-small")
        x += width + 8
    return y + 14


def _sign(canvas: Canvas, kind: str, x: float, y: float, style: str) -> None:
    if kind == "mark":
        canvas.dot((x + 7, y - 4), 4.5, f"sg-key sg-mark {style}")
    elif kind == "note":
        canvas.dot((x + 7, y - 4), 4.5, "sg-key sg-mark sg-note")
    elif kind == "shade":
        canvas.rect((x, y - 10), (14, 12), "sg-key sg-shade")
        canvas.rect((x, y - 1), (14, 3), "sg-key sg-bar")
    elif kind == "limit":
        canvas.line((x, y - 4), (x + 15, y - 4), "sg-key sg-limit")
    elif kind == "tail":
        canvas.rect((x, y - 10), (14, 12), "sg-key sg-tail")
    else:
        canvas.path(hatching(x, y - 10, 14, 12, 5), "sg-key sg-hatch")


def _entries(scene: Scene) -> list[tuple[str, str]]:
    marks = {mark.look for panel in scene.panels for mark in panel.marks}
    fails = [panel.fails for panel in scene.panels if panel.shaded]
    found: list[tuple[str, str]] = []
    if marks - {"note"}:
        so_far = scene.status == "inconclusive"
        words = "counts most so far" if so_far else "deciding sample"
        found.append(("mark", f"{words} of the duty" if "note" in marks else words))
    if "note" in marks:
        found.append(("note", "the condition held"))
    found += [("shade", f"{fitted(text, 330, 11)} fails") for text in fails]
    if any(panel.limits for panel in scene.panels):
        found.append(("limit", "limit"))
    if scene.tail is not None and scene.tail <= scene.view[1]:
        found.append(("tail", f"tail, past the horizon at {moment(scene.clock, scene.tail - 1)}"))
    if scene.after and scene.view[1] > scene.last:
        found.append(("hatch", f"after the end: {scene.after}"))
    gaps = [gap for panel in scene.panels for gap in panel.gaps]
    if any(first <= scene.view[1] and end >= scene.view[0] for first, end in gaps):
        found.append(("hatch", "gap: nothing is known"))
    return found
