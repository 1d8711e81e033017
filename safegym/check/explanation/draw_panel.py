"""One panel as SVG: frame, lines, limits, failures, brackets and marks."""

from itertools import pairwise

from safegym.check.explanation.axes import Scale, room, tick_texts, ticks
from safegym.check.explanation.canvas import (
    Canvas,
    Point,
    dots,
    fitted,
    hatching,
    text_width,
    through,
)
from safegym.check.explanation.decimate import joined, outline
from safegym.check.explanation.labels import Box, placed
from safegym.check.explanation.scene import Bracket, Interval, Line, Panel, Scene

BRACKET = 20.0
"""Height of a bracket with its text, pixels."""
MOST_POINTS = 1400
"""Points of a line; two for each pixel, about."""
DOTTED = 70
"""Samples up to which each is dotted."""
LEAST_WIDTH = 2.0
"""Pixels of the narrowest failure, so that one sample in a million is still seen."""
SECOND = ("", " sg-second")


def draw_panel(
    canvas: Canvas, scene: Scene, panel: Panel, time: Scale, top: float, height: float
) -> float:
    """Draw a panel below `top`; returns the y of its lower edge."""
    canvas.text((16, top + 12), _title(panel, time.end), "sg-title")
    top += 22
    for bracket in panel.brackets:
        _bracket(canvas, bracket, time, scene, top)
        top += BRACKET
    box = (time.start, top, time.end - time.start, height)
    values = Scale(*_range(scene, panel), top + height, top)
    _ground(canvas, scene, panel, time, box)
    _value_axis(canvas, panel, values, time)
    for sample in scene.rules:
        if scene.view[0] <= sample <= scene.view[1]:
            x = time(sample)
            canvas.line((x, top), (x, top + height), "sg-rule")
    for limit in panel.limits:
        y = values(limit.level)
        canvas.line((time.start, y), (time.end, y), "sg-limit")
    for place, line in enumerate(panel.lines):
        _line(canvas, scene, panel, line, time, values, SECOND[min(place, 1)])
    canvas.rect((box[0], box[1]), (box[2], box[3]), "sg-frame")
    _side_texts(canvas, scene, panel, time, values)
    _marks(canvas, scene, panel, time, values, (time.start, top, time.end, top + height))
    return top + height


def _title(panel: Panel, width: float) -> str:
    unit = f" [{panel.unit}]" if panel.unit not in ("", "1") else ""
    return fitted(panel.title, width - 16 - text_width(unit)) + unit


def extremes(panel: Panel, line: Line, view: Interval) -> tuple[float, float]:
    """Returns the least and greatest known value of a line inside a view; (0, 0) of none."""
    parts = [line.values[first : last + 1] for first, last in panel.known(line, view)]
    least = min((float(part.min()) for part in parts), default=0.0)
    return least, max((float(part.max()) for part in parts), default=0.0)


def _range(scene: Scene, panel: Panel) -> tuple[float, float]:
    found = [limit.level for limit in panel.limits]
    found += [end for line in panel.lines for end in extremes(panel, line, scene.view)]
    found += [mark.value for mark in panel.marks]
    return room(min(found), max(found), 0.22 if panel.marks else 0.1)


def _ground(
    canvas: Canvas, scene: Scene, panel: Panel, time: Scale, box: tuple[float, float, float, float]
) -> None:
    """What lies behind the lines: tail, gaps, time not seen, failures."""
    _, top, _, height = box
    if scene.tail is not None:
        _band(canvas, (scene.tail, scene.last), scene, time, top, height, "sg-tail")
    for gap in panel.gaps:
        _hatched(canvas, gap, scene, time, top, height)
    if scene.view[1] > scene.last:
        _hatched(canvas, (scene.last + 1, scene.view[1]), scene, time, top, height)
    near = int((time.hi - time.lo) / (time.end - time.start))
    for interval in joined(panel.shaded, near):
        _band(canvas, interval, scene, time, top, height, "sg-shade")
        _band(canvas, interval, scene, time, top + height - 4, 4, "sg-bar")


def edges(interval: Interval, scene: Scene, time: Scale) -> tuple[float, float] | None:
    """Returns the left edge and width of samples, half a step around each; None outside."""
    first, last = max(interval[0], scene.view[0]), min(interval[1], scene.view[1])
    if last < first:
        return None
    left, right = time(first - 0.5), time(last + 0.5)
    if right - left < LEAST_WIDTH:
        middle = (left + right) / 2
        left = min(max(middle - LEAST_WIDTH / 2, time.start), time.end - LEAST_WIDTH)
        return left, LEAST_WIDTH
    return left, right - left


def _band(
    canvas: Canvas,
    interval: Interval,
    scene: Scene,
    time: Scale,
    top: float,
    height: float,
    style: str,
) -> None:
    found = edges(interval, scene, time)
    if found is not None:
        canvas.rect((found[0], top), (found[1], height), style)


def _hatched(
    canvas: Canvas, interval: Interval, scene: Scene, time: Scale, top: float, height: float
) -> None:
    found = edges(interval, scene, time)
    if found is not None:
        canvas.path(hatching(found[0], top, found[1], height), "sg-hatch")


