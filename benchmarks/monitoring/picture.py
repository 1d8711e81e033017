"""ns a sample of each monitor, on a logarithmic axis, as one SVG."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, LEFT, RIGHT = 960, 318, 36
TOP, ROW, BOTTOM = 108, 46, 62
LEAST, MOST = 0.5, 1e6
"""Ends of the axis, ns."""
FONT = "font-family='ui-sans-serif, system-ui, Helvetica, Arial, sans-serif'"
TICKS = ("1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms")
INK, PALE, GRID = "#1f2933", "#66727f", "#e4e8ec"


@dataclass(frozen=True, slots=True)
class Row:
    """One question: title, what is asked, the name of our figure, and of rivals' where it differs.

    The numpy kernels' figure, where there is one, is called numpy_ and the name.
    """

    title: str
    asked: str
    figure: str
    rival: str = ""


ONE_BY_ONE = "1000 episodes an update; the others one by one"
ROWS = (
    Row("always, window 100 000", "always[0,1e5](abs(x) <= 2.5)", "G"),
    Row("response within 1000", "always(x > 1 implies eventually[0,1e3](y < -1))", "GF"),
    Row("until in until, window 10", "f until[0,10] (g until[0,10] h)", "UU10"),
    Row("until in until, window 1000", "f until[0,1e3] (g until[0,1e3] h)", "UU1000"),
    Row("batch of 1000 episodes", "always[0,100](abs(x) <= 2.5), 1000 samples each", "batch_G"),
    *(
        Row(
            f"online, {word}, window {shown}",
            ONE_BY_ONE,
            f"online_{word}_B1000_H{window}",
            f"online_{word}_B1_H{window}",
        )
        for word, window, shown in (
            ("always", 10_000, "10 000"),
            ("until", 100, "100"),
            ("until", 10_000, "10 000"),
        )
    ),
    Row("online, always, window 100", "one episode an update", "online_always_B1_H100"),
    Row("online, until, window 100", "one episode an update", "online_until_B1_H100"),
)
STYLES = {
    "safegym": ("#0f766e", "safegym, compiled"),
    "numpy": ("#5eb5ac", "safegym, numpy"),
    "sentil": ("#d97706", "sentil"),
    "mstlo": ("#7c3aed", "mstlo"),
    "rtamt": ("#be123c", "rtamt"),
}


def picture(result: dict[str, Any]) -> str:
    """Returns the SVG of what `monitors.py` measured."""
    rows = [row for row in ROWS if row.figure in result["figures"]]
    height = TOP + ROW * len(rows) + BOTTOM
    said = "CPU time, one core, one run, the same traces. Further left is faster, by factors."
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' "
        f"height='{height}' {FONT} role='img' aria-labelledby='t'>",
        "<title id='t'>Nanoseconds a sample of safegym's monitors and others</title>",
        f"<rect width='{WIDTH}' height='{height}' rx='10' fill='#ffffff'/>",
        _text(24, 38, "Robustness at every sample: what one sample costs", INK, 19, "600"),
        _text(24, 60, said, PALE, 13),
        *_legend(result),
        *_stripes(len(rows)),
        *_axis(len(rows)),
    ]
    for number, row in enumerate(rows):
        lines += _row(TOP + ROW * number + ROW / 2, row, result)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _points(row: Row, result: dict[str, Any]) -> dict[str, float]:
    """Each monitor's ns a sample."""
    figures = result["figures"]
    found = {"safegym": figures[row.figure]}
    if f"numpy_{row.figure}" in figures:
        found["numpy"] = figures[f"numpy_{row.figure}"]
    for name, values in result["rivals"].items():
        value = values.get(row.rival or row.figure) if isinstance(values, dict) else None
        if value is not None:
            found[name] = value
    return found


def _x(value: float) -> float:
    share = (math.log10(value) - math.log10(LEAST)) / (math.log10(MOST) - math.log10(LEAST))
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(share, 0.0), 1.0)


def _legend(result: dict[str, Any]) -> Iterator[str]:
    x = 24.0
    for name, (colour, label) in STYLES.items():
        if name in ("safegym", "numpy") or isinstance(result["rivals"].get(name), dict):
            yield f"<circle cx='{x + 5:.0f}' cy='82' r='5' fill='{colour}'/>"
            yield _text(x + 16, 86, label, INK, 13)
            x += 42 + 7.0 * len(label)
    yield f"<path d='M{x + 5:.0f} 75v14' stroke='{INK}' stroke-width='2'/>"
    yield _text(x + 16, 86, "bar set beforehand", INK, 13)


def _stripes(rows: int) -> Iterator[str]:
    for number in range(0, rows, 2):
        yield (
            f"<rect x='12' y='{TOP + ROW * number}' width='{WIDTH - 24}' height='{ROW}' rx='6' "
            "fill='#0f766e' fill-opacity='0.045'/>"
        )


def _axis(rows: int) -> Iterator[str]:
    end = TOP + ROW * rows
    for power, label in enumerate(TICKS):
        x = _x(10.0**power)
        yield f"<path d='M{x:.1f} {TOP}V{end}' stroke='{GRID}'/>"
        yield _text(x, end + 20, label, PALE, 12, anchor="middle")
    middle = (LEFT + WIDTH - RIGHT) / 2
    said = "a sample of one episode, logarithmic"
    yield _text(middle, end + 44, said, PALE, 12, anchor="middle")


def _row(y: float, row: Row, result: dict[str, Any]) -> Iterator[str]:
    yield _text(24, y - 3, row.title, INK, 14, "600")
    yield _text(24, y + 14, row.asked, PALE, 11.5)
    points = _points(row, result)
    ends = [_x(value) for value in points.values()]
    yield f"<path d='M{min(ends):.1f} {y}H{max(ends):.1f}' stroke='#c5ccd3' stroke-width='2'/>"
    bar = result["bars"].get(row.figure)
    if bar is not None:
        yield f"<path d='M{_x(bar):.1f} {y - 11}v22' stroke='{INK}' stroke-width='2'/>"
    left = points["safegym"] == min(points.values())
    for name in reversed(list(points)):  # ours on top
        yield from _point(y, name, points[name], left=left)


def _point(y: float, name: str, value: float, *, left: bool) -> Iterator[str]:
    """A dot and its label, above it; ours is left of it, or below where others are left."""
    x, colour, own = _x(value), STYLES[name][0], name == "safegym"
    yield (
        f"<circle cx='{x:.1f}' cy='{y}' r='{7 if own else 5.5}' fill='{colour}' "
        "stroke='#ffffff' stroke-width='1.5'/>"
    )
    if own:
        dx, dy, anchor = (-13.0, 4.5, "end") if left else (0.0, 20.0, "middle")
        yield _text(x + dx, y + dy, _amount(value), colour, 13, "600", anchor)
    elif name != "numpy":
        yield _text(x, y - 11, _amount(value), colour, 11.5, anchor="middle")


def _amount(value: float) -> str:
    """Two digits, with the unit that fits."""
    rounded = float(f"{value:.2g}")
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if rounded >= size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded:g} ns"


def _text(
    x: float,
    y: float,
    text: str,
    colour: str,
    size: float,
    weight: str = "400",
    anchor: str = "start",
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' fill='{colour}' font-size='{size}' font-weight='{weight}' "
        f"text-anchor='{anchor}'>{escape(text)}</text>"
    )
