"""The map of starts: where the judged episodes began, and where nobody looked."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from safegym.audit.report.figures import counted, plain, short, spaced
from safegym.audit.report.starts import Start, Starts
from safegym.audit.report.svg import (
    Canvas,
    Point,
    Scale,
    crosses,
    diamonds,
    dots,
    pixel,
    ticks,
)

WIDTH = 1080.0
LEFT, SIDE, TOP = 64.0, 320.0, 30.0
CELLS = 8
"""Cells along each side of the map."""
STRIP_LEFT, STRIP_RIGHT, STRIP = 620.0, 1050.0, 36.0
COLUMNS = 40
MOST_STRIPS = 14
"""Axes that are drawn, the first in the order of the trace."""


def chosen_axes(starts: Starts) -> list[str]:
    """The axes drawn: those named as starts first, as the map's two sides; at most MOST_STRIPS."""
    names = list(starts.axes)
    return sorted(names, key=lambda name: not name.startswith(("start", "initial")))[:MOST_STRIPS]


def coverage_plot(starts: Starts, campaign: str) -> Markup:
    """The picture, or "" if no number of the starts differs."""
    names = chosen_axes(starts)
    if not names:
        return Markup("")
    strips_end = TOP + len(names) * STRIP
    height = max(TOP + SIDE + 62, strips_end + 48)
    title = f"Where the episodes of {campaign} began"
    canvas = Canvas("coverage", WIDTH, height, title, describe(starts))
    if len(names) > 1:
        _map(canvas, starts, names[0], names[1])
    else:
        canvas.text((LEFT, TOP + 20), "one number differs between starts: see the strip", "small")
    _strips(canvas, starts, names)
    return canvas.markup()


def describe(starts: Starts) -> str:
    """The map in words: cells that were visited, and which number has the widest gap."""
    names = chosen_axes(starts)
    violated = sum(start.status == "violated" for start in starts.found)
    words = f"{counted(len(starts.found), 'start')}, {violated} of episodes that violated a claim."
    if len(names) > 1:
        visited = len(_cells(starts, names[0], names[1]))
        words += (
            f" {visited} of {CELLS * CELLS} cells of the map of {names[0]} and {names[1]} have a "
            "start."
        )
    name, gap = widest_gap(starts, names)
    return words + f" The widest gap on one axis is {plain(100 * gap)} % of its range, in {name}."


def widest_gap(starts: Starts, names: Sequence[str]) -> tuple[str, float]:
    """(axis, share of its drawn range) of the longest stretch without any start."""
    found: list[tuple[float, str]] = []
    for name in names:
        lo, hi = starts.axes[name]
        values = sorted(starts.values(start)[name] for start in starts.found)
        steps = [b - a for a, b in pairwise(values)]
        found.append((max(steps, default=0.0) / (hi - lo), name))
    gap, name = max(found, key=lambda pair: pair[0])
    return name, gap


def _cells(starts: Starts, across: str, up: str) -> dict[tuple[int, int], int]:
    """Cell -> how many starts lie in it."""
    found: dict[tuple[int, int], int] = {}
    for start in starts.found:
        values = starts.values(start)
        cell = (_cell(values, starts, across), _cell(values, starts, up))
        found[cell] = found.get(cell, 0) + 1
    return found


def _cell(values: Mapping[str, float], starts: Starts, name: str) -> int:
    lo, hi = starts.axes[name]
    return min(CELLS - 1, int(CELLS * (values[name] - lo) / (hi - lo)))


def _map(canvas: Canvas, starts: Starts, first: str, second: str) -> None:
    across = Scale(*starts.axes[first], LEFT, LEFT + SIDE * 1.45)
    up = Scale(*starts.axes[second], TOP + SIDE, TOP)
    wide, high = (across.end - across.start) / CELLS, SIDE / CELLS
    visited = _cells(starts, first, second)
    for column in range(CELLS):
        for row in range(CELLS):
            if (column, row) not in visited:
                corner = (across.start + column * wide, TOP + (CELLS - 1 - row) * high)
                canvas.rect(corner, (wide, high), "empty")
                canvas.path(_hatch(corner, wide, high), "grid")
    canvas.path(
        f"M{pixel(across.start)} {pixel(TOP)}h{pixel(SIDE * 1.45)}v{pixel(SIDE)}"
        f"h{pixel(-SIDE * 1.45)}z",
        "axis",
    )
    _marks(
        canvas,
        [
            (start, (across(starts.values(start)[first]), up(starts.values(start)[second])))
            for start in starts.found
        ],
    )
    end = TOP + SIDE
    for value in ticks(across.lo, across.hi, 5):
        canvas.line((across(value), end), (across(value), end + 4), "axis")
        canvas.text((across(value), end + 16), plain(value), "small", "middle")
    for value in ticks(up.lo, up.hi, 5):
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    canvas.text((LEFT - 52, TOP - 12), short(second, 60), "small")
    canvas.text(((across.start + across.end) / 2, end + 32), short(first, 60), "small", "middle")
    _legend(canvas, end + 50)