def _value_axis(canvas: Canvas, panel: Panel, values: Scale, time: Scale) -> None:
    if panel.coding:
        named = [(name, code) for name, code in panel.coding if values.lo <= code <= values.hi]
        places, texts = [float(code) for _, code in named], [name for name, _ in named]
    else:
        places = ticks(values.lo, values.hi, max(2, int(abs(values.start - values.end) / 30)))
        texts = tick_texts(places)
    for value, words in zip(places, texts, strict=True):
        y = values(value)
        canvas.line((time.start, y), (time.end, y), "sg-grid")
        canvas.text((time.start - 6, y + 4), fitted(words, time.start - 10, 11), "sg-small", "end")


def _line(
    canvas: Canvas,
    scene: Scene,
    panel: Panel,
    line: Line,
    time: Scale,
    values: Scale,
    second: str,
) -> None:
    """The line, broken at gaps; dots where there are few samples."""
    for first, last in panel.known(line, scene.view):
        part = line.values[first : last + 1]
        chosen = outline(part, MOST_POINTS, tuple(mark.sample - first for mark in panel.marks))
        points = [(time(first + int(k)), values(float(part[k]))) for k in chosen]
        canvas.path(through(_steps(points) if line.stepped else points), f"sg-line{second}")
        if scene.view[1] - scene.view[0] < DOTTED or len(points) == 1:
            canvas.path(dots(points), f"sg-dots{second}")


def _steps(points: list[Point]) -> list[Point]:
    """Each value held until the next sample."""
    found = points[:1]
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found


def _side_texts(canvas: Canvas, scene: Scene, panel: Panel, time: Scale, values: Scale) -> None:
    """Limits, and the names of two lines, at the right edge, pushed apart."""
    texts = [(values(limit.level), limit.text, "sg-bad") for limit in panel.limits]
    if len(panel.lines) > 1:
        for place, line in enumerate(panel.lines[:2]):
            known = panel.known(line, scene.view)
            level = float(line.values[known[-1][1]]) if known else 0.0
            texts.append((values(level), line.name, ("sg-name", "sg-name2")[place]))
    texts.sort()
    ys: list[float] = []
    for y, _, _ in texts:
        ys.append(max(y, ys[-1] + 14) if ys else y)
    over = max(ys[-1] - values.start, 0.0) if ys else 0.0
    for y, (_, words, style) in zip(ys, texts, strict=True):
        at = (time.end + 8, y - over + 4)
        canvas.text(at, fitted(words, canvas.width - time.end - 12, 12), style)


def _bracket(canvas: Canvas, bracket: Bracket, time: Scale, scene: Scene, top: float) -> None:
    """The window as a line with ends; an end outside the view has none."""
    first, last = max(bracket.first, scene.view[0]), min(bracket.last, scene.view[1])
    if last < first:
        return
    left, right = time(first), time(last)
    y = top + BRACKET - 4
    ends = f"M{left:.2f} {y + 3}v-6" if bracket.first >= scene.view[0] else ""
    ends += f"M{right:.2f} {y + 3}v-6" if bracket.last <= scene.view[1] else ""
    canvas.path(f"M{left:.2f} {y}H{right:.2f}{ends}", "sg-bracket")
    wide = text_width(bracket.text, 11)
    x = min(max((left + right) / 2, time.start + wide / 2), time.end - wide / 2)
    canvas.text((x, y - 5), fitted(bracket.text, time.end - time.start, 11), "sg-small", "middle")


def _marks(
    canvas: Canvas, scene: Scene, panel: Panel, time: Scale, values: Scale, box: Box
) -> None:
    """Marks, then their texts, each where it covers least."""
    shown = [mark for mark in panel.marks if scene.view[0] <= mark.sample <= scene.view[1]]
    places = [(time(mark.sample), values(mark.value)) for mark in shown]
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    points = [point for line in panel.lines for point in _dense(scene, panel, line, time, values)]
    levels = [values(limit.level) for limit in panel.limits]
    for mark, (x, y) in zip(shown, places, strict=True):
        canvas.dot((x, y), 5, f"sg-mark sg-{mark.look}", mark.text)
        others = [each for each in taken if each != (x - 6, y - 6, x + 6, y + 6)]
        found = placed(mark.text, (x, y), box, points, levels, others)
        taken.append(found.box)
        canvas.text(found.at, mark.text, f"sg-strong sg-{mark.look}", found.anchor)


def _dense(scene: Scene, panel: Panel, line: Line, time: Scale, values: Scale) -> list[Point]:
    """Points along a line, a few pixels apart, upright stretches included."""
    found: list[Point] = []
    for first, last in panel.known(line, scene.view):
        part = line.values[first : last + 1]
        points = [(time(first + int(k)), values(float(part[k]))) for k in outline(part, 400)]
        found += points[:1]
        for (x, y), (right, below) in pairwise(_steps(points) if line.stepped else points):
            pieces = int(max(right - x, abs(below - y)) / 4) + 1
            found += [
                (x + (right - x) * n / pieces, y + (below - y) * n / pieces)
                for n in range(1, pieces + 1)
            ]
    return found
