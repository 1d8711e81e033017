"""A violated episode: each signal of the claim against its limit, failing stretches shaded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from safegym.audit.report.figures import HARD_SPACE, plain
from safegym.audit.report.model import Promised
from safegym.audit.report.shapes import (
    Must,
    Panel,
    Shape,
    Truth,
    holds,
    on_grid,
    runs,
    shape_of,
    values_of,
    window_samples,
)
from safegym.audit.report.svg import Canvas, Point, Scale, pixel, span, ticks
from safegym.trace.model import Trace

WIDTH, LEFT, RIGHT = 460.0, 52.0, 448.0
PANEL, GAP, TOP = 138.0, 34.0, 26.0
COLUMNS = 360
MOST_RUNS = 200
WORDS: dict[Must, str] = {
    "always": "must be",
    "eventually": "awaited:",
    "other": "compared:",
}
"""How a limit is labelled."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Where the claim broke. failing: samples to shade. first: the first violation, None if it
    lies in the episode's end. words: for the caption.
    """

    must: Must
    failing: Truth
    first: int | None
    words: str


def signal_plot(name: str, claim: Promised, trace: Trace, what: str) -> tuple[Markup, str]:
    """(picture, caption) of one violated episode; picture "" where the claim cannot be drawn."""
    shape = None if claim.claim is None else shape_of(claim.claim)
    if shape is None:
        return Markup(""), "The claim compares no single signal with a constant, so none is drawn."
    drawn = [
        (panel, values)
        for panel in shape.panels
        if (values := values_of(panel.term, trace)) is not None
    ]
    if not drawn:
        return Markup(""), "The stored episode lacks the claim's signals."
    broken = broken_of(shape, trace)
    height = TOP + len(drawn) * (PANEL + GAP) - GAP + 24
    canvas = Canvas(name, WIDTH, height, f"{claim.id}: {what}", broken.words)
    times = [float(value) for value in trace.times]
    across = Scale(times[0], max(times[-1], times[0] + 1e-9), LEFT, RIGHT)
    for at, (panel, values) in enumerate(drawn):
        top = TOP + at * (PANEL + GAP)
        _panel(canvas, panel, values, across, top, broken, times)
    _time_axis(canvas, across, TOP + len(drawn) * (PANEL + GAP) - GAP, trace)
    return canvas.markup(), broken.words


def broken_of(shape: Shape, trace: Trace) -> Broken:
    """Where the episode breaks the claim."""
    nowhere = np.zeros(trace.steps + 1, dtype=np.bool_)
    whole = shape.must != "other" and on_grid(shape, trace)
    held = holds(shape.body, trace) if whole else None
    if held is None:
        return Broken(
            "other",
            nowhere,
            None,
            "The claim relates several moments, so no stretch is shaded; drawn are its signals and "
            "the constants they are compared with.",
        )
    window = window_samples(shape, trace)
    inside = nowhere.copy()
    inside[window.start : window.stop] = True
    failing = inside & ~held
    if shape.must == "eventually":
        return Broken(shape.must, failing, None, _never(trace, window))
    if failing.any():
        first = int(np.argmax(failing))
        words = f"First violation at {_time(trace, first)}; failing stretches are shaded."
        return Broken(shape.must, failing, first, words)
    return Broken(shape.must, failing, None, _by_end(trace))


def _never(trace: Trace, window: range) -> str:
    until = _time(trace, max(window.stop - 1, 0))
    ended = f" (the episode ended: {trace.end.kind})" if trace.end.kind != "horizon" else ""
    return f"What the claim asks for did not happen by {until}{ended}; the wait is shaded."


def _by_end(trace: Trace) -> str:
    reason = f" ({trace.end.reason})" if trace.end.reason else ""
    return (
        f"No sample breaks the limit; the episode's end at {_time(trace, trace.steps)}, "
        f"{trace.end.kind}{reason}, does."
    )


def _time(trace: Trace, step: int) -> str:
    return f"{plain(trace.clock.time(step))}{HARD_SPACE}s"


def _panel(
    canvas: Canvas,
    panel: Panel,
    values: NDArray[np.float64],
    across: Scale,
    top: float,
    broken: Broken,
    times: Sequence[float],
) -> None:
    end = top + PANEL
    limits = [value for _, value in panel.limits]
    up = Scale(*span([float(values.min()), float(values.max()), *limits]), end, top)
    shade(canvas, broken, times, across, top, PANEL)
    unit = "" if panel.unit == "1" else f", {panel.unit}"
    canvas.text((LEFT - 40, top - 9), f"{panel.term}{unit}", "small")
    for value in ticks(up.lo, up.hi, 3):
        canvas.line((LEFT, up(value)), (RIGHT, up(value)), "grid")
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    canvas.polyline(thinned(values, times, across, up), "line")
    for comparison, value in panel.limits:
        sign = comparison.replace("<=", "≤").replace(">=", "≥")
        y = up(value)
        canvas.line((LEFT, y), (RIGHT, y), "limit")
        words = f"{WORDS[broken.must]} {sign} {plain(value)}"
        canvas.text(
            (RIGHT - 4, y - 5 if y > top + 16 else y + 14), words, "value limitlabel", "end"
        )
    if broken.first is not None:
        low = all(up(value) > top + PANEL / 2 for value in limits)
        at = (across(times[broken.first]), up(float(values[broken.first])))
        mark_first(canvas, at, (top, end), (LEFT + RIGHT) / 2, top + 11 if low else end - 6)
    canvas.line((LEFT, end), (RIGHT, end), "axis")


def shade(
    canvas: Canvas,
    broken: Broken,
    times: Sequence[float],
    across: Scale,
    top: float,
    height: float,
) -> None:
    """Shade the failing stretches."""
    half = (times[1] - times[0]) / 2 if len(times) > 1 else 0.5
    for start, stop in list(runs(broken.failing))[:MOST_RUNS]:
        x1, x2 = across(times[start] - half), across(times[stop] + half)
        canvas.rect((x1, top), (max(x2 - x1, 1.5), height), "badzone")


def mark_first(
    canvas: Canvas, at: Point, ends: tuple[float, float], middle: float, label: float
) -> None:
    """Mark the first violation. ends: of its panel; middle: where labels change sides."""
    (x, y), (top, end) = at, ends
    canvas.line((x, top), (x, end), "bad mark")
    canvas.path(f"M{pixel(x)} {pixel(y - 6)}l6 10h-12z", "bad fill", "first violation")
    right = x < middle
    canvas.text(
        (x + (9 if right else -9), label), "first violation", "value", "start" if right else "end"
    )


def thinned(
    values: NDArray[np.float64], times: Sequence[float], across: Scale, up: Scale
) -> list[Point]:
    """Points of a line: every sample, or the extremes of each pixel column where there are more."""
    if len(values) <= 2 * COLUMNS:
        return [(across(t), up(float(v))) for t, v in zip(times, values, strict=True)]
    points: list[Point] = []
    for piece in np.array_split(np.arange(len(values)), COLUMNS):
        inside = values[piece]
        for at in sorted({int(piece[inside.argmin()]), int(piece[inside.argmax()])}):
            points.append((across(times[at]), up(float(values[at]))))
    return points


def _time_axis(canvas: Canvas, across: Scale, y: float, trace: Trace) -> None:
    for value in ticks(across.lo, across.hi, 6):
        canvas.text((across(value), y + 16), f"{plain(value)} s", "small", "middle")
        canvas.line((across(value), y), (across(value), y + 4), "axis")
    if trace.horizon is not None and trace.steps > trace.horizon:
        x = across(trace.clock.time(trace.horizon))
        canvas.line((x, TOP), (x, y), "zero")
        canvas.text((x - 4, TOP + 10), "horizon", "small", "end")
