"""A counterexample beside the nearest safe run: the same signals, the same scale, in step.

Both pictures unroll together by the style sheet alone; without motion they stand complete.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from safegym.audit.report.figures import plain, short
from safegym.audit.report.model import Promised
from safegym.audit.report.shapes import Panel, shape_of, values_of
from safegym.audit.report.signals import Broken, broken_of, mark_first, shade, thinned
from safegym.audit.report.starts import Near, Start, Starts
from safegym.audit.report.svg import Canvas, Scale, span, ticks
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

WIDTH, PLOT = 960.0, 400.0
LEFTS = (58.0, 540.0)
PANEL, GAP, TOP = 132.0, 34.0, 52.0
PANELS = 2
"""Signals shown: the claim's own, and others of the episode where the claim reads fewer."""
MOST_DIFFERENCES = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """The picture, what it shows, and how the two starts differ: (name, one, other, share)."""

    picture: Markup
    caption: str
    differences: tuple[tuple[str, str, str, str], ...]
    seeds: tuple[int, int]


def pair_plot(
    name: str, claim: Promised, starts: Starts, mine: Start, broken: Trace, safe: Trace, apart: Near
) -> Pair | None:
    """The pair, None where the claim compares no signal of both episodes with a constant."""
    shape = None if claim.claim is None else shape_of(claim.claim)
    panels = [] if shape is None else [p for p in shape.panels if _both(p, broken, safe)]
    if shape is None or not panels:
        return None
    panels += _context(panels, broken, safe)
    height = TOP + len(panels) * (PANEL + GAP) - GAP + 30
    words = _describe(claim, broken, safe, mine, apart)
    failed = broken_of(shape, broken)
    title, desc = f"{claim.id}: broken and kept", f"{failed.words} {words}"
    canvas = Canvas(name, WIDTH, height, title, desc)
    last = max(float(broken.times[-1]), float(safe.times[-1]), float(broken.times[0]) + 1e-9)
    for left, trace, seen, what in zip(
        LEFTS,
        (broken, safe),
        (failed, None),
        (f"violated: episode {mine.at}", f"kept: episode {apart.start.at}"),
        strict=True,
    ):
        across = Scale(float(broken.times[0]), last, left, left + PLOT)
        canvas.text((left, 16), what, "value limitlabel" if seen else "value")
        _half(canvas, panels, across, trace, seen, _ranges(panels, broken, safe))
        _unrolling(canvas, left, len(panels))
    return Pair(
        canvas.markup(), words, differences(starts, mine, apart.start), (broken.seed, safe.seed)
    )


def _both(panel: Panel, one: Trace, other: Trace) -> bool:
    return values_of(panel.term, one) is not None and values_of(panel.term, other) is not None


def _context(panels: Sequence[Panel], one: Trace, other: Trace) -> list[Panel]:
    """Other signals that both episodes have, in their order, up to PANELS pictures in all."""
    shown = {str(panel.term).removeprefix("abs(").removesuffix(")") for panel in panels}
    found = [
        Panel(Signal(name, one.units.get(name, "1")), one.units.get(name, "1"), ())
        for name, values in one.signals.items()
        if values.ndim == 1 and name in other.signals and name not in shown
    ]
    both = [panel for panel in found if _both(panel, one, other)]
    return both[: max(0, PANELS - len(panels))]


def _describe(claim: Promised, broken: Trace, safe: Trace, mine: Start, apart: Near) -> str:
    lasted = f"{plain(broken.clock.time(broken.steps))} s ({broken.end.kind})"
    kept = f"{plain(safe.clock.time(safe.steps))} s ({safe.end.kind})"
    return (
        f"Episode {mine.at} violates {claim.id} and lasts {lasted}; episode {apart.start.at}, the "
        f"nearest that keeps it, lasts {kept}. Their starts lie {plain(apart.distance)} apart, "
        "each number in multiples of its drawn range."
    )


def _ranges(panels: Sequence[Panel], one: Trace, other: Trace) -> list[tuple[float, float]]:
    """The range of each panel over both episodes, so that the two compare by eye."""
    found: list[tuple[float, float]] = []
    for panel in panels:
        values = [limit for _, limit in panel.limits]
        for trace in (one, other):
            seen = values_of(panel.term, trace)
            if seen is not None:
                values += [float(seen.min()), float(seen.max())]
        found.append(span(values))
    return found


def _half(
    canvas: Canvas,
    panels: Sequence[Panel],
    across: Scale,
    trace: Trace,
    broken: Broken | None,
    ranges: Sequence[tuple[float, float]],
) -> None:
    times = [float(value) for value in trace.times]
    for at, (panel, (lo, hi)) in enumerate(zip(panels, ranges, strict=True)):
        top = TOP + at * (PANEL + GAP)
        end = top + PANEL
        up = Scale(lo, hi, end, top)
        values = values_of(panel.term, trace)
        if values is None:
            continue
        if broken is not None:
            shade(canvas, broken, times, across, top, PANEL)
        unit = "" if panel.unit == "1" else f", {panel.unit}"
        canvas.text((across.start - 40, top - 9), short(f"{panel.term}{unit}", 70), "small")
        for value in ticks(lo, hi, 3):
            canvas.line((across.start, up(value)), (across.end, up(value)), "grid")
            canvas.text((across.start - 6, up(value) + 4), plain(value), "small", "end")
        for _, limit in panel.limits:
            canvas.line((across.start, up(limit)), (across.end, up(limit)), "limit")
        canvas.polyline(thinned(values, times, across, up), "line")
        style = "bad stroke strong" if broken is not None else "ok stroke"
        x, y = across(times[-1]), up(float(values[-1]))
        canvas.path(f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z", style, "the episode ends here")
        if broken is not None and broken.first is not None and panel.limits:
            at_first = (across(times[broken.first]), up(float(values[broken.first])))
            middle = (across.start + across.end) / 2
            mark_first(canvas, at_first, (top, end), middle, top + 11)
        canvas.line((across.start, end), (across.end, end), "axis")
    end = TOP + len(panels) * (PANEL + GAP) - GAP
    for value in ticks(across.lo, across.hi, 5):
        canvas.line((across(value), end), (across(value), end + 4), "axis")
        canvas.text((across(value), end + 16), f"{plain(value)} s", "small", "middle")


def _unrolling(canvas: Canvas, left: float, panels: int) -> None:
    """A curtain on each panel, which the style sheet draws away; its edge is the present moment."""
    for at in range(panels):
        top = TOP + at * (PANEL + GAP) - 4
        canvas.rect((left + 1, top), (PLOT + 8, PANEL + 3), "curtain")
        canvas.rect((left, top), (1.5, PANEL + 4), "moment")


def differences(starts: Starts, one: Start, other: Start) -> tuple[tuple[str, str, str, str], ...]:
    """What differs most between two starts: (name, one, other, share of the drawn range)."""
    mine: Mapping[str, float] = starts.values(one)
    theirs = starts.values(other)
    found = sorted(starts.apart(one, other), key=lambda pair: -pair[1])[:MOST_DIFFERENCES]
    return tuple(
        (name, plain(mine[name]), plain(theirs[name]), f"{plain(100 * share)} %")
        for name, share in found
        if share > 0
    )
