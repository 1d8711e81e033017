"""The robustness of the judged episodes on one claim, worst first."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from safegym.audit.report.figures import counted, plain, spaced
from safegym.audit.report.model import Campaign, Judged, Promised
from safegym.audit.report.svg import (
    Canvas,
    Point,
    Scale,
    crosses,
    diamonds,
    dots,
    pixel,
    span,
    through,
    ticks,
)

WIDTH, HEIGHT = 460.0, 232.0
LEFT, RIGHT, TOP, END = 52.0, 448.0, 26.0, 186.0
SINGLE = 40
"""So many of the worst episodes are drawn one by one; the rest is a line."""
COLUMNS = 200
DEEPEST = 2.0
"""The axis reaches at most so many times as far down as up; what falls deeper is at its edge."""


def margin_plot(name: str, claim: Promised, campaign: Campaign) -> Markup:
    """The picture, or "" where margins are refused or nothing was judged."""
    judged = [item for item in campaign.verdicts.get(claim.id, []) if item.lo is not None]
    if not judged:
        return Markup("")
    ordered = sorted(judged, key=lambda item: (_low(item), _high(item)))
    canvas = Canvas(
        name, WIDTH, HEIGHT, f"Robustness on {claim.id}, {campaign.name}", _describe(ordered)
    )
    up = _vertical(ordered)
    across = Scale(1, max(len(ordered), 2), LEFT + 12, RIGHT - 12, log=True)
    _frame(canvas, up, across, len(ordered), sum(_low(item) < up.lo for item in ordered))
    _tail(canvas, up, across, ordered)
    _worst(canvas, up, across, ordered)
    return canvas.markup()


def _vertical(ordered: Sequence[Judged]) -> Scale:
    """Room for every margin, but not for a fall so deep that the rest would be one line."""
    values = [value for item in ordered for value in (_low(item), _high(item))]
    top = max((value for value in values if math.isfinite(value)), default=0.0)
    deepest = -DEEPEST * max(top, 1.0)
    return Scale(*span([max(value, deepest) for value in [*values, 0.0]]), END, TOP)


def _low(item: Judged) -> float:
    return -math.inf if item.lo is None else item.lo


def _high(item: Judged) -> float:
    return math.inf if item.hi is None else item.hi


def _describe(ordered: Sequence[Judged]) -> str:
    violated = sum(item.status == "violated" for item in ordered)
    undecided = sum(item.status == "inconclusive" for item in ordered)
    middle = ordered[len(ordered) // 2]
    return (
        f"{counted(len(ordered), 'episode')}: {violated} violated, {undecided} undecided. "
        f"Worst margin {plain(_low(ordered[0]))}, median {plain(_low(middle))}, in multiples of "
        "the claim's scale; below 0 is violated."
    )


def _frame(canvas: Canvas, up: Scale, across: Scale, number: int, beyond: int) -> None:
    zero = up(0.0)
    if zero < END:
        canvas.rect((LEFT, zero), (RIGHT - LEFT, END - zero), "badzone")
    for value in ticks(up.lo, up.hi, 4):
        canvas.line((LEFT, up(value)), (RIGHT, up(value)), "zero" if abs(value) < 1e-12 else "grid")
        canvas.text((LEFT - 6, up(value) + 4), plain(value), "small", "end")
    canvas.line((LEFT, zero), (RIGHT, zero), "zero")
    canvas.text((LEFT - 40, TOP - 10), "margin, multiples of scale", "small")
    if END - zero > 16:
        deeper = f"; {spaced(beyond)} below the axis" if beyond else ""
        canvas.text((RIGHT - 4, END - 5), f"violated below 0{deeper}", "small", "end")
    ranks = [1, *(10**power for power in range(1, 7) if 10**power < number * 0.7), number]
    for rank in sorted(set(ranks)):
        words = "worst" if rank == 1 else "best" if rank == number else f"{rank}th"
        canvas.text((across(rank), END + 16), words, "small", "middle")
        canvas.line((across(rank), END), (across(rank), END + 4), "axis")
    canvas.line((LEFT, END), (RIGHT, END), "axis")
    note = "episodes ordered by margin, rank on a logarithmic scale"
    canvas.text(((LEFT + RIGHT) / 2, END + 36), note, "small", "middle")


def _tail(canvas: Canvas, up: Scale, across: Scale, ordered: Sequence[Judged]) -> None:
    """From the last single episode on: a line, and a band where margins are intervals."""
    ranks = _columns(len(ordered))
    if len(ranks) < 2:
        return
    low: list[Point] = [(across(rank), up(_low(ordered[rank - 1]))) for rank in ranks]
    if any(_high(ordered[rank - 1]) > _low(ordered[rank - 1]) for rank in ranks):
        high = [(across(rank), up(_high(ordered[rank - 1]))) for rank in reversed(ranks)]
        canvas.path(through([*low, *high]) + "z", "band")
    canvas.polyline(low, "line")


def _columns(number: int) -> list[int]:
    """Ranks that differ by a pixel on the logarithmic axis, from the last single one on."""
    if number <= SINGLE:
        return []
    ratio = number / SINGLE
    ranks = {round(SINGLE * ratio ** (at / COLUMNS)) for at in range(COLUMNS + 1)}
    return sorted(ranks)


def _worst(canvas: Canvas, up: Scale, across: Scale, ordered: Sequence[Judged]) -> None:
    first = list(enumerate(ordered[:SINGLE], start=1))
    canvas.path(
        "".join(
            f"M{pixel(across(rank))} {pixel(up(_low(item)))}V{pixel(up(_high(item)))}"
            for rank, item in first
            if _high(item) > _low(item)
        ),
        "interval",
    )
    places: dict[str, list[Point]] = {"satisfied": [], "violated": [], "inconclusive": []}
    for rank, item in first:
        places[item.status].append((across(rank), up(_low(item))))
    later = [
        (r, i) for r, i in enumerate(ordered[SINGLE:], start=SINGLE + 1) if i.status != "satisfied"
    ]
    for rank, item in later[:: max(1, len(later) // COLUMNS)]:
        places[item.status].append((across(rank), up(_low(item))))
    canvas.path(dots(places["satisfied"]), "ok dots")
    canvas.path(crosses(places["violated"]), "bad stroke")
    canvas.path(diamonds(places["inconclusive"]), "open hollow")
    x, y = across(1), up(_low(ordered[0]))
    words = f"worst {plain(_low(ordered[0]))}"
    canvas.text((x + 8, y - 8 if y > END - 26 else y + 18), words, "value")