def _hatch(corner: Point, wide: float, high: float) -> str:
    """Diagonals over a cell: nobody began there."""
    x, y = corner
    return "".join(
        f"M{pixel(x + wide * share)} {pixel(y + high)}L{pixel(x + wide)} {pixel(y + high * share)}"
        f"M{pixel(x)} {pixel(y + high * (1 - share))}L{pixel(x + wide * (1 - share))} {pixel(y)}"
        for share in (0.0, 0.5)
    )


def _marks(canvas: Canvas, places: Sequence[tuple[Start, Point]]) -> None:
    by = {
        status: [at for start, at in places if start.status == status]
        for status in ("satisfied", "inconclusive", "violated")
    }
    canvas.path(dots(by["satisfied"]), "ok dots faint")
    canvas.path(diamonds(by["inconclusive"]), "open hollow")
    canvas.path(crosses(by["violated"], 4.5), "bad stroke strong")


def _strips(canvas: Canvas, starts: Starts, names: Sequence[str]) -> None:
    """One strip for each number: how many starts fell in each column, violations marked."""
    canvas.text((STRIP_LEFT, TOP - 12), "each number alone: starts, and violations", "small")
    for at, name in enumerate(names):
        _strip(canvas, starts, name, TOP + at * STRIP)
    more = len(starts.axes) - len(names)
    if more > 0:
        y = TOP + len(names) * STRIP + 10
        canvas.text((STRIP_LEFT, y), f"{counted(more, 'more number')} not drawn", "small")


def _strip(canvas: Canvas, starts: Starts, name: str, top: float) -> None:
    lo, hi = starts.axes[name]
    across = Scale(lo, hi, STRIP_LEFT + 150, STRIP_RIGHT)
    base, wide = top + 20, (across.end - across.start) / COLUMNS
    counts = [0] * COLUMNS
    for start in starts.found:
        share = (starts.values(start)[name] - lo) / (hi - lo)
        counts[min(COLUMNS - 1, int(COLUMNS * share))] += 1
    most = max(counts)
    bars = "".join(
        f"M{pixel(across.start + column * wide)} {pixel(base)}"
        f"v{pixel(-1 - 15 * number / most)}h{pixel(wide - 1)}V{pixel(base)}z"
        for column, number in enumerate(counts)
        if number
    )
    canvas.path(bars, "bars light")
    canvas.line((across.start, base), (across.end, base), "axis")
    broken = [
        (across(starts.values(start)[name]), base)
        for start in starts.found
        if start.status == "violated"
    ]
    canvas.path(crosses(broken, 3.5), "bad stroke strong")
    canvas.text((STRIP_LEFT + 142, base - 5), short(name, 26), "label", "end")
    canvas.text((STRIP_LEFT + 142, base + 9), f"{plain(lo)} to {plain(hi)}", "small", "end")


def _legend(canvas: Canvas, y: float) -> None:
    canvas.path(dots([(LEFT + 4, y)]), "ok dots")
    canvas.text((LEFT + 12, y + 4), "kept every claim", "small")
    canvas.path(diamonds([(LEFT + 124, y)]), "open hollow")
    canvas.text((LEFT + 134, y + 4), "undecided", "small")
    canvas.path(crosses([(LEFT + 210, y)], 4), "bad stroke strong")
    canvas.text((LEFT + 220, y + 4), "violated some claim", "small")
    canvas.rect((LEFT + 346, y - 7), (14, 14), "empty")
    canvas.path(_hatch((LEFT + 346, y - 7), 14, 14), "grid")
    canvas.text((LEFT + 366, y + 4), "no start here", "small")


def caption(starts: Starts, campaign: str) -> str:
    """What is drawn, and what is not."""
    what = "signals at sample 0" if starts.from_signals else "drawn parameters"
    words = (
        f"{spaced(len(starts.found))} of {counted(starts.of, 'start')} of {campaign}, by their "
        f"{what}. The axes reach as far as these starts did, not as far as the scenario allows."
    )
    name, gap = widest_gap(starts, chosen_axes(starts))
    return f"{words} Widest stretch without a start: {plain(100 * gap)} % of the range of {name}."
